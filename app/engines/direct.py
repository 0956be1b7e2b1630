"""Statements of PostgreSQL straight through libpq (docs/adr/0129).

psycopg's cursor spends three times as long on a statement as libpq and the conversions do, and a
write runs seven of them. What converts values is psycopg's own, and so are its errors.

Statements whose result nobody awaits go on the way of the next one, or of the commit, and the
beginning of a transaction goes with its first statement (docs/adr/0140).
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any

import psycopg
from psycopg.adapt import PyFormat, Transformer
from psycopg.pq import ExecStatus, TransactionStatus
from psycopg.pq.abc import PGresult

from app.engines.together import Sent, checked, send_together

# Statements that a connection keeps prepared; the one unused for longest makes room.
MOST_PREPARED = 200
_LONGEST_KEPT = 16_384  # characters of SQL
_PARAMETER = re.compile(r"%(?:%|s|\((\w+)\)s)")
_AUTO = [PyFormat.AUTO] * 65_535  # libpq takes no more parameters
_BEGIN, _COMMIT, _ROLLBACK = b"BEGIN", b"COMMIT", b"ROLLBACK"

Picker = Callable[[Any], Sequence[Any]]
Kind = tuple[str | bytes, tuple[int, ...]]


class Direct:
    """What runs the statements of one connection of psycopg."""

    def __init__(self, connection: psycopg.Connection[Any], prepare_after: int | None) -> None:
        self._connection = connection
        self._libpq = connection.pgconn
        self._values = Transformer(connection)
        self._prepare_after = prepare_after
        self._seen: OrderedDict[Kind, int] = OrderedDict()
        self._prepared: OrderedDict[Kind, bytes] = OrderedDict()
        self._kept: dict[bytes, Sent] = {}
        self._made = 0
        self._due: list[Sent] = []

    def execute(
        self, sql: str, parameters: Mapping[str, Any] | Sequence[Any], *, prepare: bool = True
    ) -> Result:
        """Run ``sql``, of psycopg's style; a transaction begins where one is due.

        Args:
            prepare: whether it may be planned once for all values.
        Raises: psycopg.Error.
        """
        sent = self._sent(sql, parameters, prepare)
        ahead = self._ahead()
        if ahead:
            result = send_together(self._libpq, [*ahead, sent])[-1]
        else:
            text, name, values, types, formats = sent
            if name is None:
                result = self._libpq.exec_params(text, values, types, formats)
            else:
                result = self._libpq.exec_prepared(name, values, formats)
        checked(result)
        return Result(result, self._rows(result))

    def later(self, sql: str, parameters: Mapping[str, Any] | Sequence[Any]) -> None:
        """Run ``sql`` before whatever comes next; a refusal comes out there.

        Raises: psycopg.Error, the values cannot be sent.
        """
        self._due.append(self._sent(sql, parameters, True))

    def settle(self) -> None:
        """Run what is due."""
        if self._due:
            send_together(self._libpq, self._ahead())

    def forget(self) -> None:
        """Never run what is due: it is undone with the rest of its transaction."""
        self._due.clear()

    def commit(self) -> None:
        """Run what is due, and commit.

        Raises: psycopg.Error; the transaction is still there, to be undone.
        """
        if self._due:
            send_together(self._libpq, [*self._ahead(), self._fixed(_COMMIT)])
        elif self._libpq.transaction_status != TransactionStatus.IDLE:
            checked(self._libpq.exec_(_COMMIT))

    def integer(self, sql: bytes) -> int:
        """The one number that a statement without values finds.

        Raises: psycopg.Error.
        """
        name, libpq = self._fixed(sql)[1], self._libpq
        result = libpq.exec_(sql) if name is None else libpq.exec_prepared(name, None)
        checked(result)
        return _number(result)

    def _ahead(self) -> list[Sent]:
        """What has to go before the next statement."""
        due, self._due = self._due, []
        if (
            self._libpq.transaction_status == TransactionStatus.IDLE
            and not self._connection.autocommit
        ):
            return [self._fixed(_BEGIN), *due]
        return due

    def _fixed(self, text: bytes) -> Sent:
        """One of the few statements without values; once prepared, they stay so."""
        known = self._kept.get(text)
        if known is None:
            name = self._name((text, ()), text)
            known = (text, name, None, None, None)
            if name is not None:
                del self._prepared[text, ()]
                self._kept[text] = known
        return known

    def _sent(self, sql: str, parameters: Mapping[str, Any] | Sequence[Any], prepare: bool) -> Sent:
        text, picked, count = _translated(sql)
        given: Sequence[Any] = picked(parameters) if picked else tuple(parameters)
        values = self._values
        converted: Any = values.dump_sequence(given, _AUTO[: count or len(given)])
        types = values.types or ()
        name = self._name((sql, types), text) if prepare else None
        return text, name, converted, types, values.formats

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
            checked(self._libpq.exec_(b"DEALLOCATE " + oldest))
        self._made += 1
        name = b"direct_%d" % self._made
        checked(self._libpq.prepare(name, text, kind[1]))
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


def _number(result: PGresult) -> int:
    return int(result.get_value(0, 0) or b"")


def _translated(sql: str) -> tuple[bytes, Picker | None, int]:
    """As ``_translate``, which longer texts are made by each time: few of them come back."""
    return _translate_once(sql) if len(sql) <= _LONGEST_KEPT else _translate(sql)


def _translate(sql: str) -> tuple[bytes, Picker | None, int]:
    """SQL as the server takes it, ``$1`` for each parameter.

    Returns: with it what takes named values in that order, and how many; None and 0 without names.
    """
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

    text = _PARAMETER.sub(replaced, sql).encode()
    if len(names) > 1:
        return text, itemgetter(*names), len(names)
    if names:
        return text, lambda given: (given[names[0]],), 1
    return text, None, 0


_translate_once = lru_cache(maxsize=1024)(_translate)
