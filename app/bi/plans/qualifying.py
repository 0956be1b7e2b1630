"""Of whom a filter is: of the record itself, or of what belongs to it, behind a prefix."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from app.odata.syntax.nodes import Count, Lambda, Member, Node, children
from app.odata.syntax.options import parse_filter

_NAME = re.compile(r"'(?:[^']|'')*'|(?<!\w)[A-Za-z_][\w]*(?:/[\w$]+)*")
_OPERATORS = frozenset((
    "eq", "ne", "gt", "ge", "lt", "le", "and", "or", "not", "in", "has", "add", "sub", "mul", "div",
    "divby", "mod", "null", "true", "false", "any", "all", "now", "date", "totalseconds", "case",
    "contains", "startswith", "endswith", "tolower", "toupper", "duration", "round", "floor",
))  # fmt: skip


@lru_cache(maxsize=1000)
def is_own_state(text: str) -> bool:
    """Whether a filter is about the state of the record itself, not of what belongs to it."""
    return any(
        isinstance(node, Member) and node.base is None and node.name in ("status", "isOverdue")
        for node in _own(parse_filter(text))
    )


def _own(node: Node) -> Iterator[Node]:
    """The parts of an expression, without what is said of related records."""
    if not isinstance(node, Lambda | Count):
        yield node
        for child in children(node):
            yield from _own(child)


def qualified(text: str, prefix: str) -> str:
    """A filter with each property of the record behind a prefix: ``status`` -> ``i/status``.

    Names bound by a lambda of the filter itself stay as they are, and so does what is said of
    records that are counted: ``Invoices/$count($filter=isOverdue)``.
    """
    head, counted, rest = text.partition("/$count(")
    if counted:
        end = _closing(rest)
        return f"{_qualified(head, prefix)}{counted}{rest[:end]}{qualified(rest[end:], prefix)}"
    return _qualified(text, prefix)


def _closing(text: str) -> int:
    """Where the parenthesis closes that was open before a text; quoted ones do not count."""
    depth, is_quoted = 1, False
    for at, letter in enumerate(text):
        is_quoted ^= letter == "'"
        depth += 0 if is_quoted else {"(": 1, ")": -1}.get(letter, 0)
        if depth == 0:
            return at
    return len(text)


def _qualified(text: str, prefix: str) -> str:
    bound = {part.split(":")[0].strip() for part in re.split(r"any\(|all\(", text)[1:]}

    def qualified_name(match: re.Match[str]) -> str:
        name = match.group()
        head = name.partition("/")[0]
        if name.startswith("'") or name in _OPERATORS or head in bound:
            return name
        behind = text[match.end() : match.end() + 1]
        if behind == "'" or (behind == "(" and "/" not in name):
            return name
        if behind == ":" and name in bound:
            return name
        return f"{prefix}/{name}"

    return _NAME.sub(qualified_name, text)
