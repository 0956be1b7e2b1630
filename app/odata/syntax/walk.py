"""What holds for every kind of node: its children, and how high the tree above them is."""

from __future__ import annotations

import typing as t
from collections.abc import Iterator
from dataclasses import fields
from functools import cache

from app.odata.syntax.nodes import Node
from app.odata.syntax.option_nodes import QueryOptions


def children(parent: Node | QueryOptions) -> Iterator[Node]:
    """The nodes right below ``parent``, in the order of its fields."""
    kind: t.Any = type(parent)
    waiting: list[t.Any] = [getattr(parent, name) for name in _names_from_the_last(kind)]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Node):
            yield value
        elif isinstance(value, tuple):
            waiting.extend(reversed(value))
        elif isinstance(value, dict):
            waiting.extend(reversed(list(value.values())))
        elif isinstance(value, QueryOptions):
            waiting.extend(reversed(list(children(value))))


@cache
def _names_from_the_last(kind: type[t.Any]) -> tuple[str, ...]:
    return tuple(field.name for field in reversed(fields(kind)))


def descendants(root: Node | QueryOptions) -> Iterator[tuple[Node, int]]:
    """All nodes below ``root``, each with the number of steps to it."""
    waiting = [(child, 1) for child in children(root)]
    while waiting:
        node, depth = waiting.pop()
        yield node, depth
        waiting += ((child, depth + 1) for child in children(node))


def height(root: Node) -> int:
    """The number of nodes on the longest way down: 1 for a leaf."""
    return 1 + max((depth for _, depth in descendants(root)), default=0)
