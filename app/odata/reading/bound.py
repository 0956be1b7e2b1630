"""A query that has been understood: rows, their order, and what is shown of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from sqlalchemy import BindParameter, ColumnElement, FromClause, Select, func, select

from app.odata.binding.ordering import OrderKey
from app.odata.binding.translator import Translator
from app.odata.binding.values import Bound, Scope, Typed
from app.odata.model import edm
from app.odata.reading.expansion_links import Remainder
from app.odata.sql.dialect_sql import Part
from app.odata.syntax.nodes import OrderItem


@dataclass(frozen=True, slots=True)
class ShownMembers:
    """Members of a collection kept as JSON; ``parts`` are those wanted of a complex one.

    ``position`` is the place of a member in the array, ``name`` an alias for what is selected.
    """

    table: FromClause
    member: Bound
    position: ColumnElement[int]
    name: str
    conditions: tuple[ColumnElement[bool], ...]
    order: tuple[OrderKey, ...]
    parts: frozenset[str] | None
    top: BindParameter[int] | None
    skip: BindParameter[int] | None
    count: bool

    @property
    def is_whole(self) -> bool:
        """Whether all members are shown, in their order and without their number."""
        bounds = (self.top, self.skip)
        return not (self.conditions or self.order or self.count) and bounds == (None, None)

    def rows(self, text: ColumnElement[str]) -> Select[Any]:
        """``text`` of each member shown, in their order, as ``j``."""
        order = [*(key.clause() for key in self.order), self.position]
        rows = select(text.label("j")).select_from(self.table).where(*self.conditions)
        return rows.order_by(*order).limit(self.top).offset(self.skip).correlate_except(self.table)

    def number(self) -> ColumnElement[int]:
        """How many members fulfil the conditions, ``$skip`` and ``$top`` aside."""
        rows = select(func.count()).select_from(self.table).where(*self.conditions)
        return rows.correlate_except(self.table).scalar_subquery()


# Names of properties of a complex value, or which members of a collection; None for all.
Parts: TypeAlias = frozenset[str] | ShownMembers | None


@dataclass(frozen=True, slots=True)
class PropertyMember:
    """A structural property; of a complex one or a collection perhaps only ``parts``.

    Only rows of the derived type ``of`` have it, where that is given.
    """

    property: edm.Property
    parts: Parts = None
    of: edm.EntityType | None = None


@dataclass(frozen=True, slots=True)
class ComputedMember:
    """A value of ``$compute``."""

    name: str
    value: Typed


@dataclass(frozen=True, slots=True)
class ExpandMember:
    """Related entities, or what ``$apply`` nested in a row.

    ``ref`` shows their ids, ``count_only`` their number alone; ``recursive`` tells that the same is
    shown of them again, level by level. Only rows show them that are of the type ``of``, where that
    is given. ``remainder`` is None where nothing leads to members that a collection does not show.
    """

    name: str
    collection: bool
    query: BoundQuery
    ref: bool = False
    count_only: bool = False
    recursive: bool = False
    of: edm.EntityType | None = None
    remainder: Remainder | None = None


Member = PropertyMember | ComputedMember | ExpandMember


@dataclass(frozen=True, slots=True)
class Projection:
    """What is shown of each row.

    ``address`` are the pieces of the entity's URL relative to the service root. ``selected`` is
    the select list of the context URL, None where there is none. ``operations``
    are the names of those that each row tells whether they are possible; None where ``$select``
    says nothing of them, then it depends on the form.
    """

    scope: Scope
    members: Sequence[Member]
    address: Sequence[Part]
    selected: tuple[str, ...] | None = None
    operations: frozenset[str] | None = None


@dataclass
class BoundQuery:
    """Everything that one level of a query says; nested levels are in its projection.

    ``address`` is the URL of an entity of it, see ``Projection``; ``depth`` expansions lead here.
    """

    translator: Translator
    scope: Scope
    conditions: list[ColumnElement[bool]] = field(default_factory=list)
    order: list[OrderKey] = field(default_factory=list)
    projection: Projection | None = None
    address: Sequence[Part] = ()
    depth: int = 0
    top: BindParameter[int] | None = None
    skip: BindParameter[int] | None = None
    count: bool = False
    # The order that $apply left; $orderby comes before it.
    given_order: Sequence[OrderItem] = ()
    # Whether the order tells each row from all others.
    total_order: bool = True

    def select(self, *columns: ColumnElement[Any]) -> Select[Any]:
        return select(*columns).select_from(self.scope.from_clause()).where(*self.conditions)

    def within(self, *columns: ColumnElement[Any]) -> Select[Any]:
        """These columns of the rows, inside a statement of those that they are related to."""
        source = self.scope.from_clause()
        rows = select(*columns).select_from(source).where(*self.conditions)
        return rows.correlate_except(source)
