"""Connections of SQLite: what one that reads may keep."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, create_engine, make_url

from app.db import sqlite
from app.db.sqlite import LONG, MOST_LONG


@pytest.fixture(params=[True, False], ids=["reading", "writing"])
def engine(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Engine]:
    url = make_url(f"sqlite:///{tmp_path / 'a.db'}")
    create_engine(url).connect().close()
    new_engine = create_engine(**sqlite.options(url, reading=request.param))
    sqlite.listen(new_engine, reading=request.param)
    yield new_engine
    new_engine.dispose()


def long_statement(number: int, characters: int) -> str:
    return f"SELECT {number} /* {'x' * characters} */"


def ask(engine: Engine, *statements: str) -> int:
    """Run statements; the identity of the driver's connection that did."""
    with engine.connect() as connection:
        for sql in statements:
            connection.exec_driver_sql(sql).all()
        return id(connection.connection.driver_connection)


def test_a_reading_connection_that_keeps_many_long_statements_is_given_up(
    engine: Engine, request: pytest.FixtureRequest
) -> None:
    is_reading = request.node.callspec.params["engine"]
    first = ask(engine, *[long_statement(0, LONG)] * (3 * MOST_LONG // LONG))
    # One that comes again is kept once; short ones are not counted.
    short = [long_statement(number, LONG // 2) for number in range(2 * MOST_LONG // LONG)]
    assert ask(engine, *short) == first
    with engine.connect() as connection:
        pool_record = connection.connection.driver_connection
        for number in range(MOST_LONG // LONG + 1):
            sql = long_statement(number, LONG)
            assert connection.exec_driver_sql(sql).scalar_one() == number
        assert id(pool_record) == first
    with engine.connect() as connection:
        assert (connection.connection.driver_connection is not pool_record) == is_reading
