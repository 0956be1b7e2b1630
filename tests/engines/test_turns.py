"""Writers of a process take turns, in the order in which they came."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest
from sqlalchemy import Engine, create_engine, event, text
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from app.engines.turns import Turns, TurnsPool
from app.transactions import Transaction
from tests.waiting import until


def test_turns_are_handed_on_in_order() -> None:
    turns, order = Turns(), []
    assert turns.take(1)
    threads = []
    for number in range(5):

        def work(number: int = number) -> None:
            assert turns.take(5)
            order.append(number)
            turns.pass_on()

        thread = threading.Thread(target=work)
        thread.start()
        threads.append(thread)
        until(lambda number=number: len(turns._waiting) == number + 1)
    turns.pass_on()
    for thread in threads:
        thread.join(5)
    assert order == list(range(5))


def test_one_who_has_ended_does_not_come_before_one_who_waits() -> None:
    turns, order = Turns(), []
    assert turns.take(1)

    def wait() -> None:
        assert turns.take(5)
        order.append("waiter")
        turns.pass_on()

    thread = threading.Thread(target=wait)
    thread.start()
    until(lambda: turns._waiting)
    turns.pass_on()
    assert turns.take(5)  # at once again, with no rest between
    order.append("again")
    turns.pass_on()
    thread.join(5)
    assert order == ["waiter", "again"]


def test_who_gives_up_keeps_nobody_waiting() -> None:
    turns = Turns()
    assert turns.take(1)
    assert not turns.take(0.01)
    turns.pass_on()
    assert turns.take(0.01)


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    """A database with one writing connection."""
    return create_engine(
        f"sqlite:///{tmp_path / 'a.db'}", poolclass=TurnsPool, pool_size=1, max_overflow=0,
        pool_timeout=0.1, connect_args={"check_same_thread": False},
    )  # fmt: skip


def test_a_connection_that_is_detached_broken_or_thrown_away_ends_its_turn(engine: Engine) -> None:
    with engine.connect() as connection:
        connection.execute(text("SELECT 1"))
    with engine.connect() as connection:
        connection.invalidate()
    detached = engine.connect()
    detached.detach()
    with engine.connect() as connection:
        with pytest.raises(PoolTimeoutError, match="no turn"):
            engine.connect()
        assert connection.execute(text("SELECT 1")).scalar() == 1
    detached.close()
    engine.dispose()
    with engine.connect() as connection:
        assert connection.execute(text("SELECT 1")).scalar() == 1
    engine.dispose()


def test_a_database_that_cannot_be_opened_ends_the_turn(tmp_path: Path) -> None:
    engine = create_engine(
        f"sqlite:///{tmp_path / 'missing' / 'a.db'}", poolclass=TurnsPool, pool_size=1,
        max_overflow=0, pool_timeout=0.1,
    )  # fmt: skip
    for _ in range(3):
        with pytest.raises(Exception, match="unable to open"):
            engine.connect()


@pytest.mark.requirement("RACE-17")
def test_nobody_is_left_waiting_under_load(engine: Engine) -> None:
    """Eight threads write again and again, from when all are there: each has its share."""
    counts = [0] * 8
    patient = engine.execution_options()
    patient.pool._timeout = 10.0  # type: ignore[attr-defined]
    begun = threading.Barrier(8)

    def work(place: int) -> None:
        begun.wait(20)
        while sum(counts) < 400:
            with patient.connect() as connection:
                connection.execute(text("SELECT 1"))
                busy = time.perf_counter() + 0.002
                while time.perf_counter() < busy:
                    pass
            counts[place] += 1

    threads = [threading.Thread(target=work, args=(place,)) for place in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    engine.dispose()
    assert min(counts) >= max(counts) / 2 > 1


def work_once(engine: Engine, *, fail: bool = False) -> object:
    """A transaction as services have it; returns the driver's connection."""
    running = Transaction(engine)
    driver = running.connection().connection.dbapi_connection
    running.execute(text("INSERT INTO t VALUES (1)"))
    if fail:
        running.rollback()
    else:
        running.commit()
    return driver


def rows(engine: Engine) -> int:
    with engine.connect() as connection:
        return int(connection.execute(text("SELECT count(*) FROM t")).scalar_one())


def test_a_transaction_takes_the_connection_of_the_one_before(engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE t (a)"))
    pool = engine.pool
    assert isinstance(pool, TurnsPool)
    assert work_once(engine) is work_once(engine, fail=True) is work_once(engine)
    assert pool.checkedout() == 1  # kept, in nobody's turn
    assert rows(engine) == 2  # whoever asks the engine gets it
    assert pool.checkedout() == 0
    work_once(engine)
    engine.dispose()
    assert pool.checkedout() == 0
    assert rows(engine) == 3
    engine.dispose()


def test_a_kept_connection_has_one_turn_at_a_time(engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE t (a)"))
    work_once(engine)
    running = Transaction(engine)
    running.execute(text("INSERT INTO t VALUES (1)"))
    for attempt in (lambda: Transaction(engine).connection(), engine.connect):
        with pytest.raises(PoolTimeoutError, match="no turn"):
            attempt()
    engine.dispose()  # nobody's connection is closed under them
    running.commit()
    assert rows(engine) == 2
    engine.dispose()


def test_who_waited_takes_the_kept_connection_as_well(engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE t (a)"))
    pool = engine.pool
    assert isinstance(pool, TurnsPool)
    returns: list[object] = []
    event.listen(pool, "reset", lambda *arguments: returns.append(arguments))
    running = Transaction(engine)
    first = running.connection().connection.dbapi_connection
    taken: list[object] = []
    waiter = threading.Thread(target=lambda: taken.append(work_once(engine)))
    waiter.start()
    until(lambda: len(pool._turns._waiting) == 1)
    running.commit()
    waiter.join(5)
    assert taken == [first]
    assert not returns  # it was not put back between the two
    engine.dispose()


def test_a_broken_connection_is_not_kept(engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE t (a)"))
    running = Transaction(engine)
    running.connection().invalidate()
    running.rollback()
    assert work_once(engine) is work_once(engine)
    assert rows(engine) == 2
    engine.dispose()


def test_a_connection_goes_back_to_the_pool_it_came_from(engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE t (a)"))
    running = Transaction(engine)
    running.execute(text("INSERT INTO t VALUES (1)"))
    engine.dispose()  # the engine has a new pool
    with engine.connect():
        running.commit()
        with pytest.raises(PoolTimeoutError, match="no turn"):
            engine.connect()
    assert rows(engine) == 1
    engine.dispose()
