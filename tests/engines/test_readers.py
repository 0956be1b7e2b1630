"""Reads hand their connection on."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, create_engine, make_url, text
from sqlalchemy.exc import OperationalError

from app.engines import sqlite
from app.engines.parking import MOST_PARKED
from app.engines.readers import Readers
from app.statements import LONG, MOST_LONG, fetch_all


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    url = make_url(f"sqlite:///{tmp_path / 'a.db'}")
    writing = create_engine(url)
    with writing.begin() as connection:
        connection.execute(text("CREATE TABLE t (n INTEGER)"))
    made = create_engine(**sqlite.options(url, reading=True))
    sqlite.listen(made, reading=True)
    yield made
    made.dispose()
    writing.dispose()


def insert(engine: Engine) -> None:
    other = create_engine(engine.url)
    with other.begin() as connection:
        connection.execute(text("INSERT INTO t VALUES (1)"))
    other.dispose()


def count(readers: Readers) -> int:
    with readers.borrow() as connection:
        return int(connection.execute(text("SELECT count(*) FROM t")).scalar_one())


def test_the_next_read_has_the_same_connection_and_sees_what_was_committed(engine: Engine) -> None:
    readers = Readers(engine)
    with readers.borrow() as first:
        assert first.execute(text("SELECT count(*) FROM t")).scalar_one() == 0
    insert(engine)
    with readers.borrow() as second:
        assert second is first
        assert second.execute(text("SELECT count(*) FROM t")).scalar_one() == 1


def long_statement(number: int, characters: int) -> str:
    return f"SELECT {number} /* {'x' * characters} */"


def test_a_connection_that_keeps_many_long_statements_is_given_up(engine: Engine) -> None:
    readers = Readers(engine)
    with readers.borrow() as first:
        driver: Any = first.connection.dbapi_connection
        for _ in range(3 * MOST_LONG // LONG):  # one that comes again is kept once
            assert fetch_all(first, long_statement(0, LONG)) == [(0,)]
    with readers.borrow() as again:
        assert again is first
        for number in range(1, MOST_LONG // LONG + 1):
            assert fetch_all(again, long_statement(number, LONG)) == [(number,)]
            assert fetch_all(again, "SELECT count(*) FROM t") == [(0,)]
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        driver.execute("SELECT 1")
    with readers.borrow() as other:
        assert other is not first
        assert fetch_all(other, "SELECT count(*) FROM t") == [(0,)]
    assert engine.pool.checkedout() <= 1  # type: ignore[attr-defined]


def test_the_one_connection_that_writes_is_kept(tmp_path: Path) -> None:
    url = make_url(f"sqlite:///{tmp_path / 'b.db'}")
    made = create_engine(**sqlite.options(url, reading=False))
    sqlite.listen(made, reading=False)
    drivers = set()
    for turn in range(3):
        with made.begin() as connection:
            drivers.add(id(connection.connection.dbapi_connection))
            for number in range(MOST_LONG // LONG):
                fetch_all(connection, long_statement(turn * 1000 + number, LONG))
    assert len(drivers) == 1
    made.dispose()


def test_short_statements_are_not_counted(engine: Engine) -> None:
    readers = Readers(engine)
    for number in range(2 * MOST_LONG // LONG):
        with readers.borrow() as connection:
            fetch_all(connection, long_statement(number, LONG // 2))
    with readers.borrow() as last:
        assert last is connection


def test_two_at_once_have_two_and_few_stay_open(engine: Engine) -> None:
    readers = Readers(engine)
    taken = [readers.take() for _ in range(MOST_PARKED + 3)]
    assert len({id(connection) for connection in taken}) == MOST_PARKED + 3
    for connection in taken:
        readers.give_back(connection)
    assert sum(not connection.closed for connection in taken) == MOST_PARKED


def test_after_an_error_another_connection_is_used(engine: Engine) -> None:
    readers = Readers(engine)
    with pytest.raises(OperationalError), readers.borrow() as broken:
        broken.execute(text("SELECT nothing FROM t"))
    assert broken.closed
    assert count(readers) == 0


def test_what_is_idle_is_closed_with_the_engine(engine: Engine) -> None:
    readers = Readers(engine)
    with readers.borrow() as connection:
        pass
    engine.dispose()
    assert connection.closed
    assert count(readers) == 0


def test_what_was_borrowed_before_the_engine_was_disposed_of_is_not_kept(engine: Engine) -> None:
    readers = Readers(engine)
    with readers.borrow() as connection:
        engine.dispose()  # the engine has a new pool
    assert connection.closed
    with readers.borrow() as following:
        assert following is not connection
