"""Where rows of an entity type are read from: an alias of its table, and what is joined to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, FromClause, and_, case

from app.odata import edm
from app.odata.binding.budget import Budget
from app.odata.binding.parameters import Parameters
from app.odata.binding.rows import rows_for
from app.odata.binding.values import Nested, Place, Typed
from app.odata.nodes import Node
from app.odata.option_nodes import QueryOptions
from app.security import Caller


@dataclass
class Context:
    """What is the same all through one query."""

    container: edm.EntityContainer
    caller: Caller
    parameters: Parameters = field(default_factory=Parameters)
    aliases: Mapping[str, Node] = field(default_factory=dict)
    # Whether rows are found by the trigram index, so in no order of use.
    unordered: bool = False
    # Whether rows are multiplied, by ``$crossjoin`` or ``join``: so many get less time.
    multiplied: bool = False
    budget: Budget = field(default_factory=Budget)
    # The options of each expanded collection, for a link to what it does not show.
    expanded: list[QueryOptions] = field(default_factory=list)
    _opened: int = 0

    def next_name(self) -> str:
        """A name for one more alias of a table."""
        self._opened += 1
        return f"t{self._opened - 1}"

    @contextmanager
    def naming(self, aliases: Mapping[str, Node]) -> Iterator[None]:
        """Within it, aliases that stand beside the options of one item count before the others."""
        before = self.aliases
        self.aliases = {**before, **aliases}
        try:
            yield
        finally:
            self.aliases = before

    def may_read(self, type_: edm.EntityType) -> bool:
        """Whether the caller may read any entity of the type."""
        return type_.resource is None or f"{type_.resource}:read" in self.caller.rights


class Scope:
    """Rows of ``type`` under an alias; single-valued navigation is joined once, on demand.

    Raises: ForbiddenError, the caller may not read the type.
    """

    def __init__(
        self, context: Context, type_: edm.EntityType, *, optional: bool = False,
        computed: Mapping[str, Typed] | None = None,
    ) -> None:  # fmt: skip
        self.context = context
        self.type = type_
        self.table = type_.table.alias(context.next_name())
        self.is_announced = False  # each row says its type: it is not what the model declares here
        self.optional = optional  # the row may be missing: every value of it may be null
        self.computed: dict[str, Typed] = dict(computed or {})
        self._joined: dict[str, tuple[Scope, ColumnElement[bool]]] = {}
        # Members of collections that every row is repeated for, by alias; see ``join_all``.
        self.members: dict[str, Place] = {}
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
        derived = self.context.container.derived(type_)
        values = [value, *(one.discriminator[1] for one in derived if one.discriminator)]
        column: ColumnElement[Any] = self.columns[attribute]
        return column == value if len(values) == 1 else column.in_(values)

    def narrow_to(self, type_: edm.EntityType) -> None:
        """Go on with those rows only that are of a derived type, and all of its properties."""
        self.type = type_
        if (kind := self.is_of(type_)) is not None:
            self.conditions.append(kind)

    def join(self, navigation: edm.NavigationProperty) -> Scope:
        """The one row that a single-valued navigation leads to."""
        if navigation.name not in self._joined:
            target = Scope(self.context, self.context.container.target(navigation), optional=True)
            target.optional = self.optional or navigation.nullable or bool(target.conditions)
            condition = and_(navigation.join(self.columns, target.columns), *target.conditions)
            self._joined[navigation.name] = (target, condition)
        return self._joined[navigation.name][0]

    def attach(self, name: str, target: Scope, condition: ColumnElement[bool]) -> Scope:
        """Join the one row of ``target`` that fulfils ``condition``; once for each ``name``."""
        if name not in self._joined:
            self._joined[name] = (target, and_(condition, *target.conditions))
        return self._joined[name][0]

    def repeat(
        self, name: str, member: Place, source: FromClause, condition: ColumnElement[bool],
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
        """Whether anything is joined to the rows."""
        return bool(self._joined)

    def where_there(self, value: ColumnElement[Any]) -> ColumnElement[Any]:
        """A value that is computed for a row, and null where the row is missing.

        SQL would compute it there as well, from nulls: ``NULL AND FALSE`` is false.
        """
        if not self.optional:
            return value
        return case((self.key_columns()[0].is_not(None), value))

    def key_columns(self) -> list[ColumnElement[Any]]:
        """The columns of the key, in its order."""
        return [self.columns[self.type.properties[name].attribute] for name in self.type.key]
