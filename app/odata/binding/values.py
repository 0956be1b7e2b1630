"""What a piece of a query stands for once its names are known, and the rows that it is of.

Which rows are there for a caller is one rule, for reads and writes alike: ``rows_for``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from sqlalchemy import ColumnElement, FromClause, Select, and_, case, literal, or_, select

from app.http.security import Caller
from app.odata.binding.context import Context
from app.odata.model import edm
from app.odata.sql.dialect_sql import Predicate
from app.odata.sql.trigrams import Trigrams
from app.odata.syntax.nodes import ExpandItem, Literal, Node
from app.permissions import row_filter


def rows_for(
    container: edm.EntityContainer, caller: Caller, type_: edm.EntityType, columns: Any
) -> list[ColumnElement[bool]]:
    """The conditions of the rows that are there; none for all.

    What lies in another entity, such as a revision in its article, is there where that is, and of
    those only what its own state lets through (docs/adr/0019).

    Args:
        columns: the ``.c`` of the table or alias read.
    Raises: ForbiddenError, the caller may read none.
    """
    owners = container.containers_of(type_)
    conditions: list[ColumnElement[bool]] = []
    if type_.resource is not None:
        allowed = row_filter(caller, type_.resource, columns, is_contained=bool(owners))
        if allowed is not None:
            conditions.append(allowed)
    if type_.visible is not None:
        conditions.append(type_.visible(columns))
    predicates = [_lies_in(container, caller, owner, nav, columns) for owner, nav in owners]
    # One container that holds it is enough; without a condition on any, all of them do.
    if predicates and all(condition is not None for condition in predicates):
        conditions.append(or_(*(condition for condition in predicates if condition is not None)))
    return conditions


def _lies_in(
    container: edm.EntityContainer, caller: Caller, owner: edm.EntityType,
    navigation: edm.NavigationProperty, columns: Any,
) -> ColumnElement[bool] | None:  # fmt: skip
    """That a row lies in an entity that is there; None where all entities are."""
    holder = owner.table.alias()
    conditions = rows_for(container, caller, owner, holder.c)
    if not conditions:
        return None
    held = select(literal(1)).select_from(holder).where(navigation.join(holder.c, columns))
    return held.where(*conditions).correlate_except(holder).exists()


@dataclass(frozen=True, slots=True)
class Typed:
    """An expression of a known type; ``nullable`` is False only where null cannot occur.

    ``plain`` text needs no escaping in JSON; ``trigrams`` is the index that serves ``contains``
    (``EntityType.trigrams``).
    """

    sql: ColumnElement[Any]
    type: edm.EdmType
    nullable: bool = True
    plain: bool = False
    trigrams: Trigrams | None = None


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal that takes the type of what it is used with; null too."""

    literal: Literal


@dataclass(frozen=True, slots=True)
class Structure:
    """A complex value that lies in columns of a row."""

    scope: Scope
    property: edm.Property


@dataclass(frozen=True, slots=True)
class JsonStructure:
    """A complex value kept as JSON."""

    sql: ColumnElement[Any]
    type: edm.ComplexType


@dataclass(frozen=True, slots=True)
class Row:
    """One entity: the current instance, a lambda variable, or what a navigation leads to."""

    scope: Scope


@dataclass(frozen=True, slots=True)
class Rows:
    """The entities that a collection navigation of a row leads to, all or those that pass.

    ``type`` is set where only those of a derived type are meant.
    """

    owner: Scope
    navigation: edm.NavigationProperty
    predicates: tuple[Node, ...] = ()
    type: edm.EntityType | None = None

    def type_in(self, container: edm.EntityContainer) -> edm.EntityType:
        return self.type or container.target(self.navigation)


@dataclass(frozen=True, slots=True)
class Elements:
    """The members of a collection kept as JSON, all or those that pass."""

    sql: ColumnElement[Any]
    type: edm.CollectionType
    predicates: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class Dynamic:
    """An undeclared property of an open complex value: its type shows in what it is used with."""

    sql: ColumnElement[Any]
    name: str


class NestedRows:
    """The rows of a chain of ``$apply`` that are shown within others (``aggregation.rowset``)."""


@dataclass(frozen=True, slots=True)
class Nested:
    """A collection that ``$apply`` put into each row.

    Args:
        reading: how it is read: an item of ``$expand``, or the rows of a chain.
        bound: what expressions find under its name; None where they find nothing.
    """

    reading: ExpandItem | NestedRows
    bound: Rows | None = None


Bound = Typed | Constant | Structure | JsonStructure | Row | Rows | Elements | Dynamic


class Scope:
    """Rows of ``type`` under an alias; single-valued navigation is joined once, on demand.

    Raises: ForbiddenError, the caller may not read the type.
    """

    def __init__(self, context: Context, type_: edm.EntityType, *, optional: bool = False) -> None:
        self.context = context
        self.type = type_
        self.table = type_.table.alias(context.next_name())
        self.is_announced = False  # each row says its type: it is not what the model declares here
        self.optional = optional  # the row may be missing: every value of it may be null
        self.computed: dict[str, Typed] = {}
        self._joined: dict[str, tuple[Scope, ColumnElement[bool]]] = {}
        # Members of collections that every row is repeated for, by alias; see ``join_all``.
        self.members: dict[str, Bound] = {}
        # What expand(), addnested() and nest() of $apply show of each row, by name.
        self.nested: dict[str, Nested] = {}
        self._repeated: list[tuple[FromClause, ColumnElement[bool], bool]] = []
        self.conditions = self._conditions()

    @property
    def columns(self) -> Any:
        return self.table.c

    def _conditions(self) -> list[ColumnElement[bool]]:
        """What keeps the rows that exist for the caller."""
        type_, context = self.type, self.context
        conditions = rows_for(context.container, context.caller, type_, self.columns)
        if (kind := self.is_of(type_)) is not None:
            conditions.append(kind)
        return conditions

    def is_of(self, type_: edm.EntityType) -> ColumnElement[bool] | None:
        """That a row is of ``type_`` or of a type derived from it; None where all rows are."""
        if type_.base is None or type_.discriminator is None:
            return None
        attribute, value = type_.discriminator
        values = list(self.context.container.kinds(type_))
        column: ColumnElement[Any] = self.columns[attribute]
        return column == value if len(values) == 1 else column.in_(values)

    def narrow_to(self, type_: edm.EntityType) -> None:
        """Go on with those rows only that are of a derived type, and all of its properties."""
        self.type = type_
        if (kind := self.is_of(type_)) is not None:
            self.conditions.append(kind)

    def join(self, navigation: edm.NavigationProperty) -> Scope:
        """The one row that a single-valued navigation leads to."""
        if navigation.name in self._joined:
            return self._joined[navigation.name][0]
        target = Scope(self.context, self.context.container.target(navigation), optional=True)
        target.optional = self.optional or navigation.nullable or bool(target.conditions)
        return self.attach(navigation.name, target, navigation.join(self.columns, target.columns))

    def attach(self, name: str, target: Scope, condition: ColumnElement[bool]) -> Scope:
        """Join the one row of ``target`` that fulfils ``condition``; once for each ``name``."""
        if name not in self._joined:
            self._joined[name] = (target, and_(condition, *target.conditions))
        return self._joined[name][0]

    def repeat(
        self, name: str, member: Bound, source: FromClause, condition: ColumnElement[bool],
        *, outer: bool,
    ) -> None:  # fmt: skip
        """Make of each row as many as ``source`` has; the member of each is known as ``name``."""
        self.members[name] = member
        self._repeated.append((source, condition, outer))

    def from_clause(self) -> FromClause:
        """The alias with everything joined to it."""
        source: FromClause = self.table
        for repeated, condition, outer in self._repeated:
            source = source.join(repeated, condition, isouter=outer)
        source = self._join_to(source)
        for member in self.members.values():
            within: Scope | None = getattr(member, "scope", None)
            source = source if within is None else within._join_to(source)
        return source

    def _join_to(self, source: FromClause) -> FromClause:
        for target, condition in self._joined.values():
            source = source.join(target.table, condition, isouter=target.optional)
            source = target._join_to(source)
        return source

    @property
    def has_joins(self) -> bool:
        return bool(self._joined)

    def where_there(self, value: ColumnElement[Any]) -> ColumnElement[Any]:
        """A value that is computed for a row, and null where the row is missing.

        SQL would compute it there as well, from nulls: ``NULL AND FALSE`` is false.
        """
        if not self.optional:
            return value
        return case((self.key_columns()[0].is_not(None), value))

    def select(self, *columns: ColumnElement[Any]) -> Select[Any]:
        """These columns of the rows that fulfil the conditions so far."""
        return select(*columns).select_from(self.from_clause()).where(*self.conditions)

    def key_columns(self) -> list[ColumnElement[Any]]:
        """The columns of the key, in its order."""
        return [self.columns[self.type.properties[name].attribute] for name in self.type.key]


NUMBERS = ("integer", "decimal", "double")


def truth(condition: ColumnElement[bool], *, nullable: bool = True) -> Typed:
    """A condition as a value.

    It may be true or false without looking at any row. Such a constant has no order for SQLAlchemy,
    PostgreSQL sorts and groups by nothing that is one, and SQLite takes 1 for the first column.
    """
    template = "CAST({0} AS BOOLEAN)"
    return Typed(Predicate(template, template, condition), edm.BOOLEAN, nullable)


def is_true(condition: ColumnElement[bool]) -> ColumnElement[bool]:
    """``condition`` with null made false."""
    return Predicate("({0} IS TRUE)", "({0} IS TRUE)", condition)


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
