"""The engines of both databases: one that writes, one that reads, and what each connection is told.

SQLite is set up for a server: write-ahead log, every commit synced, and one writing connection a
process, whose transactions take the write lock as they begin. A lock taken later can be refused at
once ("database is locked") whatever the busy timeout. PostgreSQL gets timeouts at every place where
a request could wait, and prepared statements unless a pooler stands between (docs/adr/0003).
"""

from __future__ import annotations

import importlib
import importlib.util
import select
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from flask import Flask, current_app
from flask_sqlalchemy.session import Session
from psycopg.types.json import JsonLoader
from psycopg.types.string import TextLoader
from sqlalchemy import URL, Connection, Engine, event, make_url
from sqlalchemy.exc import DisconnectionError
from sqlalchemy.orm import scoped_session

from app.config import ConfigError
from app.extensions import db, migrate

READ = "read"
MIGRATIONS = Path(__file__).parent.parent / "migrations"
MINIMUM_SQLITE = (3, 38)
BUSY_SECONDS = 10
# An idle connection is asked for a sign of life only after this long.
PING_AFTER_SECONDS = 30
PREPARE_AFTER = 5

SQLITE_PRAGMAS = (
    "journal_mode=WAL",
    "synchronous=FULL",
    "foreign_keys=ON",
    f"busy_timeout={BUSY_SECONDS * 1000}",
    "cache_size=-4096",
    "mmap_size=67108864",
    "temp_store=MEMORY",
    "journal_size_limit=67108864",
)
POSTGRESQL_OPTIONS = {
    "statement_timeout": "30s",
    "lock_timeout": "10s",
    "idle_in_transaction_session_timeout": "60s",
    "timezone": "UTC",
    # Compiling a query to machine code costs more than any of ours takes.
    "jit": "off",
}


def init_app(app: Flask) -> None:
    """Bind ``db`` and the migrations to the two engines of ``app``, as its settings say.

    Raises: ConfigError, the SQLite library is too old or lacks a part.
    """
    url = make_url(app.config["SQLALCHEMY_DATABASE_URI"])
    replica = app.config.get("DATABASE_REPLICA_URL")
    embedded = url.get_backend_name() == "sqlite"
    if embedded:
        check_sqlite()
    options = _sqlite_options if embedded else _postgresql_options
    # The text of an error goes to the log, and what was written may be a password's hash.
    quiet = {"hide_parameters": True}
    app.config["SQLALCHEMY_ENGINE_OPTIONS"] = quiet | options(url, reading=False)
    app.config["SQLALCHEMY_BINDS"] = {
        READ: quiet | options(make_url(replica) if replica else url, reading=True)
    }
    db.init_app(app)
    migrate.init_app(app, db, directory=str(MIGRATIONS))
    with app.app_context():
        for key, engine in db.engines.items():
            listen = _listen_sqlite if embedded else _listen_postgresql
            listen(engine, reading=key == READ)


def read_engine() -> Engine:
    """The engine for reads: no transaction around a statement, never writes, maybe a replica."""
    return db.engines[READ]


def primary_engine() -> Engine:
    """The engine for reads that must see the last commit: a replica may lag behind."""
    if current_app.config.get("DATABASE_REPLICA_URL"):
        return db.engine.execution_options(isolation_level="AUTOCOMMIT")
    return db.engines[READ]


@contextmanager
def transaction() -> Iterator[scoped_session[Session]]:
    """The session of one transaction outside requests: committed at the end, or rolled back."""
    try:
        yield db.session
        db.session.commit()
    except BaseException:
        db.session.rollback()
        raise
    finally:
        db.session.remove()


def read_catalogue(connection: Connection) -> None:
    """Take ``connection`` out of the pool for a look at the schema.

    SQLAlchemy wants the JSON of the catalogue parsed, where all others want it as text.
    """
    if connection.dialect.name == "postgresql":
        driver: Any = connection.connection.driver_connection
        driver.adapters.register_loader("json", JsonLoader)
    connection.detach()


def check_sqlite() -> None:
    """Refuse a SQLite library that cannot do what the service needs of it."""
    if sqlite3.sqlite_version_info < MINIMUM_SQLITE:
        needed = ".".join(map(str, MINIMUM_SQLITE))
        raise ConfigError(
            f"SQLite {needed} or later is needed, this Python has {sqlite3.sqlite_version}:"
            " use a newer Python, or PostgreSQL by DATABASE_URL"
        )
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("SELECT json_group_array(1)")
        connection.execute(
            "CREATE VIRTUAL TABLE probe USING fts5(x, tokenize='trigram case_sensitive 1')"
        )
    except sqlite3.OperationalError as error:
        raise ConfigError(
            f"this Python's SQLite lacks a part that is needed ({error}):"
            " use another Python, or PostgreSQL by DATABASE_URL"
        ) from error
    finally:
        connection.close()


def _sqlite_options(url: URL, *, reading: bool) -> dict[str, Any]:
    # No implicit BEGIN of the driver: transactions begin in _begin_immediate, reads in none.
    connect = {"timeout": BUSY_SECONDS, "check_same_thread": False, "isolation_level": None}
    options: dict[str, Any] = {"url": url, "connect_args": connect, "pool_use_lifo": True}
    if reading:
        pool = {"pool_size": 16, "max_overflow": 32, "pool_timeout": 3}
        return options | pool | _AUTOCOMMIT
    # There is one writer at a time: waiting in the pool is fair and wakes at once, where the busy
    # handler sleeps and polls; and the one connection keeps its page cache warm.
    return options | {"pool_size": 1, "max_overflow": 0, "pool_timeout": BUSY_SECONDS}


# An autocommitting connection has nothing to roll back when it goes back to the pool.
_AUTOCOMMIT: dict[str, Any] = {
    "isolation_level": "AUTOCOMMIT",
    "skip_autocommit_rollback": True,
    "pool_reset_on_return": None,
}


def _listen_sqlite(engine: Engine, *, reading: bool) -> None:
    register = _function_registration()

    @event.listens_for(engine, "connect")
    def prepare(connection: sqlite3.Connection, record: Any) -> None:
        for pragma in SQLITE_PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")
        register(connection)
        if reading:
            connection.execute("PRAGMA query_only=ON")

    if not reading:
        event.listen(engine, "begin", _begin_immediate)


def _begin_immediate(connection: Any) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def _function_registration() -> Any:
    """``register`` of the query engine's SQL functions; nothing while there is no such module."""
    name = "app.odata.sqlite_functions"
    if importlib.util.find_spec("app.odata") and importlib.util.find_spec(name):
        return importlib.import_module(name).register
    return lambda connection: None


def _postgresql_options(url: URL, *, reading: bool) -> dict[str, Any]:
    settings = dict(POSTGRESQL_OPTIONS)
    if reading:
        settings["default_transaction_read_only"] = "on"
    connect: dict[str, Any] = {
        "connect_timeout": 3,
        "keepalives_idle": 30,
        "tcp_user_timeout": 10_000,
        "application_name": "business-platform",
    }
    # An operator whose pooler takes no start-up options gives ``options`` in the URL, or none.
    if "options" not in url.query:
        connect["options"] = " ".join(f"-c {name}={value}" for name, value in settings.items())
    pool = {"pool_size": 4, "max_overflow": 12, "pool_timeout": 3, "pool_use_lifo": True}
    options: dict[str, Any] = {"url": url, "connect_args": connect, **pool}
    return options | _AUTOCOMMIT if reading else options


def _listen_postgresql(engine: Engine, *, reading: bool) -> None:
    @event.listens_for(engine, "connect")
    def prepare(connection: Any, record: Any) -> None:
        # JSON as the text that it is: nothing is parsed that is only handed on.
        connection.adapters.register_loader("json", TextLoader)
        direct = _backend_pid(connection) == connection.info.backend_pid
        connection.prepare_threshold = PREPARE_AFTER if direct else None

    @event.listens_for(engine, "checkin")
    def remember(connection: Any, record: Any) -> None:
        record.info["idle_since"] = time.monotonic()

    @event.listens_for(engine, "checkout")
    def refuse_dead(connection: Any, record: Any, proxy: Any) -> None:
        """A ping costs a round trip; a closed socket shows itself for two microseconds."""
        idle_since = record.info.pop("idle_since", None)
        if idle_since is None:
            return
        if _has_news(connection.pgconn.socket):
            raise DisconnectionError("the server has closed the connection")
        if time.monotonic() - idle_since > PING_AFTER_SECONDS and not _ping(engine, connection):
            raise DisconnectionError("the server does not answer")


def _backend_pid(connection: Any) -> int:
    """The server process that really answers: a pooler such as PgBouncer tells the client another.

    Behind one, the next transaction may meet a process that never saw the prepared statement.
    """
    before = connection.autocommit
    connection.autocommit = True
    row = connection.execute("SELECT pg_backend_pid()").fetchone()
    connection.autocommit = before
    return int(row[0])


def _has_news(socket: int) -> bool:
    """Whether something waits on an idle connection: the server's goodbye, or its end."""
    poll = select.poll()
    poll.register(socket, select.POLLIN)
    return bool(poll.poll(0))


def _ping(engine: Engine, connection: Any) -> bool:
    try:
        return bool(engine.dialect.do_ping(connection))
    except engine.dialect.loaded_dbapi.Error:
        return False
