"""Databases of the tests: made once, emptied between tests, filled by copies."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import psycopg
from flask import Flask
from sqlalchemy import Connection, Engine, event, make_url

from app.clock import utc_now
from app.extensions import Model, db
from tests.services import SERVICES
from tests.snapshots import circles, differences, take_snapshot

Value = TypeVar("Value")

# What the migrations themselves put in stays; the epoch grows instead, so that caches notice.
_NEXT_EPOCH = "UPDATE security_epochs SET value = value + 1"
_STAYS = {"roles": "is_builtin", "security_epochs": "true"}
_LONGEST_COPIED = timedelta(minutes=1)
# The address of a database whose server takes no connection.
AWAY = "postgresql+psycopg://nobody@127.0.0.1:1/nothing"


@contextmanager
def new_database(
    kind: str, folder: Path, name: str, *, template: str | None = None
) -> Iterator[str]:
    """The address of an empty database, gone at the end: a file, or a PostgreSQL database.

    Args:
        template: of PostgreSQL, of which it is a copy.
    """
    if kind == "sqlite":
        yield f"sqlite:///{folder / name}.db"
        return
    # Tests run in several processes, whose temporary folders have the same names.
    name = f"{name}_{os.getpid()}"
    url = make_database(name, template)
    try:
        yield url
    finally:
        drop_database(name)


def make_database(name: str, template: str | None = None) -> str:
    """Make a database of PostgreSQL, anew if it is there; returns its address."""
    drop_database(name)
    with _server() as connection:
        copied = f' TEMPLATE "{template}"' if template else ""
        connection.execute(f'CREATE DATABASE "{name}"{copied}')
        # No test pulls the plug of this server: nobody waits for its disk.
        connection.execute(f'ALTER DATABASE "{name}" SET synchronous_commit = off')
    url = make_url(SERVICES["postgresql"].url).set(database=name)
    return url.render_as_string(hide_password=False)


def drop_database(name: str) -> None:
    """Take a database of PostgreSQL away, if it is there."""
    with _server() as connection:
        connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


def _server() -> psycopg.Connection:
    url = make_url(SERVICES["postgresql"].url).set(drivername="postgresql")
    return psycopg.connect(url.render_as_string(hide_password=False), autocommit=True)


def close_engines(app: Flask) -> None:
    """Close every database connection of ``app``."""
    with app.app_context():
        for engine in db.engines.values():
            engine.dispose()


@dataclass(frozen=True)
class Copy:
    """What a function wrote, as statements, and what it returned."""

    statements: list[str]
    value: Any
    made_at: datetime

    def is_recent(self) -> bool:
        """Whether its times are still those of now, also for a test that travels in time."""
        now = utc_now()
        return self.made_at.date() == now.date() and abs(now - self.made_at) < _LONGEST_COPIED


class Cleaner:
    """Empties the tables after a test that committed something, and copies what many begin with."""

    def __init__(self, app: Flask) -> None:
        with app.app_context():
            self._engine: Engine = db.engine
        self._tables = list(reversed(Model.metadata.sorted_tables))
        self._is_empty = True
        self._path: tuple[Hashable, ...] | None = ()
        self._copies: dict[tuple[Hashable, ...], Copy] = {}
        self.watch(app)

    def watch(self, app: Flask) -> None:
        """Notice what ``app`` commits; it is on the same database."""
        with app.app_context():
            event.listen(db.engine, "commit", self.note_change)

    def note_change(self, connection: Connection | None = None) -> None:
        """Something was written, or may be: to be said of what goes past the watched engines."""
        self._is_empty, self._path = False, None

    def clean(self) -> None:
        """Leave the database as the migrations made it; keys begin at 1 again."""
        has_sequences = self._engine.dialect.name == "postgresql"
        if not self._is_empty or has_sequences:
            with self._engine.begin() as connection:
                statements = [] if self._is_empty else list(self._emptying(connection))
                if has_sequences:  # they take nothing back that a transaction took along
                    statements.append(self._first_keys())
                _run(connection, statements)
        self._is_empty, self._path = True, ()

    def once(self, name: Hashable, write: Callable[[], Value]) -> Value:
        """What ``write`` returns and writes: the first time by itself, from then on by a copy.

        A copy serves where the database is as it was then: empty, or with the same copies in it.
        ``write`` depends on nothing else, and leaves nothing outside of the database.
        """
        if self._path is None:
            return write()
        path = (*self._path, name)
        copy = self._copies.get(path)
        if copy and copy.is_recent():
            with self._engine.begin() as connection:
                _run(connection, copy.statements)
        else:
            copy = self._copies[path] = self._copy(write)
        self._path = path
        value: Value = deepcopy(copy.value)
        return value

    def _copy(self, write: Callable[[], Any]) -> Copy:
        made_at = utc_now()
        with self._engine.connect() as connection:
            before = take_snapshot(connection)
        value = write()
        with self._engine.connect() as connection:
            after = take_snapshot(connection)
        changes = differences(before, after, self._engine.dialect.name)
        return Copy([*changes, _NEXT_EPOCH], value, made_at)

    def _emptying(self, connection: Connection) -> Iterator[str]:
        goes = {
            table: f"NOT {_STAYS[table.name]}" if table.name in _STAYS else "true"
            for table in self._tables
        }
        asked = ", ".join(
            f"EXISTS (SELECT 1 FROM {table.name} WHERE {which})" for table, which in goes.items()
        )
        has_rows = connection.exec_driver_sql(f"SELECT {asked}").one()
        full = [table for table, has in zip(self._tables, has_rows, strict=True) if has]
        for table in full:
            yield from (f"UPDATE {table.name} SET {name} = NULL" for name in circles(table))
        yield from (f"DELETE FROM {table.name} WHERE {goes[table]}" for table in full)
        yield _NEXT_EPOCH
        if connection.dialect.name == "sqlite":
            yield "DELETE FROM sqlite_sequence"

    def _first_keys(self) -> str:
        sequences = [
            f"(SELECT setval('{table.name}_id_seq', 1, false) FROM {table.name}_id_seq"
            " WHERE is_called)"
            for table in self._tables
            if "id" in table.columns and table.name not in _STAYS
        ]
        of_roles = "setval('roles_id_seq', (SELECT max(id) FROM roles))"
        return f"SELECT {', '.join([*sequences, of_roles])}"


def _run(connection: Connection, statements: list[str]) -> None:
    """On PostgreSQL in one round trip."""
    if connection.dialect.name == "postgresql":
        statements = ["; ".join(statements)]
    plain = connection.execution_options(no_parameters=True)
    for statement in statements:
        plain.exec_driver_sql(statement)
