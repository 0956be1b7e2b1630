"""Of whom a filter is: of the record itself, or of what belongs to it, behind a prefix."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from app.odata.syntax.nodes import Count, Lambda, Member, Node, children
from app.odata.syntax.options import parse_filter


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


@lru_cache(maxsize=1000)
def qualified(text: str, prefix: str) -> str:
    """A filter with each property of the record behind a prefix: ``status`` -> ``i/status``.

    Names bound by a lambda of the filter itself stay as they are, and so does what is said of
    records that are counted: ``Invoices/$count($filter=isOverdue)``.
    """
    for offset in sorted(_paths(parse_filter(text), frozenset()), reverse=True):
        text = f"{text[:offset]}{prefix}/{text[offset:]}"
    return text


def _paths(node: Node | None, bound: frozenset[str | None]) -> Iterator[int]:
    """Where the paths begin that go out from the record."""
    match node:
        case None:
            return
        case Member(base=None, name=name):
            if name not in bound:
                yield node.offset
        case Lambda(source=source, variable=variable, predicate=predicate):
            yield from _paths(source, bound)
            yield from _paths(predicate, bound | {variable})
        case Count(source=source):
            yield from _paths(source, bound)
        case _:
            for child in children(node):
                yield from _paths(child, bound)
