"""What the parts of the translation ask of the whole, so that each is a module of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from sqlalchemy import ColumnElement

from app.odata.binding.context import Context
from app.odata.binding.values import Bound, Scope, Typed
from app.odata.syntax.nodes import Node


class Translating(Protocol):
    """An expression's surroundings: the current instance, ``$it``, the lambda variables.

    ``this`` is the current instance where it is a member of a collection and no entity.
    """

    context: Context
    scope: Scope
    it: Scope
    this: Bound | None
    variables: Mapping[str, Bound]

    def bind(self, node: Node) -> Bound:
        """What a node stands for."""

    def unaliased(self, node: Node) -> Node:
        """What a parameter alias stands for; null without a value."""

    def typed(self, node: Node) -> Typed:
        """A node as a value with a type; a literal takes the one it has by itself."""

    def argument(self, node: Node, function: str, *families: str) -> Typed:
        """An argument of a function, of one of the families that it takes there."""

    def condition(self, node: Node, *, exact: bool = False) -> ColumnElement[bool]:
        """A node as a Boolean; ``exact`` as in ``comparison.compare``."""

    def within(self, scope: Scope, variables: Mapping[str, Bound] | None = None) -> Translating:
        """The same query seen from another instance, or with more variables."""

    def on_member(self, this: Bound) -> Translating:
        """The same query seen from a member of a collection that is no entity."""
