"""SQLite, set up for a server (docs/adr/0050).

Write-ahead log, every commit synced, and one writing connection a process, whose transactions take
the write lock as they begin: a lock taken later can be refused at once ("database is locked"),
whatever the busy timeout.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, PoolProxiedConnection, event

from app.config import ConfigError
from app.engines.autocommit import AUTOCOMMIT
from app.engines.parking import ParkingPool
from app.engines.sharing import SharedConnection
from app.engines.turns import TurnsPool
from app.models.searched import search_text
from app.odata.sqlite_functions import register

MINIMUM_VERSION = (3, 38)
BUSY_SECONDS = 10
PRAGMAS = (
    "journal_mode=WAL",
    "synchronous=FULL",
    "foreign_keys=ON",
    f"busy_timeout={BUSY_SECONDS * 1000}",
    "cache_size=-4096",
    "mmap_size=67108864",
    "temp_store=MEMORY",
    "journal_size_limit=67108864",
    # Some builds overwrite what is deleted, and write pages for that alone; this one does not.
    "secure_delete=FAST",
)


# Statements that a reading connection keeps prepared, at six kilobytes each. What is asked over and
# over is among them; all that sixteen connections are asked now and then would be twelve megabytes.
STATEMENTS = 48

# How a transaction begins whose reads all see one state: that of the first of them.
STEADY = "BEGIN DEFERRED"


def options(url: URL, *, reading: bool) -> dict[str, Any]:
    """What the engine is made with; the folder of the database is made where it is missing.

    Raises: ConfigError, the SQLite library is too old or lacks a part; there can be no folder.
    """
    check_library()
    _make_folder(url)
    # No implicit BEGIN of the driver: transactions begin in _begin_immediate, reads in none.
    connect: dict[str, Any] = {
        "timeout": BUSY_SECONDS,
        "check_same_thread": False,
        "isolation_level": None,
    }
    made: dict[str, Any] = {"url": url, "connect_args": connect, "pool_use_lifo": True}
    if reading:
        connect["cached_statements"] = STATEMENTS
        pool = {"pool_size": 16, "max_overflow": 32, "pool_timeout": 3}
        return made | {"poolclass": ParkingPool} | pool | AUTOCOMMIT
    # There is one writer at a time: waiting in the pool is fair and wakes at once, where the busy
    # handler sleeps and polls; and the one connection keeps its page cache warm.
    connect["factory"] = SharedConnection
    made |= {"poolclass": TurnsPool, "pool_size": 1, "max_overflow": 0}
    return made | {"pool_timeout": BUSY_SECONDS}


def _make_folder(url: URL) -> None:
    """An empty machine is where a backup is brought to, and where a release goes first."""
    if not url.database or url.database == ":memory:" or url.database.startswith("file:"):
        return
    folder = Path(url.database).parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"the folder {folder} cannot be made ({error.strerror})") from error


def listen(engine: Engine, *, reading: bool) -> None:
    """Prepare every connection of ``engine``, and let a writing one lock as it begins."""

    @event.listens_for(engine, "connect")
    def prepare(connection: sqlite3.Connection, record: Any) -> None:
        for pragma in PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")
        register(connection)
        connection.create_function("search_text", 1, search_text, deterministic=True)
        if reading:
            connection.execute("PRAGMA query_only=ON")

    if not reading:
        # No listener of "begin": an engine that has listeners makes every connection dearer.
        engine.dialect.do_begin = _begin_immediate  # type: ignore[assignment, method-assign]


def _begin_immediate(connection: PoolProxiedConnection) -> None:
    driver: Any = connection.dbapi_connection
    driver.begin()


def read_catalogue(connection: Connection) -> None:
    """Take ``connection`` out of the pool for a look at the schema."""
    connection.detach()


def check_library() -> None:
    """Refuse a SQLite library that cannot do what the service needs of it."""
    if sqlite3.sqlite_version_info < MINIMUM_VERSION:
        needed = ".".join(map(str, MINIMUM_VERSION))
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
