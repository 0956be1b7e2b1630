"""Links to the rest of an expanded collection that has more than a page (Protocol 11.2.6.7).

The database writes a mark behind the members, with characters that stand nowhere in JSON: what a
link says of the literals of a query is known only where it runs, and hardly any answer has one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any
from urllib.parse import quote

from app.odata.errors import QueryError
from app.odata.nodes import It, Literal, Node
from app.odata.option_nodes import QueryOptions
from app.odata.option_printer import query_text
from app.odata.sql.spelled import Part
from app.odata.walk import children
from app.types import json_text

# Related entities that one row shows at most.
MOST_EXPANDED = 1000
_MARK = "\x01"
_LINK = re.compile(rf"{_MARK}(\d+) (\S+) ([^{_MARK}]*){_MARK}\]")


@dataclass(frozen=True, slots=True)
class Remainder:
    """Where an expanded collection is read by itself; ``number`` is that of its options.

    ``is_deep`` says that its query is among the deepest that are taken.
    """

    number: int
    address: Sequence[Part]
    is_deep: bool

    def mark(self, name: str) -> list[Part]:
        """What stands behind the last member in place of the link, which is called ``name``."""
        return [f"{_MARK}{self.number} {name} ", *self.address, _MARK]


def with_links(
    text: str,
    options: Sequence[QueryOptions],
    literals: Sequence[Any],
    *,
    root: str,
    page: int,
    others: Mapping[str, str],
) -> str:
    """An answer with links where the database left the mark of one.

    Args:
        options: those of each expanded collection, by number.
        literals: of the query, by slot.
        page: the members that are in the answer.
        others: the texts of what else a link needs of the query, such as its parameter aliases, by
            name with ``@`` or ``$``.
    Raises: QueryError, no query of the collection alone has the other members.
    """
    if _MARK not in text:
        return text

    def link(match: re.Match[str]) -> str:
        asked: QueryOptions = _filled(options[int(match[1])], literals)
        more = [
            f"{name}={quote(value, safe='')}"
            for name, value in others.items()
            if name.startswith("$") or name[1:] not in asked.aliases
        ]
        query = "&".join([query_text(_rest(asked, page)), *more])
        return f'],"{match[2]}":{json_text(f"{root}{match[3]}?{query}")}'

    return _LINK.sub(link, text)


def _rest(options: QueryOptions, page: int) -> QueryOptions:
    """The options for what comes after ``page`` members."""
    if _names_root(options):
        raise QueryError(
            f"more than {page} entities are expanded, and $it does not tell the others:"
            " write the condition without it, or read them by themselves",
            0,
            "$expand",
        )
    skipped = 0 if options.skip is None else _number(options.skip)
    rest = replace(options, skip=Literal(skipped + page, "integer"))
    if options.top is None:
        return rest
    return replace(rest, top=Literal(_number(options.top) - page, "integer"))


def _number(literal: Literal) -> int:
    assert isinstance(literal.value, int)
    return literal.value


def _names_root(options: QueryOptions) -> bool:
    waiting = list(children(options))
    while waiting:
        node = waiting.pop()
        if isinstance(node, It):
            return True
        waiting += children(node)
    return False


def _filled(value: Any, literals: Sequence[Any]) -> Any:
    """Syntax with the literals of this query in place of those that its plan was made with."""
    match value:
        case Literal(slot=int(slot)):
            return replace(value, value=literals[slot])
        case Node() | QueryOptions():
            kept = {one.name: _filled(getattr(value, one.name), literals) for one in fields(value)}
            return replace(value, **kept)
        case tuple():
            return tuple(_filled(one, literals) for one in value)
        case dict():
            return {name: _filled(one, literals) for name, one in value.items()}
    return value
