"""The security epoch: nobody goes on believing what has ended, whatever dies when."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import redis
from flask import Flask
from sqlalchemy import make_url

from app.auth import epoch
from app.auth.epoch import PENDING_MILLISECONDS, TRUST_REDIS_MILLISECONDS, SqliteEpoch, bump_epoch
from app.database import transaction
from app.extensions import db
from app.limits.rate import Rate
from app.limits.shared import EPOCH_KEY
from tests.services import SERVICES

MakeApp = Callable[..., Flask]
MINUTE = Rate(1000, 60)


def current(app: Flask) -> int:
    return int(app.extensions["epoch"].current())


def bump(app: Flask) -> None:
    with app.app_context(), transaction():
        bump_epoch()


def test_it_grows_when_the_transaction_is_committed_and_not_before(app: Flask) -> None:
    before = current(app)
    with app.app_context():
        bump_epoch()
        assert current(app) == before
        db.session.rollback()
        assert current(app) == before
        bump_epoch()
        bump_epoch()
        db.session.commit()
    assert current(app) == before + 2


def test_the_row_is_made_when_it_is_missing(app: Flask) -> None:
    with app.app_context(), transaction() as session:
        session.execute(epoch._TABLE.delete())
        bump_epoch()
    assert current(app) == 1


@pytest.mark.only_on("sqlite")
def test_sqlite_is_asked_for_the_row_only_after_a_commit(app: Flask, database: str) -> None:
    path = str(make_url(database).database)
    source = SqliteEpoch(database)
    first = source.current()
    statements: list[str] = []
    assert source._cursor is not None
    source._cursor.connection.set_trace_callback(statements.append)
    assert [source.current() for _ in range(3)] == [first] * 3
    assert statements == ["PRAGMA data_version"] * 3
    with sqlite3.connect(path) as other:
        other.execute("UPDATE security_epochs SET value = value + 1")
    other.close()
    assert source.current() == first + 1
    assert len(statements) == 5
    source._cursor.connection.close()
    bump(app)  # the test's database is cleaned after it


@pytest.mark.only_on("sqlite")
def test_a_commit_of_another_process_is_seen_at_the_next_look(app: Flask, database: str) -> None:
    path = str(make_url(database).database)
    program = (
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]);"
        "c.execute('UPDATE security_epochs SET value = value + 1'); c.commit()"
    )
    before = current(app)
    for number in range(3):
        subprocess.run([sys.executable, "-c", program, path], check=True)
        assert current(app) == before + number + 1


@pytest.fixture
def server() -> Iterator[redis.Redis]:
    with redis.Redis.from_url(SERVICES["redis"].url) as client:
        client.flushdb()
        yield client
        client.flushdb()


@pytest.fixture
def shared(server: redis.Redis, make_app: MakeApp) -> Flask:
    """An application with Redis."""
    return make_app(REDIS_URL=SERVICES["redis"].url)


def seen(app: Flask) -> int | None:
    """The epoch as a request gets it with its verdict."""
    return app.extensions["limiter"].store.hit("a", MINUTE).epoch  # type: ignore[no-any-return]


@pytest.mark.needs("redis")
def test_redis_learns_the_epoch_from_the_first_who_asks_and_forgets_it(
    shared: Flask, server: redis.Redis
) -> None:
    assert seen(shared) is None
    value = current(shared)
    assert seen(shared) == value
    assert 0 < server.pttl(EPOCH_KEY) <= TRUST_REDIS_MILLISECONDS


@pytest.mark.needs("redis")
def test_while_a_commit_runs_nobody_believes_redis(
    shared: Flask, server: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = current(shared)
    during: list[Any] = []

    def look() -> None:
        during.append((seen(shared), 0 < server.pttl(EPOCH_KEY) <= PENDING_MILLISECONDS))

    with shared.app_context():
        bump_epoch()
        assert seen(shared) == before  # nothing is said before the commit begins
        db.session().before_commit.append(look)
        db.session.commit()
    assert during == [(None, True)]
    assert seen(shared) == before + 1 == current(shared)


@pytest.mark.needs("redis")
def test_a_process_killed_between_commit_and_announcement_leaves_nothing_stale(
    shared: Flask, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = make_app(REDIS_URL=SERVICES["redis"].url)
    before = current(other)
    monkeypatch.setattr(epoch._Announcement, "_publish", lambda self, value: None)
    bump(shared)
    assert seen(other) is None
    assert current(other) == before + 1
    assert seen(other) is None  # the mark stays, and nobody replaces it by a guess


@pytest.mark.needs("redis")
def test_a_rolled_back_change_takes_its_mark_away(shared: Flask, server: redis.Redis) -> None:
    before = current(shared)
    with shared.app_context():
        bump_epoch()
        db.session.info["epoch"]._before_commit()
        assert server.get(EPOCH_KEY).startswith(b"pending:")  # type: ignore[union-attr]
        db.session.rollback()
    assert server.get(EPOCH_KEY) is None
    assert current(shared) == before == seen(shared)


@pytest.mark.needs("redis")
def test_a_savepoint_announces_nothing(shared: Flask) -> None:
    before = current(shared)
    with shared.app_context():
        with db.session.begin_nested():
            bump_epoch()
        assert seen(shared) == before
        with pytest.raises(ZeroDivisionError), db.session.begin_nested():
            bump_epoch()
            raise ZeroDivisionError
        assert seen(shared) == before
        db.session.commit()
    assert current(shared) == before + 1
    assert seen(shared) == before + 1


@pytest.mark.needs("redis")
def test_an_announcement_leaves_the_mark_of_the_next_transaction_alone(
    shared: Flask, server: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish = epoch._Announcement._publish

    def overtaken(self: Any, value: str) -> None:
        server.set(EPOCH_KEY, "pending:of-another")
        publish(self, value)

    monkeypatch.setattr(epoch._Announcement, "_publish", overtaken)
    bump(shared)
    assert server.get(EPOCH_KEY) == b"pending:of-another"
    assert seen(shared) is None


@pytest.mark.needs("redis")
def test_a_redis_that_comes_back_is_not_believed(shared: Flask, server: redis.Redis) -> None:
    link = shared.extensions["redis"]
    value = current(shared)
    link.away = True
    bump(shared)  # cannot be announced
    link.away = False
    assert seen(shared) == value
    for callback in link.on_return:
        callback()
    assert seen(shared) is None
    assert current(shared) == value + 1 == seen(shared)
