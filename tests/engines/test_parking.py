"""Connections are handed on as they are, and nobody waits beside an idle one."""

from __future__ import annotations

import os
import socket
import threading
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import Connection

from app.database import read_engine
from app.engines import postgresql
from app.engines.parking import MOST_PARKED, ParkingPool
from app.engines.readers import Readers
from app.extensions import db
from app.statements import execute, fetch_all
from app.transactions import Transaction

pytestmark = pytest.mark.only_on("postgresql")


def backend(connection: Connection) -> int:
    ((number,),) = fetch_all(connection, "SELECT pg_backend_pid()")
    return int(number)


def pool_of(app: Flask) -> ParkingPool:
    pool = read_engine().pool
    assert isinstance(pool, ParkingPool)
    return pool


def cut(connection: Connection) -> None:
    driver: Any = connection.connection.driver_connection
    with socket.socket(fileno=os.dup(driver.pgconn.socket)) as copy:
        copy.shutdown(socket.SHUT_RDWR)


def test_the_next_one_has_the_connection_and_so_has_who_asks_the_engine(app: Flask) -> None:
    with app.app_context():
        readers = Readers(read_engine())
        with readers.borrow() as first:
            number = backend(first)
        with readers.borrow() as second:
            assert second is first
        with read_engine().connect() as other:
            assert backend(other) == number
        assert first.closed


def test_a_transaction_ends_before_its_connection_is_parked(app: Flask) -> None:
    with app.app_context():
        engine = db.engine
        for end in ("commit", "rollback"):
            running = Transaction(engine)
            execute(running.connection(), "SELECT 1")
            getattr(running, end)()
            state = "SELECT pid FROM pg_stat_activity WHERE state LIKE 'idle in transaction%%'"
            with read_engine().connect() as other:
                idle = {row[0] for row in fetch_all(other, state)}
            following = Transaction(engine)
            assert backend(following.connection()) not in idle
            following.rollback()


def test_a_parked_connection_that_the_server_has_left_is_not_given_out(app: Flask) -> None:
    with app.app_context():
        readers = Readers(read_engine())
        with readers.borrow() as lost:
            number = backend(lost)
        cut(lost)
        with readers.borrow() as next_:
            assert next_ is not lost
            assert backend(next_) != number


def test_a_parked_connection_is_asked_for_a_sign_of_life(
    app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(postgresql, "PING_AFTER_SECONDS", -1)
    monkeypatch.setattr(postgresql, "_ping", lambda engine, driver: bool(asked.append(driver)))
    with app.app_context():
        readers = Readers(read_engine())
        with readers.borrow() as first:
            backend(first)
        with readers.borrow() as second:
            assert second is not first  # it gave none
    assert asked


def test_an_engine_with_options_of_its_own_parks_nothing(app: Flask) -> None:
    with app.app_context():
        db.engine.dispose()
        readers = Readers(db.engine.execution_options(isolation_level="AUTOCOMMIT"))
        with readers.borrow() as connection:
            execute(connection, "SELECT 1")
        assert connection.closed
        running = Transaction(db.engine)
        driver: Any = running.connection().connection.driver_connection
        assert driver.autocommit is False
        running.rollback()


def test_few_are_parked_and_those_who_wait_are_woken(app: Flask) -> None:
    with app.app_context():
        engine, pool = read_engine(), pool_of(app)
        engine.dispose()
        pool = pool_of(app)
        readers = Readers(engine)
        most = pool.size() + pool._max_overflow
        taken = [readers.take() for _ in range(most)]
        got: list[int] = []

        def wait() -> None:
            with engine.connect() as connection:
                got.append(backend(connection))

        thread = threading.Thread(target=wait)
        thread.start()
        readers.give_back(taken.pop())  # to the one who waits, or who comes now
        thread.join(pool._timeout + 5)
        assert len(got) == 1
        for connection in taken:
            readers.give_back(connection)
        assert len(pool._parked) == MOST_PARKED
        engine.dispose()
        assert pool._parked == []
        assert pool.checkedout() == 0
