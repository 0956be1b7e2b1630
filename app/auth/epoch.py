"""The security epoch: a number that grows whenever a right or a session ends (docs/adr/0003).

What a process remembers of tokens and keys is good for one epoch. ``bump_epoch`` is called in the
transaction that takes a right away; the next request, in whatever process, sees the new value.
"""

from __future__ import annotations

import sqlite3
import threading

from flask import Flask
from sqlalchemy import Engine, insert, make_url, update
from sqlalchemy.exc import DBAPIError

from app.config import Config
from app.db.engines import primary_engine
from app.extensions import Extension, db
from app.models.user import SecurityEpoch

_READ = "SELECT value FROM security_epochs WHERE id = 1"


class DatabaseEpoch:
    """One indexed read, in the primary database."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def current(self) -> int:
        """The epoch that the last committed transaction left; one round trip."""
        with self._engine.connect() as connection:
            return int(connection.exec_driver_sql(_READ).scalar_one())


class SqliteEpoch:
    """Asks SQLite whether anybody else has committed since, and only then reads the row.

    ``PRAGMA data_version`` is about a connection: it changes when another one, of this process or
    of any other, has changed the file. So this one writes nothing and is used for nothing else.
    """

    def __init__(self, url: str) -> None:
        self._path = str(make_url(url).database)
        self._lock = threading.Lock()
        self.connection: sqlite3.Connection | None = None
        self._version = -1
        self._value = -1

    def current(self) -> int:
        """The epoch; some 6 microseconds.

        Raises: sqlalchemy.exc.DBAPIError.
        """
        with self._lock:
            try:
                return self._read(self.connection or self._open())
            except sqlite3.Error as error:
                self.connection, self._version = None, -1
                raise DBAPIError.instance(_READ, None, error, sqlite3.Error) from error

    def _read(self, connection: sqlite3.Connection) -> int:
        (version,) = connection.execute("PRAGMA data_version").fetchone()
        if version != self._version:
            # Read after the version: a commit between the two is noticed the next time.
            (self._value,) = connection.execute(_READ).fetchone()
            self._version = version
        return self._value

    def _open(self) -> sqlite3.Connection:
        self.connection = sqlite3.connect(
            self._path, timeout=10, isolation_level=None, check_same_thread=False
        )
        self.connection.execute("PRAGMA query_only=ON")
        return self.connection


def bump_epoch() -> None:
    """End what every process remembers of callers, when the running transaction is committed."""
    running = db.session()
    grown = update(SecurityEpoch).where(SecurityEpoch.id == 1).values(value=SecurityEpoch.value + 1)
    if running.execute(grown.returning(SecurityEpoch.id)).first() is None:
        running.execute(insert(SecurityEpoch).values(id=1, value=1))


EpochSource = DatabaseEpoch | SqliteEpoch
epoch_source: Extension[EpochSource] = Extension("epoch")


def init_app(app: Flask, config: Config) -> None:
    """Choose how ``app`` reads the epoch."""
    if config.is_sqlite:
        epoch_source.bind(app, SqliteEpoch(config.SQLALCHEMY_DATABASE_URI))
        return
    with app.app_context():
        epoch_source.bind(app, DatabaseEpoch(primary_engine()))
