"""Ways through a syntax tree that hold for every kind of node; none of them recurses."""

from __future__ import annotations

import typing as t
from collections.abc import Iterator
from dataclasses import fields

from app.odata.nodes import Literal, Node
from app.odata.option_nodes import QueryOptions


def children(parent: Node | QueryOptions) -> Iterator[Node]:
    """The nodes right below ``parent``, in the order of its fields."""
    waiting: list[t.Any] = [getattr(parent, field.name) for field in fields(parent)]
    waiting.reverse()
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


def walk(root: Node | QueryOptions) -> Iterator[Node]:
    """Every node of the tree, parents first."""
    waiting = [root] if isinstance(root, Node) else list(children(root))[::-1]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(list(children(node))[::-1])


def slotted_literals(root: Node | QueryOptions) -> list[Literal]:
    """The literals that stand for a place in the shape's list, by slot."""
    lifted = [node for node in walk(root) if isinstance(node, Literal) and node.slot is not None]
    return sorted(lifted, key=lambda literal: literal.slot or 0)


def height(root: Node) -> int:
    """The number of nodes on the longest way down: 1 for a leaf."""
    highest, level = 0, [root]
    while level:
        highest += 1
        level = [child for node in level for child in children(node)]
    return highest
