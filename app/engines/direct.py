"""Statements of PostgreSQL straight through libpq (docs/adr/0129).

psycopg's cursor spends three times as long on a statement as libpq and the conversions do, and a
write runs seven of them. What converts values is psycopg's own, and so are its errors.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import psycopg
from psycopg.adapt import PyFormat, Transformer
from psycopg.errors import OperationalError, error_from_result
from psycopg.pq import ExecStatus, TransactionStatus
from psycopg.pq.abc import PGresult

# Statements that a connection keeps prepared; the one unused for longest makes room.
MOST_PREPARED = 200
_PARAMETER = re.compile(r"%(?:%|s|\((\w+)\)s)")
_GOOD = frozenset((ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK))

Kind = tuple[str, tuple[int, ...]]


class Direct:
    """What runs the statements of one connection of psycopg."""

    def __init__(self, connection: psycopg.Connection[Any], prepare_after: int | None) -> None:
        self._connection = connection
        self._libpq = connection.pgconn
        self._values = Transformer(connection)
        self._prepare_after = prepare_after
        self._seen: OrderedDict[Kind, int] = OrderedDict()
        self._prepared: OrderedDict[Kind, bytes] = OrderedDict()
        self._made = 0

    def execute(
        self, sql: str, parameters: Mapping[str, Any] | Sequence[Any], *, prepare: bool = True
    ) -> Result:
        """Run ``sql``, of psycopg's style; a transaction begins where one is due.

        Args:
            prepare: whether it may be planned once for all values.
        Raises: psycopg.Error.
        """
        text, names = _translated(sql)
        given: list[Any] = (
            [parameters[name] for name in names]  # type: ignore[call-overload]
            if names
            else list(parameters)
        )
        values = self._values
        sent: Any = values.dump_sequence(given, [PyFormat.AUTO] * len(given))
        types = values.types or ()
        libpq = self._libpq
        if (
            libpq.transaction_status == TransactionStatus.IDLE
            and not self._connection.autocommit
        ):  # fmt: skip
            _checked(libpq.exec_(b"BEGIN"))
        name = self._name((sql, types), text) if prepare else None
        if name is None:
            result = libpq.exec_params(text, sent, types, values.formats)
        else:
            result = libpq.exec_prepared(name, sent, values.formats)
        _checked(result)
        return Result(result, self._rows(result))

    def _rows(self, result: PGresult) -> list[Any]:
        if result.status != ExecStatus.TUPLES_OK:
            return []
        values = self._values
        values.set_pgresult(result)
        rows: list[Any] = values.load_rows(0, result.ntuples, tuple)
        values.set_pgresult(None)  # an idle connection is not to hold its last rows
        return rows

    def _name(self, kind: Kind, text: bytes) -> bytes | None:
        """The prepared statement, made when it has been asked for often enough."""
        known = self._prepared.get(kind)
        if known is not None:
            self._prepared.move_to_end(kind)
            return known
        if self._prepare_after is None:
            return None
        seen = self._seen.pop(kind, 0) + 1
        if seen <= self._prepare_after:
            self._seen[kind] = seen
            if len(self._seen) > MOST_PREPARED:
                self._seen.popitem(last=False)
            return None
        while len(self._prepared) >= MOST_PREPARED:
            _, oldest = self._prepared.popitem(last=False)
            _checked(self._libpq.exec_(b"DEALLOCATE " + oldest))
        self._made += 1
        name = b"direct_%d" % self._made
        _checked(self._libpq.prepare(name, text, kind[1]))
        self._prepared[kind] = name
        return name


class Result:
    """What came back, with the names that a cursor of a driver has."""

    __slots__ = ("_next", "_result", "_rows")

    def __init__(self, result: PGresult, rows: list[Any]) -> None:
        self._result = result
        self._rows = rows
        self._next = 0

    def fetchone(self) -> Any:
        """The next row, or None."""
        if self._next >= len(self._rows):
            return None
        self._next += 1
        return self._rows[self._next - 1]

    def fetchall(self) -> list[Any]:
        """The rows that are left."""
        first, self._next = self._next, len(self._rows)
        return self._rows[first:] if first else self._rows

    @property
    def rowcount(self) -> int:
        """How many rows came back or were changed."""
        return self._result.command_tuples or 0

    @property
    def description(self) -> list[tuple[str, int]]:
        """Name and type of each column."""
        result = self._result
        return [
            ((result.fname(place) or b"").decode(), result.ftype(place))
            for place in range(result.nfields)
        ]

    def close(self) -> None:
        """Nothing is held on the server."""


@lru_cache(maxsize=4096)
def _translated(sql: str) -> tuple[bytes, tuple[str, ...]]:
    """SQL as the server takes it, ``$1`` for each parameter, and their names in that order."""
    names: list[str] = []
    counted = 0

    def replaced(found: re.Match[str]) -> str:
        nonlocal counted
        if found[0] == "%%":
            return "%"
        name = found[1]
        if name is None:
            counted += 1
            return f"${counted}"
        if name not in names:
            names.append(name)
        return f"${names.index(name) + 1}"

    return _PARAMETER.sub(replaced, sql).encode(), tuple(names)


def _checked(result: PGresult) -> None:
    """Raise what the server says where it refused, or that it is gone: then it gives no state."""
    if result.status in _GOOD:
        return
    error = error_from_result(result)
    if error.sqlstate is None:
        raise OperationalError(str(error))
    raise error
