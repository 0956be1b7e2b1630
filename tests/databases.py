"""A migrated database for the whole run, emptied between tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from flask import Flask
from sqlalchemy import Engine, event, make_url
from sqlalchemy.schema import ForeignKeyConstraint

from app.extensions import Model, db
from tests.services import SERVICES

# What the migrations themselves put in stays; the epoch grows instead, so that caches notice.
KEPT = {
    "roles": "DELETE FROM roles WHERE NOT is_builtin",
    "security_epochs": "UPDATE security_epochs SET value = value + 1",
}


@contextmanager
def new_database(kind: str, folder: Path, name: str) -> Iterator[str]:
    """The address of an empty database, gone at the end: a file, or a PostgreSQL database."""
    if kind == "sqlite":
        yield f"sqlite:///{folder / name}.db"
        return
    # Tests run in several processes, whose temporary folders have the same names.
    name = f"{name}_{os.getpid()}"
    server = make_url(SERVICES["postgresql"].url)
    with psycopg.connect(
        server.set(drivername="postgresql").render_as_string(hide_password=False), autocommit=True
    ) as connection:
        connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        connection.execute(f'CREATE DATABASE "{name}"')
        try:
            yield server.set(database=name).render_as_string(hide_password=False)
        finally:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def close_engines(app: Flask) -> None:
    """Close every database connection of ``app``."""
    with app.app_context():
        for engine in db.engines.values():
            engine.dispose()


class Cleaner:
    """Empties the tables after a test that committed something; costs a few milliseconds."""

    def __init__(self, app: Flask) -> None:
        with app.app_context():
            self._engine: Engine = db.engine
        self._statements = _statements(self._engine.dialect.name)
        self.dirty = False
        event.listen(self._engine, "commit", self._note)

    def clean(self) -> None:
        """Leave the database as the migrations made it."""
        if not self.dirty:
            return
        with self._engine.begin() as connection:
            if connection.dialect.name == "postgresql":
                connection.exec_driver_sql("; ".join(self._statements))
            else:
                for statement in self._statements:
                    connection.exec_driver_sql(statement)
        self.dirty = False

    def _note(self, connection: object) -> None:
        self.dirty = True


def _statements(dialect: str) -> list[str]:
    tables = list(reversed(Model.metadata.sorted_tables))
    circles = [
        f"UPDATE {table.name} SET {name} = NULL WHERE {name} IS NOT NULL"
        for table in tables
        for constraint in table.constraints
        if isinstance(constraint, ForeignKeyConstraint) and constraint.use_alter
        for name in constraint.columns.keys()  # noqa: SIM118  # a column collection, not a dict
    ]
    empty = [KEPT.get(table.name, f"DELETE FROM {table.name}") for table in tables]
    if dialect == "sqlite":
        return [*circles, *empty, "DELETE FROM sqlite_sequence"]
    sequences = [
        f"SELECT setval('{table.name}_id_seq', 1, false)"
        for table in tables
        if "id" in table.columns and table.name not in KEPT
    ]
    return [*circles, *empty, *sequences]
