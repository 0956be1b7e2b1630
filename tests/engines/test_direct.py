"""Statements through libpq: values, prepared statements, transactions and refusals."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from flask import Flask
from psycopg.errors import InFailedSqlTransaction, UniqueViolation
from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError

from app.database import read_engine
from app.engines import direct
from app.engines.postgresql import PREPARE_AFTER
from app.extensions import db
from app.statements import execute, execute_later, fetch_all, integer, settle

pytestmark = pytest.mark.only_on("postgresql")
MOMENT = datetime(2026, 3, 29, 1, 30, tzinfo=UTC)


@pytest.fixture
def connection(app: Flask) -> Iterator[Connection]:
    with app.app_context(), db.engine.connect() as made, made.begin():
        yield made


def prepared(connection: Connection) -> list[str]:
    """The statements that the server keeps for this connection, through psycopg's own cursor."""
    rows = connection.exec_driver_sql(
        "SELECT statement FROM pg_prepared_statements WHERE name LIKE 'direct_%%' ORDER BY name"
    )
    return [str(row[0]) for row in rows]


def ask(connection: Connection, sql: str, parameters: Any = (), **options: Any) -> Any:
    ((value,),) = fetch_all(connection, sql, parameters, **options)
    return value


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("text", "50 % of Ωmega 😀"), ("bigint", 2**62), ("smallint", -3), ("boolean", True),
        ("numeric", Decimal("12.340")), ("timestamptz", MOMENT), ("bytea", b"\0\xff"),
        ("text", None), ("text", ""), ("double precision", 0.1),
    ],
)  # fmt: skip
def test_values_come_back_as_they_went(connection: Connection, kind: str, value: Any) -> None:
    for _ in range(PREPARE_AFTER + 2):  # by itself, and as a prepared statement
        assert ask(connection, f"SELECT %s::{kind}", (value,)) == value
        assert ask(connection, f"SELECT %(it)s::{kind}", {"it": value, "more": 1}) == value


def test_names_may_stand_twice_and_percent_signs_stay(connection: Connection) -> None:
    sql = "SELECT %(a)s::int * 10 + %(b)s::int + %(a)s::int %% 4, '100%%'"
    assert fetch_all(connection, sql, {"b": 2, "a": 3}) == [(35, "100%")]


def test_what_is_asked_often_is_prepared_once(connection: Connection) -> None:
    sql = "SELECT %s::int + 41"
    for count in range(1, PREPARE_AFTER + 4):
        assert ask(connection, sql, (count,)) == count + 41
        known = [text for text in prepared(connection) if "+ 41" in text]
        assert len(known) == (count > PREPARE_AFTER)


def test_what_values_decide_is_planned_each_time(connection: Connection) -> None:
    for _ in range(PREPARE_AFTER + 3):
        assert ask(connection, "SELECT %s::int + 42", (1,), prepare=False) == 43
    assert not [text for text in prepared(connection) if "+ 42" in text]


def test_the_oldest_statement_makes_room(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(direct, "MOST_PREPARED", 3)
    for number in range(50, 56):
        for _ in range(PREPARE_AFTER + 1):
            ask(connection, f"SELECT %s::int + {number}", (1,))
    left = prepared(connection)
    assert len([text for text in left if "$1" in text]) == 3
    assert not any("+ 50" in text for text in left)
    assert any("+ 55" in text for text in left)
    assert ask(connection, "SELECT %s::int + 50", (1,)) == 51


def test_statements_without_values_stay_prepared(
    app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(direct, "MOST_PREPARED", 1)
    with app.app_context(), read_engine().connect() as reading:
        for _ in range(PREPARE_AFTER + 1):
            assert integer(reading, "SELECT 7 + 53") == 60
        for number in (60, 61):
            for _ in range(PREPARE_AFTER + 1):
                ask(reading, f"SELECT %s::int + {number}", (1,))
        assert [text for text in prepared(reading) if "7 + 53" in text]
        with pytest.raises(DBAPIError, match="nowhere"):
            integer(reading, "SELECT count(*) FROM nowhere")
        assert integer(reading, "SELECT 7 + 53") == 60


def test_a_number_is_read_inside_the_transaction_where_there_is_one(
    connection: Connection,
) -> None:
    execute(connection, "CREATE TEMPORARY TABLE numbers (value int) ON COMMIT DROP")
    execute_later(connection, "INSERT INTO numbers VALUES (%s)", (7,))
    assert integer(connection, "SELECT count(*) FROM numbers") == 1


def test_what_is_prepared_outlives_a_rollback_and_a_drop(app: Flask) -> None:
    sql = "SELECT %s::int + 43"
    with app.app_context(), db.engine.connect() as connection:
        for _ in range(PREPARE_AFTER + 2):
            with connection.begin() as part:
                assert ask(connection, sql, (1,)) == 44
                connection.execute(text("CREATE TEMPORARY TABLE passing (id int)"))
                connection.execute(text("SELECT id FROM passing WHERE id = :id"), {"id": 1})
                connection.execute(text("DROP TABLE passing"))
                part.rollback()
        with connection.begin():
            assert [known for known in prepared(connection) if "+ 43" in known]


def test_rows_are_given_once_and_counted(connection: Connection) -> None:
    rows = execute(connection, "SELECT n, n * 2 AS twice FROM generate_series(1, 3) AS s(n)")
    assert [name for name, _ in rows.description] == ["n", "twice"]
    assert (rows.fetchone(), rows.fetchall(), rows.fetchone()) == ((1, 2), [(2, 4), (3, 6)], None)
    execute(connection, "CREATE TEMPORARY TABLE kept (name text UNIQUE) ON COMMIT DROP")
    made = execute(connection, "INSERT INTO kept VALUES ('a'), ('b')")
    assert (made.rowcount, made.fetchone()) == (2, None)
    assert execute(connection, "UPDATE kept SET name = 'c' WHERE name = 'x'").rowcount == 0


def test_a_refusal_is_the_error_of_sqlalchemy_and_leaves_nothing(connection: Connection) -> None:
    execute(connection, "CREATE TEMPORARY TABLE once (name text CONSTRAINT one_name UNIQUE)")
    with connection.begin_nested() as part:
        execute(connection, "INSERT INTO once VALUES (%s)", ("a",))
        with pytest.raises(IntegrityError) as refused:
            execute(connection, "INSERT INTO once VALUES (%s)", ("a",))
        with pytest.raises(DBAPIError) as later:
            ask(connection, "SELECT 1")
        part.rollback()
    assert isinstance(refused.value.orig, UniqueViolation)
    assert refused.value.orig.diag.constraint_name == "one_name"
    assert isinstance(later.value.orig, InFailedSqlTransaction)
    assert ask(connection, "SELECT count(*) FROM once") == 0


def test_a_transaction_begins_with_the_first_statement_of_a_writer(app: Flask) -> None:
    with app.app_context(), db.engine.connect() as writer, read_engine().connect() as reader:
        with writer.begin():
            moments = {ask(writer, "SELECT transaction_timestamp()::text") for _ in range(2)}
        assert len(moments) == 1
        with writer.begin():
            assert ask(writer, "SELECT transaction_timestamp()::text") not in moments
        alone = {ask(reader, "SELECT transaction_timestamp()::text") for _ in range(2)}
        assert len(alone) == 2


def test_a_lost_connection_is_an_error_of_the_driver(app: Flask) -> None:
    with app.app_context(), db.engine.connect() as lost:
        number = ask(lost, "SELECT pg_backend_pid()")
        with db.engine.connect() as other:
            assert ask(other, "SELECT pg_terminate_backend(%s::int)", (number,)) is True
        with pytest.raises(DBAPIError):
            ask(lost, "SELECT 1")
    with app.app_context(), db.engine.connect() as next_:
        assert ask(next_, "SELECT 1") == 1


@pytest.mark.parametrize("sql", ["SELECT 1", "COMMIT"])
def test_a_connection_that_is_cut_off_is_the_fault_of_the_server(app: Flask, sql: str) -> None:
    with app.app_context(), db.engine.connect() as connection:
        ask(connection, "SELECT 1")
        driver: Any = connection.connection.driver_connection
        with socket.socket(fileno=os.dup(driver.pgconn.socket)) as cut:
            cut.shutdown(socket.SHUT_RDWR)
        for _ in range(2):  # while it goes, and when it has gone
            with pytest.raises(OperationalError):
                execute(connection, sql)
        connection.invalidate()


@pytest.fixture
def names(app: Flask) -> Iterator[str]:
    """A table that other connections see, too."""
    table = "names_to_write_later"
    with app.app_context():
        with db.engine.begin() as made:
            made.execute(text(f"CREATE TABLE {table} (name text CONSTRAINT one_later UNIQUE)"))
        yield table
        with db.engine.begin() as made:
            made.execute(text(f"DROP TABLE {table}"))


def committed(table: str) -> list[str]:
    with read_engine().connect() as other:
        return [name for (name,) in fetch_all(other, f"SELECT name FROM {table} ORDER BY name")]


def later(connection: Connection, table: str, name: str) -> None:
    execute_later(connection, f"INSERT INTO {table} VALUES (%s::text)", (name,))


def test_what_nobody_awaits_is_there_for_the_next_statement_and_the_commit(names: str) -> None:
    with db.engine.connect() as connection:
        with connection.begin():
            later(connection, names, "a")
            assert ask(connection, f"SELECT count(*) FROM {names}") == 1
            later(connection, names, "b")
            assert connection.execute(text(f"SELECT count(*) FROM {names}")).scalar_one() == 2
            later(connection, names, "c")
            assert committed(names) == []
        assert committed(names) == ["a", "b", "c"]
        with connection.begin():  # nothing else in the transaction
            later(connection, names, "d")
        assert committed(names) == ["a", "b", "c", "d"]


def test_what_is_undone_was_never_run(names: str) -> None:
    with db.engine.connect() as connection:
        with connection.begin() as part:
            ask(connection, "SELECT 1")
            later(connection, names, "a")
            part.rollback()
        with connection.begin():
            later(connection, names, "b")
            with connection.begin_nested() as inner:
                later(connection, names, "c")
                inner.rollback()
            later(connection, names, "d")
        assert committed(names) == ["b", "d"]


@pytest.mark.parametrize("way", ["statement", "cursor", "settle", "commit"])
def test_a_refusal_comes_out_with_what_follows_and_nothing_stays(names: str, way: str) -> None:
    follows: dict[str, Callable[[Connection], object]] = {
        "statement": lambda connection: ask(connection, "SELECT 1"),
        "cursor": lambda connection: connection.execute(text("SELECT 1")),
        "settle": settle,
        "commit": lambda connection: None,
    }
    with (
        db.engine.connect() as connection,
        pytest.raises(IntegrityError) as refused,
        connection.begin(),
    ):
        later(connection, names, "a")
        later(connection, names, "a")
        later(connection, names, "b")
        follows[way](connection)
    assert isinstance(refused.value.orig, UniqueViolation)
    assert refused.value.orig.diag.constraint_name == "one_later"
    assert committed(names) == []
    with db.engine.connect() as connection, connection.begin():
        later(connection, names, "a")
    assert committed(names) == ["a"]


def test_large_statements_go_together_too(names: str) -> None:
    with db.engine.connect() as connection, connection.begin():
        execute(connection, f"ALTER TABLE {names} DROP CONSTRAINT one_later")
        for letter in "abc":
            later(connection, names, letter * 3_000_000)
        rows = fetch_all(connection, f"SELECT name FROM {names} ORDER BY name")
    assert [(row[0][0], len(row[0])) for row in rows] == [(letter, 3_000_000) for letter in "abc"]


def test_a_connection_cut_off_with_statements_due_is_the_fault_of_the_server(names: str) -> None:
    with db.engine.connect() as connection:
        ask(connection, "SELECT 1")
        driver: Any = connection.connection.driver_connection
        with socket.socket(fileno=os.dup(driver.pgconn.socket)) as cut:
            cut.shutdown(socket.SHUT_RDWR)
        later(connection, names, "a")
        with pytest.raises(OperationalError):
            ask(connection, "SELECT 1")
        connection.invalidate()
    assert committed(names) == []
    with db.engine.connect() as connection, connection.begin():
        later(connection, names, "b")
    assert committed(names) == ["b"]


def test_others_run_while_the_server_thinks(names: str) -> None:
    """The wait for statements that went together holds no lock of the interpreter."""
    passed = threading.Event()
    with db.engine.connect() as connection, connection.begin():
        later(connection, names, "a")
        threading.Timer(0.05, passed.set).start()
        ask(connection, "SELECT pg_sleep(0.5) IS NULL")
        assert passed.is_set()
