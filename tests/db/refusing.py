"""Drivers of the databases that refuse one chosen call, as a sick disk, lock or network makes them.

``Refusals`` counts the calls of all connections: statements, commits and rollbacks. The errors are
the driver's own, and what the fault does to the connection has been done to it.
"""

from __future__ import annotations

import os
import socket
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import psycopg
from sqlalchemy import Engine, event

Fault = Callable[[Any], None]


def _sqlite_error(text: str, name: str, *, undoes: bool = False) -> Fault:
    """An error of SQLite; ``undoes``: SQLite has undone the transaction by itself."""

    def refuse(connection: Any) -> None:
        if undoes:
            sqlite3.Connection.rollback(connection)
        error = sqlite3.OperationalError(text)
        error.sqlite_errorname = name
        error.sqlite_errorcode = getattr(sqlite3, name)
        raise error

    return refuse


def _postgresql_error(state: str) -> Fault:
    """An error that the server itself reports: the transaction is aborted then."""

    def refuse(connection: Any) -> None:
        text = f"DO $$ BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = '{state}'; END $$"
        psycopg.Cursor(connection).execute(text)

    return refuse


def cut(connection: Any) -> None:
    """The connection ends, and with it what was not committed."""
    if isinstance(connection, sqlite3.Connection):
        sqlite3.Connection.close(connection)
        return
    # A copy: closing it leaves the driver's own descriptor to the driver.
    with suppress(OSError), socket.socket(fileno=os.dup(connection.pgconn.socket)) as copy:
        copy.shutdown(socket.SHUT_RDWR)


def cut_after_commit(connection: Any) -> None:
    """What was to be done is done; nobody learns of it."""
    if isinstance(connection, sqlite3.Connection):
        sqlite3.Connection.commit(connection)
    else:
        psycopg.Connection.commit(connection)
    cut(connection)


FAULTS: Mapping[str, Mapping[str, Fault]] = {
    "sqlite": {
        "disk full": _sqlite_error("database or disk is full", "SQLITE_FULL"),
        "disk full, undone": _sqlite_error("database or disk is full", "SQLITE_FULL", undoes=True),
        "I/O error": _sqlite_error("disk I/O error", "SQLITE_IOERR"),
        "locked": _sqlite_error("database is locked", "SQLITE_BUSY"),
        "time limit": _sqlite_error("interrupted", "SQLITE_INTERRUPT"),
        "cut": cut,
    },
    "postgresql": {
        "disk full": _postgresql_error("53100"),
        "I/O error": _postgresql_error("58030"),
        "locked": _postgresql_error("55P03"),
        "deadlock": _postgresql_error("40P01"),
        "time limit": _postgresql_error("57014"),
        "cut": cut,
    },
}


class Refusals:
    """Refuses the call number ``at`` of the connections of its engines, from 1, by a fault.

    A fault that lasts refuses all that follow, too, until ``disarm``.
    """

    def __init__(self) -> None:
        self.fault: Fault | None = None
        self._at = self.calls = 0
        self._lasts, self._only = False, ""
        self.refused: str | None = None  # what was asked for by the call

    def arm(self, at: int, fault: Fault, *, lasts: bool = False, only: str = "") -> None:
        """From now on count the calls anew: all, or those that ask for ``only`` this."""
        self.fault, self._at, self.calls, self.refused = fault, at, 0, None
        self._lasts, self._only = lasts, only

    def disarm(self) -> None:
        """Refuse nothing any more."""
        self.fault = None

    def attach(self, engine: Engine) -> None:
        """Let all connections of ``engine`` ask; those that are open are closed."""
        connect = _sqlite if engine.dialect.name == "sqlite" else _postgresql
        event.listen(
            engine, "do_connect", lambda dialect, record, words, options: connect(
                self, words, options
            )
        )  # fmt: skip
        engine.dispose()

    def call(self, connection: Any, asked: str) -> None:
        """Before a call of the driver: refuse it if it is its turn."""
        if self.fault is None or (self._only and asked != self._only):
            return
        self.calls += 1
        if self.calls == self._at or (self._lasts and self.calls > self._at):
            self.refused = self.refused or asked
            self.fault(connection)


def _sqlite(refusals: Refusals, words: Any, options: Any) -> sqlite3.Connection:
    class RefusingCursor(sqlite3.Cursor):
        def execute(self, sql: str, parameters: Any = ()) -> Any:
            refusals.call(self.connection, sql)
            return super().execute(sql, parameters)

        def executemany(self, sql: str, rows: Any) -> Any:
            refusals.call(self.connection, sql)
            return super().executemany(sql, rows)

    class RefusingConnection(sqlite3.Connection):
        def cursor(self, factory: Any = RefusingCursor) -> Any:
            return super().cursor(factory)

        def commit(self) -> None:
            refusals.call(self, "COMMIT")
            super().commit()

        def rollback(self) -> None:
            refusals.call(self, "ROLLBACK")
            super().rollback()

    return sqlite3.connect(*words, **{**options, "factory": RefusingConnection})


def _postgresql(refusals: Refusals, words: Any, options: Any) -> psycopg.Connection[Any]:
    class RefusingCursor(psycopg.Cursor[Any]):
        def execute(self, query: Any, params: Any = None, **more: Any) -> Any:
            refusals.call(self.connection, str(query))
            return super().execute(query, params, **more)

        def executemany(self, query: Any, rows: Any, **more: Any) -> None:
            refusals.call(self.connection, str(query))
            super().executemany(query, rows, **more)

    class RefusingConnection(psycopg.Connection[Any]):
        def commit(self) -> None:
            try:
                refusals.call(self, "COMMIT")
            except psycopg.Error:
                super().rollback()  # a COMMIT that is refused has ended the transaction
                raise
            super().commit()

        def rollback(self) -> None:
            if refusals.fault is cut:  # a server that answers refuses no ROLLBACK
                refusals.call(self, "ROLLBACK")
            super().rollback()

    return RefusingConnection.connect(*words, **{**options, "cursor_factory": RefusingCursor})
