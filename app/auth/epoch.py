"""The security epoch: a number that grows whenever a right or a session ends (docs/adr/0004).

What a process remembers of tokens and keys is good for one epoch. ``bump_epoch`` is called in the
transaction that takes a right away; the next request, in whatever process, sees the new value.
"""

from __future__ import annotations

import secrets
import sqlite3
import threading
from functools import partial
from typing import Any, Protocol

from flask import Flask, current_app
from sqlalchemy import Engine, insert, make_url, select, update

from app import statements
from app.config import Config
from app.database import primary_engine
from app.engines.readers import Readers
from app.extensions import db
from app.limits.shared import EPOCH_KEY
from app.models.user import SecurityEpoch
from app.redis_link import RedisAwayError, RedisLink, Script
from app.transactions import Transaction

# Redis forgets the value after this time, so that a Redis that came back with an old memory, or
# one that a process could not reach, is believed no longer than that.
TRUST_REDIS_MILLISECONDS = 5_000
# Longer than any transaction may take: a mark left by a killed process goes away by itself.
PENDING_MILLISECONDS = 120_000

_OFFER = Script("redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])", keys=1)
_MARK = Script("redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])", keys=1)
# Only whoever made the mark takes it away: the next transaction may have made its own already.
_PUBLISH = Script(
    """
    if redis.call('GET', KEYS[1]) == ARGV[1] then
        if ARGV[2] == '' then redis.call('DEL', KEYS[1])
        else redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) end
    end
    """,
    keys=1,
)
_FORGET = Script(
    "if string.find(redis.call('GET', KEYS[1]) or '', '^%d') then redis.call('DEL', KEYS[1]) end",
    keys=1,
)

_READ = "SELECT value FROM security_epochs WHERE id = 1"
_SELECT = select(SecurityEpoch.value).where(SecurityEpoch.id == 1)
_TABLE: Any = SecurityEpoch.__table__


class EpochSource(Protocol):
    """Where a process reads the epoch."""

    def current(self) -> int:
        """The epoch that the last committed transaction left."""


class DatabaseEpoch:
    """One indexed read, in the primary database."""

    def __init__(self, engine: Engine) -> None:
        self._readers = Readers(engine)

    def current(self) -> int:
        """The epoch; one round trip."""
        with self._readers.borrow() as connection:
            return statements.integer(connection, _READ)


class SqliteEpoch:
    """Asks SQLite whether anybody else has committed since, and only then reads the row.

    ``PRAGMA data_version`` is about a connection: it changes when another one, of this process or
    of any other, has changed the file. So this one writes nothing and is used for nothing else.
    """

    def __init__(self, url: str) -> None:
        self._path = str(make_url(url).database)
        self._lock = threading.Lock()
        self._cursor: sqlite3.Cursor | None = None
        self._version = -1
        self._value = -1

    def current(self) -> int:
        """The epoch; some 6 microseconds."""
        with self._lock:
            cursor = self._cursor or self._open()
            (version,) = cursor.execute("PRAGMA data_version").fetchone()
            if version != self._version:
                # Read after the version: a commit between the two is noticed the next time.
                (self._value,) = cursor.execute(_READ).fetchone()
                self._version = version
            return self._value

    def _open(self) -> sqlite3.Cursor:
        connection = sqlite3.connect(
            self._path, timeout=10, isolation_level=None, check_same_thread=False
        )
        self._cursor = connection.execute("PRAGMA query_only=ON")
        return self._cursor


class SharedEpoch:
    """Asked when Redis, which a request asks first, does not know the epoch."""

    def __init__(self, database: EpochSource, link: RedisLink) -> None:
        self._database = database
        self.link = link

    def current(self) -> int:
        """The epoch, offered to Redis for the requests to come."""
        value = self._database.current()
        if not self.link.away:
            _try(self.link, _OFFER, EPOCH_KEY, value, TRUST_REDIS_MILLISECONDS)
        return value


def bump_epoch() -> None:
    """End what every process remembers of callers, when the running transaction is committed."""
    running = db.session()
    grown = update(_TABLE).where(_TABLE.c.id == 1).values(value=_TABLE.c.value + 1)
    if running.execute(grown.returning(_TABLE.c.id)).first() is None:
        running.execute(insert(_TABLE).values(id=1, value=1))
    link: RedisLink | None = current_app.extensions["redis"]
    if link is not None:
        announcement = running.info.get("epoch") or _Announcement(link, running)
        announcement.is_due = True


class _Announcement:
    """Tells Redis of the new epoch around the commit.

    A mark is set before the commit: whoever meets it asks the database. So a process killed
    between commit and announcement leaves no stale value behind. The row's lock, which the
    transaction holds until its commit, keeps two marks from crossing.
    """

    def __init__(self, link: RedisLink, running: Transaction) -> None:
        self._link = link
        self._running = running
        self._mark = f"pending:{secrets.token_hex(8)}"
        self._value = 0
        self.is_due = False
        running.info["epoch"] = self
        running.before_commit.append(self._before_commit)
        running.after_commit.append(lambda: self._publish(str(self._value)))
        running.after_rollback.append(lambda: self._publish(""))

    def _before_commit(self) -> None:
        if not self.is_due:
            return
        # A savepoint may have been undone since: what counts is what will be committed.
        self._value = self._running.execute(_SELECT).scalar_one()
        _try(self._link, _MARK, EPOCH_KEY, self._mark, PENDING_MILLISECONDS)

    def _publish(self, value: str) -> None:
        if self.is_due:
            _try(self._link, _PUBLISH, EPOCH_KEY, self._mark, value, TRUST_REDIS_MILLISECONDS)
        self.is_due = False


def _try(link: RedisLink, script: Script, *arguments: str | int) -> bool:
    try:
        link.run(script, *arguments)
    except RedisAwayError:
        return False
    return True


def init_app(app: Flask, config: Config) -> None:
    """Choose where ``app`` reads the epoch, and who hears of a new one."""
    link: RedisLink | None = app.extensions["redis"]
    source: EpochSource
    if config.is_sqlite:
        source = SqliteEpoch(config.SQLALCHEMY_DATABASE_URI)
    else:
        with app.app_context():
            source = DatabaseEpoch(primary_engine())
    if link is not None:
        source = SharedEpoch(source, link)
        # Rights may have changed while Redis was away; what it remembers is from before.
        link.on_return.append(partial(_try, link, _FORGET, EPOCH_KEY))
    app.extensions["epoch"] = source
