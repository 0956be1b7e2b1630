"""SQLite, set up for a server (docs/adr/0004).

Write-ahead log, every commit synced, and one writing connection a process, whose transactions take
the write lock as they begin: a lock taken later can be refused at once ("database is locked"),
whatever the busy timeout.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, QueuePool, event

from app.config import ConfigError
from app.models.searched import search_text
from app.odata.sql.sqlite_functions import register

MINIMUM_VERSION = (3, 38)
# A table that is imported all or nothing is written in one transaction, at some 2 ms of CPU a row.
# Who signs in meanwhile had rather wait than be refused.
BUSY_SECONDS = 30
PRAGMAS = (
    "journal_mode=WAL",
    "synchronous=FULL",
    "foreign_keys=ON",
    f"busy_timeout={BUSY_SECONDS * 1000}",
    "cache_size=-1024",
    "mmap_size=67108864",
    "temp_store=MEMORY",
    "journal_size_limit=67108864",
    # Some builds overwrite what is deleted, and write pages for that alone; this one does not.
    "secure_delete=FAST",
)


# Statements that a reading connection keeps prepared, at six kilobytes each. What is asked over and
# over is among them; all that sixteen connections are asked now and then would be twelve megabytes.
STATEMENTS = 48
# Of SQL from this length on the driver keeps ten times as many bytes with each connection.
LONG = 4_096
# Characters of it that a reading connection is used for.
MOST_LONG = 150_000

# How a transaction begins whose reads all see one state: that of the first of them.
STEADY = "BEGIN DEFERRED"


def options(url: URL, *, reading: bool) -> dict[str, Any]:
    """What the engine is made with; the folder of the database is made where it is missing.

    Raises: ConfigError, the SQLite library is too old or lacks a part; there can be no folder.
    """
    check_library()
    _make_folder(url)
    # No implicit BEGIN of the driver: transactions begin in the listener, reads in none.
    connect: dict[str, Any] = {
        "timeout": BUSY_SECONDS,
        "check_same_thread": False,
        "isolation_level": None,
    }
    arguments: dict[str, Any] = {
        "url": url, "connect_args": connect, "poolclass": QueuePool, "pool_use_lifo": True,
    }  # fmt: skip
    if reading:
        connect["cached_statements"] = STATEMENTS
        return arguments | {"pool_size": 16, "max_overflow": 32, "pool_timeout": 3}
    # There is one writer at a time: waiting in the pool wakes at once, where the busy handler
    # sleeps and polls; and the one connection keeps its page cache warm.
    return arguments | {"pool_size": 1, "max_overflow": 0, "pool_timeout": BUSY_SECONDS}


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

    if reading:
        event.listen(engine, "before_cursor_execute", _count_long)
    else:
        event.listen(engine, "begin", _begin_immediate)


def _begin_immediate(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def _count_long(
    connection: Connection, cursor: Any, sql: str, parameters: Any, context: Any, many: bool
) -> None:
    """Let a reading connection end after its present use that has been asked many long statements.

    The driver keeps the last ones prepared, however large they are, and cannot be told to forget.
    """
    if len(sql) < LONG:
        return
    seen: dict[int, int] = connection.info.setdefault("long_statements", {})
    seen[hash(sql)] = len(sql)
    if sum(seen.values()) > MOST_LONG:
        connection.connection.invalidate(soft=True)


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
