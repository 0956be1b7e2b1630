"""A PostgreSQL that is frozen: who waits for it is let go, and it is used again when it answers."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, create_engine, make_url, text
from sqlalchemy.exc import DBAPIError

from app.config import database_url
from app.db import postgresql
from app.db.postgresql import SUSPICIOUS_SECONDS
from tests.faults.servers import PostgreSQL, free_ports, running


@pytest.fixture
def cluster() -> Iterator[PostgreSQL]:
    with tempfile.TemporaryDirectory(prefix="frozen-") as name:
        server = PostgreSQL(Path(name), next(free_ports()))
        with running(server):
            yield server
            server.thaw()


@pytest.fixture
def engine(cluster: PostgreSQL) -> Iterator[Engine]:
    url = make_url(database_url(f"{cluster.url}/postgres"))
    new_engine = create_engine(**postgresql.options(url, reading=True))
    postgresql.listen(new_engine, reading=True)
    yield new_engine
    new_engine.dispose()


def answer(engine: Engine) -> int | None:
    with engine.connect() as connection:
        return connection.execute(text("SELECT 1")).scalar()


def failure(engine: Engine) -> DBAPIError:
    with pytest.raises(DBAPIError) as caught:
        answer(engine)
    return caught.value


@pytest.mark.requirement("OUT-02", "OUT-05")
def test_who_waits_for_a_frozen_server_is_let_go(engine: Engine, cluster: PostgreSQL) -> None:
    assert answer(engine) == 1
    cluster.freeze()
    assert failure(engine).connection_invalidated  # it was in use; nothing thaws the server
    # Those who come later are refused, and do not wait until a connection attempt gives up.
    refusals = [str(failure(engine).orig) for _ in range(3)]
    assert refusals == ["the server is silent"] * 3
    cluster.thaw()
    deadline = time.monotonic() + 60
    while True:
        try:
            assert answer(engine) == 1
            break
        except DBAPIError:
            assert time.monotonic() < deadline
            time.sleep(0.1)


def test_a_slow_statement_is_left_alone(engine: Engine) -> None:
    with engine.connect() as connection:
        slow = text(f"SELECT 2 FROM pg_sleep({2 * SUSPICIOUS_SECONDS})")
        assert connection.execute(slow).scalar() == 2


@pytest.mark.requirement("OUT-05")
def test_a_server_that_answers_late_is_not_silent(
    engine: Engine, cluster: PostgreSQL, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stall that ends before the answer to a new connection is due costs nobody a statement."""
    monkeypatch.setattr(postgresql, "ANSWER_SECONDS", 30)
    with engine.connect() as connection:
        cluster.freeze()
        thaw = threading.Timer(SUSPICIOUS_SECONDS + 4, cluster.thaw)
        thaw.start()
        assert connection.execute(text("SELECT 3")).scalar() == 3
        thaw.join()


def test_a_server_that_is_away_is_not_silent(engine: Engine, cluster: PostgreSQL) -> None:
    assert answer(engine) == 1
    cluster.stop()
    failure(engine)
    cluster.start()
    assert answer(engine) == 1


def test_no_thread_stays_without_connections_in_use(engine: Engine) -> None:
    of_others = set(threading.enumerate())
    assert answer(engine) == 1
    (watching,) = set(threading.enumerate()) - of_others
    assert watching.name == "database-watch"
    watching.join(60)
    assert not watching.is_alive()
