"""Rows that may be meant, found by the index under the query engine's filter for the caller."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from app.crm.search.kinds import Kind
from app.crm.search.patterns import Pattern, like_texts, match_text, pieces, shape
from app.crm.search.statements import Making
from app.extensions import Extension
from app.http.security import Caller
from app.models.searched import split_fields
from app.odata.reading.statement import Run, Statement

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
