"""Rows that may be meant, found by the index under the query engine's filter for the caller."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    BigInteger,
    BindParameter,
    ColumnElement,
    Connection,
    Dialect,
    Integer,
    Select,
    Text,
    and_,
    bindparam,
    case,
    column,
    func,
    literal,
    literal_column,
    not_,
    null,
    or_,
    select,
    table,
    union_all,
)

from app.crm.search.kinds import Kind
from app.crm.search.query import Either, Holds, Pattern, like_texts, match_text, pieces, shape
from app.extensions import Extension
from app.http.security import Caller
from app.models.searched import COLUMN, index_name, plain_text, split_fields, waiting_table
from app.odata.binding.context import Context, Source
from app.odata.binding.search_condition import search_condition
from app.odata.binding.values import Scope
from app.odata.protocol.negotiation import BARE
from app.odata.reading.bound import Projection, PropertyMember
from app.odata.reading.entity_json import EntityWriter
from app.odata.reading.statement import Run, Statement
from app.odata.service import odata_service
from app.odata.sql.dialect_sql import Predicate
from app.odata.syntax.nodes import SearchPhrase

_HAS = "(instr({0}, {1}) > 0)"
_BEGINS = "(substr({0}, 1, length({1})) = {1})"


class Making:
    """One statement in the making; its values are numbered in the order in which they stand."""

    def __init__(
        self, kind: Kind, caller: Caller, dialect: Dialect, literals: Sequence[str]
    ) -> None:
        self._kind = kind
        self._dialect = dialect
        self._literals = literals
        self._sqlite = dialect.name == "sqlite"
        container = odata_service.current.container
        self._context = Context(container, caller)
        self._type = container.types[kind.entity]
        self._sources: dict[str, Source] = {}

    def statement(self, form: str, patterns: Sequence[Pattern]) -> Statement:
        """The statement of ``Search.count``, ``ranked`` or ``some``.

        Raises: ForbiddenError, the caller may read none of the kind.
        """
        if form == "count":
            rows = select(func.count()).select_from(self._ids(patterns[0]).subquery())
        else:
            rows = self._ranked(patterns) if form == "ranked" else self._some(patterns[0])
        # What the index finds differs from search to search: one plan for all would serve none.
        return Statement(rows, self._dialect, self._sources, prepared=False)

    def _ranked(self, tiers: Sequence[Pattern]) -> Select[Any]:
        top = (self._top_of_sqlite(tiers) if self._sqlite else self._top(tiers)).subquery("top")
        scope = Scope(self._context, self._type)
        columns = (top.c.total, *self._columns(scope))
        rows = select(*columns).join_from(top, scope.table, scope.columns.id == top.c.id)
        return rows.order_by(top.c.tier, top.c.id)

    def _top(self, tiers: Sequence[Pattern]) -> Select[Any]:
        scope = Scope(self._context, self._type)
        *better, last = [self._holds(_plain(scope), tier) for tier in tiers]
        places = [(condition, literal(tier_number)) for tier_number, condition in enumerate(better)]
        tier = case(*places, else_=literal(len(better))).label("tier")
        # Sorted by an expression, so that nobody looks through all rows in the order of the key.
        order: list[ColumnElement[Any]] = [literal_column("tier"), literal_column("id")]
        top = select(scope.columns.id, tier).where(last, *self._conditions(scope)).cte("found")
        # All that was found lies there already: counting it costs no second look at the rows.
        total = select(func.count()).select_from(top).scalar_subquery().label("total")
        rows = select(top.c.id, top.c.tier, total).order_by(*order)
        return rows.limit(self._number()).offset(self._number())

    def _top_of_sqlite(self, tiers: Sequence[Pattern]) -> Select[Any]:
        """One tier after the other: each comes out of the index in the order of the keys."""
        arms = [
            arm.add_columns(literal_column(str(tier_number), Integer()).label("tier"))
            for tier_number, tier in enumerate(tiers)
            for arm in self._arms_of_sqlite(tier, tiers[tier_number - 1] if tier_number else None)
        ]
        order: list[ColumnElement[Any]] = [literal_column("tier"), literal_column("id")]
        top = union_all(*arms).order_by(*order).subquery("found")
        # Nobody has looked at more than is shown: counting is another question.
        rows = select(top.c.id, top.c.tier, null().label("total"))
        return rows.limit(self._number()).offset(self._number())

    def _some(self, pattern: Pattern) -> Select[Any]:
        ids = self._ids(pattern).limit(self._number()).subquery("found")
        scope = Scope(self._context, self._type)
        return select(*self._columns(scope)).join_from(
            ids, scope.table, scope.columns.id == ids.c.id
        )

    def _ids(self, pattern: Pattern) -> Select[Any]:
        """The keys of the rows that have the pattern and that the caller may read."""
        if self._sqlite:
            rows = union_all(*self._arms_of_sqlite(pattern)).subquery("rows")
            return select(rows.c.id)
        scope = Scope(self._context, self._type)
        conditions = self._conditions(scope)
        return select(scope.columns.id).where(self._holds(_plain(scope), pattern), *conditions)

    def _arms_of_sqlite(self, pattern: Pattern, but: Pattern | None = None) -> list[Select[Any]]:
        """The keys of rows that have ``pattern``, without ``but``: of the index, of what waits."""
        name = index_name(self._kind.table)
        index = table(name, column("rowid"), column(name))
        waiting = table(waiting_table(self._kind.table), column("id"), column("text", Text()))
        matches = Predicate("({0} MATCH {1})", "", index.c[name], self._text())
        known = select(index.c.rowid.label("id")).where(
            matches, index.c.rowid.not_in(select(waiting.c.id))
        )
        changed = select(waiting.c.id).where(self._holds(waiting.c.text, pattern))
        if but is not None:
            changed = changed.where(not_(self._holds(waiting.c.text, but)))
        return [self._readable(known, index.c.rowid), self._readable(changed, waiting.c.id)]

    def _readable(self, rows: Select[Any], key: ColumnElement[int]) -> Select[Any]:
        """Of the rows ``rows`` those that the caller may read."""
        scope = Scope(self._context, self._type)
        conditions = self._conditions(scope)
        if conditions:
            rows = rows.join(scope.table, scope.columns.id == key)
        return rows.where(*conditions)

    def _conditions(self, scope: Scope) -> list[ColumnElement[bool]]:
        """The engine's filter for the caller, and what must stand as it was typed."""
        typed = [search_condition(scope, SearchPhrase(text)) for text in self._literals]
        return [*scope.conditions, *typed]

    def _holds(self, plain: ColumnElement[str], pattern: Pattern) -> ColumnElement[bool]:
        """Whether a plain form has the pattern."""
        if isinstance(pattern, Holds):
            exact = _BEGINS if pattern.first else _HAS
            return Predicate(exact, "({0} LIKE {1})", plain, self._text())
        together = or_ if isinstance(pattern, Either) else and_
        return together(*(self._holds(plain, part) for part in pattern.parts))

    def _columns(self, scope: Scope) -> list[ColumnElement[Any]]:
        properties = [PropertyMember(scope.type.properties[name]) for name in self._kind.record]
        record = EntityWriter(BARE).entity(Projection(scope, properties, ()))
        plain = plain_text(self._kind.table, scope.table.name, self._dialect.name)
        texts = [scope.columns[name] for name in self._kind.columns]
        return [scope.columns.id, *texts, literal_column(plain, Text()), record]

    def _text(self) -> BindParameter[Any]:
        return self._value(Text())

    def _number(self) -> BindParameter[Any]:
        return self._value(BigInteger())

    def _value(self, type_: Any) -> BindParameter[Any]:
        """The next value of the run."""
        slot = len(self._sources)
        name = f"searched_{slot}"
        self._sources[name] = Source(slot)
        return bindparam(name, type_=type_, required=True)


def _plain(scope: Scope) -> ColumnElement[str]:
    """PostgreSQL's column of the plain form."""
    return literal_column(f"{scope.table.name}.{COLUMN}", Text())


_MOST_STATEMENTS = 256
_statements: Extension[dict[Hashable, Statement]] = Extension("crm_search", dict)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A row: its key, its fields as they are and in plain form, the JSON that an item shows."""

    id: int
    texts: tuple[str | None, ...]
    plain: list[str]
    record: str


@dataclass(frozen=True)
class Search:
    """Looks for candidates of one kind as one caller; ``literals`` must stand as they were typed.

    Raises: ForbiddenError, when it is used: the caller may read none of the kind.
    """

    kind: Kind
    caller: Caller
    connection: Connection
    literals: tuple[str, ...] = ()

    def count(self, pattern: Pattern) -> int:
        """How many rows have the pattern."""
        rows = self._rows("count", [pattern], [])
        return int(rows[0][0])

    def ranked(
        self, tiers: Sequence[Pattern], *, limit: int, offset: int
    ) -> tuple[list[Candidate], int | None]:
        """Rows that have the last of the patterns: those with the first ones before the others.

        Returns: ``limit`` of them from ``offset`` on, and how many there are, where the database
            came to know that on the way.
        """
        rows = self._rows("ranked", tiers, [limit, offset])
        total = rows[0][0] if rows else None
        return [_candidate(row[1:]) for row in rows], total

    def some(self, pattern: Pattern, *, limit: int) -> list[Candidate]:
        """At most ``limit`` of the rows that have the pattern."""
        return [_candidate(row) for row in self._rows("some", [pattern], [limit])]

    def _rows(self, form: str, patterns: Sequence[Pattern], numbers: list[int]) -> list[Any]:
        statement = self._statement(form, patterns)
        values: list[Any] = [*self._texts(form, patterns), *numbers]
        return statement.rows(self.connection, Run(values, self.caller.user_id))

    def _texts(self, form: str, patterns: Sequence[Pattern]) -> Iterator[str]:
        """The values of the patterns, in the order in which ``Making`` names them."""
        if self.connection.dialect.name != "sqlite":
            for pattern in patterns:
                yield from like_texts(pattern)
            return
        before: Pattern | None = None
        for pattern in patterns:
            # Each tier without what the one before has already.
            but = f" NOT {match_text(before)}" if before is not None else ""
            yield match_text(pattern) + but
            yield from pieces(pattern)
            if before is not None:
                yield from pieces(before)
            before = pattern

    def _statement(self, form: str, patterns: Sequence[Pattern]) -> Statement:
        """The compiled statement of a form; those with literals are made for one use."""
        making = Making(self.kind, self.caller, self.connection.dialect, self.literals)
        if self.literals:
            return making.statement(form, patterns)
        statements = _statements.current
        shapes = tuple(map(shape, patterns))
        key = (self.kind.name, self.connection.dialect.name, self.caller.profile, form, shapes)
        if key not in statements:
            if len(statements) >= _MOST_STATEMENTS:
                statements.clear()
            statements[key] = making.statement(form, patterns)
        return statements[key]


def _candidate(row: Sequence[Any]) -> Candidate:
    key, *texts, plain, record = row
    return Candidate(int(key), tuple(texts), split_fields(plain), record)
