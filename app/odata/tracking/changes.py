"""What changed in a set since an instant: keys and versions, nothing of the rows themselves.

A transaction that was still open at the instant may commit later with an earlier time of change. So
the rows of a while before are looked at again, and those that the client has seen are left out by
their versions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Select, bindparam, tuple_

from app.errors import GoneError
from app.odata.binding.key_values import key_of, parts_of
from app.odata.model import edm
from app.odata.tracking.tokens import Mark

# Longer than a transaction can be open, clocks differ and a replica lags.
OVERLAP = timedelta(minutes=2)
# Rows of the overlap that a token remembers; with more of them, some are told twice.
MOST_KNOWN = 200
MOST_REMOVED = 5000


@dataclass(frozen=True)
class Changed:
    """A row that was made or changed."""

    key: Any
    version: int | None
    at: datetime


class Changes:
    def __init__(self, type_: edm.EntityType, connection: Connection) -> None:
        assert type_.changes is not None
        self._source = type_.changes
        self._keys = len(type_.key)
        self._connection = connection

    def changed(self, mark: Mark, most: int) -> list[Changed]:
        """The next rows after a mark, at most ``most`` of them and one more where there are."""
        statement = self._source.changed(mark.since - OVERLAP)
        if mark.after is not None:
            statement = self._after(statement, *mark.after)
        columns = list(statement.selected_columns)
        at, keys = columns[-1], columns[: self._keys]
        changed_keys: list[Changed] = []
        statement = statement.order_by(at, *keys).limit(most + 1 + len(mark.known))
        for row in self._connection.execute(statement):
            changed_row = self._row(row)
            if mark.known.get(changed_row.key, -1) != changed_row.version:
                changed_keys.append(changed_row)
        return changed_keys[: most + 1]

    def removed(self, mark: Mark) -> set[Any]:
        """The keys of the rows that were deleted.

        Raises: GoneError, more than can be told one by one.
        """
        statement = self._source.removed(mark.since - OVERLAP).limit(MOST_REMOVED + 1)
        present = {self._key(row) for row in self._connection.execute(statement)}
        if len(present) > MOST_REMOVED:
            raise GoneError("Too much was deleted: read the whole again.")
        return present - mark.gone

    def require_unbroken(self, mark: Mark) -> None:
        """Check that nothing came about past the times of change.

        Raises: GoneError, rows were brought in with their history, or brought back.
        """
        if self._breaks(mark.since) - mark.breaks:
            raise GoneError("Records were imported or restored meanwhile: read the whole again.")

    def known(self, caller: Any, keys: Collection[Any], mark: Mark) -> Collection[Any]:
        """Those of ``keys`` that the caller could read since a mark: of others nothing is told."""
        if not keys:
            return ()
        return self._source.known(self._connection, caller, keys, mark.since - OVERLAP)

    def mark(self, now: datetime) -> Mark:
        """The mark of a client that reads all from now on."""
        statement = self._source.changed(now - OVERLAP).limit(MOST_KNOWN + 1)
        rows = [self._row(row) for row in self._connection.execute(statement)]
        known: dict[Any, int] = {}
        if len(rows) <= MOST_KNOWN:
            known = {row.key: row.version for row in rows if row.version is not None}
        removed = self._source.removed(now - OVERLAP).limit(MOST_KNOWN + 1)
        gone = {self._key(row) for row in self._connection.execute(removed)}
        gone = gone if len(gone) <= MOST_KNOWN else set()
        return Mark(now, known, frozenset(gone), breaks=self._breaks(now))

    def _breaks(self, since: datetime) -> frozenset[Any]:
        """What cannot be told as changes, shortly before ``since`` and after it."""
        statement = self._source.broken(since - OVERLAP)
        if statement is None:
            return frozenset()
        return frozenset(self._connection.execute(statement.limit(MOST_KNOWN)).scalars())

    def _after(self, statement: Select[Any], at: datetime, key: Any) -> Select[Any]:
        columns = list(statement.selected_columns)
        names = [columns[-1], *columns[: self._keys]]
        values = (at, *parts_of(key))
        binds = [
            bindparam(None, value, type_=column.type)
            for value, column in zip(values, names, strict=True)
        ]
        return statement.where(tuple_(*names) > tuple_(*binds))

    def _row(self, row: Any) -> Changed:
        return Changed(self._key(row), row[self._keys], row[self._keys + 1])

    def _key(self, row: Any) -> Any:
        return plain_key(row[: self._keys])


def plain_key(parts: Iterable[Any]) -> Any:
    """A key as a token keeps it: all but numbers as text."""
    return key_of(part if isinstance(part, int) else str(part) for part in parts)
