"""The two engines of an application: one that writes, one that reads (docs/adr/0004)."""

from __future__ import annotations

import importlib
import time
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from flask import Flask, current_app
from flask_sqlalchemy.session import Session
from sqlalchemy import URL, Connection, Engine, make_url
from sqlalchemy.exc import SAWarning
from sqlalchemy.orm import scoped_session

from app.config import ConfigError
from app.db.partial_index import tell_postgresql
from app.extensions import READ, Extension, db

# What reads has no transaction round a statement, and nothing to roll back afterwards.
AUTOCOMMIT: dict[str, Any] = {
    "isolation_level": "AUTOCOMMIT",
    "skip_autocommit_rollback": True,
    "pool_reset_on_return": None,
}
PAUSE_SECONDS = 0.001
MIGRATIONS = Path(__file__).parents[2] / "migrations"


def init_app(app: Flask) -> None:
    """Bind ``db`` and the migrations to the two engines of ``app``, as its settings say.

    Raises: ConfigError, an address has an option that there is not; the SQLite library is too old
        or lacks a part.
    """
    url = _checked("DATABASE_URL", app.config["SQLALCHEMY_DATABASE_URI"])
    replica = app.config.get("DATABASE_REPLICA_URL")
    replica_url = _checked("DATABASE_REPLICA_URL", replica) if replica else url
    engines = _engines(url.get_backend_name())
    # The text of an error goes to the log, and what was written may be a password's hash.
    quiet = {"hide_parameters": True}
    if url.get_backend_name() == "postgresql":
        tell_postgresql(db.metadata)
    app.config["SQLALCHEMY_ENGINE_OPTIONS"] = quiet | engines.options(url, reading=False)
    reading_options = quiet | AUTOCOMMIT | engines.options(replica_url, reading=True)
    app.config["SQLALCHEMY_BINDS"] = {READ: reading_options}
    db.init_app(app)
    Extension[Any]("migrate").bind(app, _Migrations())
    with app.app_context():
        for key, engine in db.engines.items():
            engines.listen(engine, reading=key == READ)


def _checked(name: str, text: str) -> URL:
    """The address ``text``; without a connection the driver says whether it knows its options.

    Raises: ConfigError, naming the setting ``name``.
    """
    url = make_url(text)
    dialect = url.get_dialect()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", SAWarning)  # SQLite's would be left out with a warning
            options = dialect().create_connect_args(url)[1]
        if dialect.name == "postgresql":
            dialect.import_dbapi().conninfo.make_conninfo(**options)
    except Exception as error:  # each driver has its own, and no address is told in any
        problem = str(error).partition(";")[0].strip()
        raise ConfigError(f"{name} cannot be used: {problem}") from error
    return url


def read_engine() -> Engine:
    """The engine for reads: no transaction around a statement, never writes, maybe a replica."""
    return db.engines[READ]


@contextmanager
def steady_read(engine: Engine | None = None) -> Iterator[Connection]:
    """A connection whose reads all see the database as it is at the first of them.

    What is written meanwhile waits for nothing and is not seen (docs/adr/0042).

    Args:
        engine: else the one for reads.
    """
    with (engine or read_engine()).connect() as connection:
        connection.exec_driver_sql(_engines(connection.dialect.name).STEADY)
        try:
            yield connection
        finally:
            connection.exec_driver_sql("ROLLBACK")


def reading() -> AbstractContextManager[Connection]:
    """``with reading() as connection:`` for a statement of the reading engine, and no more."""
    return read_engine().connect()


def primary_engine() -> Engine:
    """The engine for reads that must see the last commit: a replica may lag behind."""
    if current_app.config.get("DATABASE_REPLICA_URL"):
        return db.engine.execution_options(isolation_level="AUTOCOMMIT")
    return db.engines[READ]


@contextmanager
def transaction() -> Iterator[scoped_session[Session]]:
    """The session of one transaction outside requests: committed at the end, or rolled back.

    SQLite has one writer at a time, and its pool gives the connection to whoever asks first: one
    who writes again and again lets those who wait go first.
    """
    try:
        yield db.session
        db.session.commit()
    except BaseException:
        db.session.rollback()
        raise
    finally:
        db.session.remove()
        if db.engine.dialect.name == "sqlite":
            time.sleep(PAUSE_SECONDS)


def read_catalogue(connection: Connection) -> None:
    """Take ``connection`` out of the pool for a look at the schema."""
    _engines(connection.dialect.name).read_catalogue(connection)


def require_icu(connection: Connection) -> None:
    """Refuse a PostgreSQL that cannot fold the letters of all languages, before it is migrated.

    Raises: ConfigError.
    """
    known = "SELECT 1 FROM pg_collation WHERE collname = 'und-x-icu'"
    if connection.exec_driver_sql(known).scalar() is None:
        raise ConfigError(
            "this PostgreSQL was built without ICU (there is no collation und-x-icu), which the"
            " searches need: use one of the packages of postgresql.org or of your distribution"
        )


def require_known(revision: str | None) -> None:
    """Refuse a database that a newer version of the service has migrated to ``revision``.

    Raises: ConfigError.
    """
    if revision is not None and not is_known(revision):
        raise ConfigError(
            f"the database was migrated by a newer version of the service (to {revision}):"
            " run that version, or restore a backup of before into an empty database"
        )


def is_known(revision: str) -> bool:
    """Whether this version of the service has the migration: files begin with their numbers."""
    files = (MIGRATIONS / "versions").glob("[0-9]*.py")
    return revision in {file.name.partition("_")[0] for file in files}


def _engines(backend: str) -> ModuleType:
    """``app.db.sqlite`` or ``app.db.postgresql``; a driver not used is not loaded."""
    return importlib.import_module(f"app.db.{backend}")


class _Migrations:
    """What Flask-Migrate looks for; itself loaded by its commands, not by every web process."""

    db = db
    directory = str(MIGRATIONS)
    configure_args: dict[str, Any] = {}

    @cached_property
    def migrate(self) -> Any:
        """The extension."""
        return importlib.import_module("flask_migrate").Migrate(db=db, directory=self.directory)
