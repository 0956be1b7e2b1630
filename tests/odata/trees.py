"""Looking through syntax trees in tests."""

from __future__ import annotations

from collections.abc import Iterator

from app.odata.syntax.nodes import ExpandItem, Literal, Node, QueryOptions, SelectItem, children
from app.odata.syntax.options import parse_options


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


def parse_select(text: str) -> tuple[SelectItem, ...]:
    """The items of a ``$select``."""
    return parse_options([("$select", text)]).select


def parse_expand(text: str) -> tuple[ExpandItem, ...]:
    """The items of an ``$expand``."""
    return parse_options([("$expand", text)]).expand
