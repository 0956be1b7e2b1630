"""Both engines of both databases: what a connection is told, and what happens under contention."""

from __future__ import annotations

import socket
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from flask import Flask
from sqlalchemy import Connection, Engine, select, text
from sqlalchemy.exc import DBAPIError, OperationalError

from app.config import ConfigError
from app.db import engines as database_module, postgresql, sqlite
from app.db.engines import READ, read_engine, transaction
from app.extensions import db
from app.models.event import Counter
from app.models.user import UserRole
from tests.conftest import KeepApp
from tests.databases import AWAY, close_engines

pytestmark = pytest.mark.both_databases

COUNTERS = Counter.__table__
ERROR_SECONDS = 5  # of the clock on the wall, at most, until a caller is told


def engines(app: Flask) -> tuple[Engine, Engine]:
    with app.app_context():
        return db.engine, db.engines[READ]


def counter(connection: Connection, name: str) -> int | None:
    return connection.scalar(select(COUNTERS.c.value).where(COUNTERS.c.name == name))


def settings_of(connection: Connection) -> dict[str, str]:
    if connection.dialect.name == "sqlite":
        names = ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        return {name: str(connection.exec_driver_sql(f"PRAGMA {name}").scalar()) for name in names}
    names = ("statement_timeout", "lock_timeout", "TimeZone", "jit")
    return {name: connection.exec_driver_sql(f"SHOW {name}").scalar_one() for name in names}


@pytest.mark.requirement("INS-10")
def test_every_connection_is_set_up_for_a_server(app: Flask) -> None:
    for engine in engines(app):
        with engine.connect() as connection:
            expected = (
                {"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1",
                 "busy_timeout": "30000"}
                if engine.dialect.name == "sqlite"
                else {"statement_timeout": "30s", "lock_timeout": "5s", "TimeZone": "UTC",
                      "jit": "off"}
            )  # fmt: skip
            assert settings_of(connection) == expected


def test_read_engine_cannot_write(app: Flask) -> None:
    _, reading = engines(app)
    with reading.connect() as connection, pytest.raises(DBAPIError, match=r"(?i)read-?\s?only"):
        connection.execute(COUNTERS.insert().values(name="x", value=1))


def test_read_engine_sees_what_was_committed_and_nothing_else(app: Flask) -> None:
    writing, reading = engines(app)
    with writing.connect() as writer, reading.connect() as reader:
        writer.execute(COUNTERS.insert().values(name="seen", value=1))
        assert counter(reader, "seen") is None
        writer.commit()
        assert counter(reader, "seen") == 1


def test_transaction_commits_at_the_end(app: Flask) -> None:
    with app.app_context():
        with transaction() as session:
            session.connection().execute(COUNTERS.insert().values(name="kept", value=1))
        with read_engine().connect() as connection:
            assert counter(connection, "kept") == 1


def test_transaction_rolls_back_on_an_error(app: Flask) -> None:
    with app.app_context():
        with pytest.raises(RuntimeError), transaction() as session:
            session.connection().execute(COUNTERS.insert().values(name="lost", value=1))
            raise RuntimeError
        with read_engine().connect() as connection:
            assert counter(connection, "lost") is None


@pytest.mark.requirement("RACE-16", "RACE-17")
def test_writers_wait_for_each_other_and_none_is_refused(app: Flask) -> None:
    """Read, then write, in one transaction: with a deferred BEGIN some would be "locked" here."""
    writing, _ = engines(app)
    with writing.begin() as connection:
        connection.execute(COUNTERS.insert().values(name="race", value=0))

    def add_one(_: int) -> None:
        with writing.begin() as connection:
            query = select(COUNTERS.c.value).where(COUNTERS.c.name == "race").with_for_update()
            value = connection.execute(query).scalar_one()
            connection.execute(COUNTERS.update().values(value=value + 1))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add_one, range(80)))
    with writing.connect() as connection:
        assert counter(connection, "race") == 80


def test_writers_of_other_processes_are_waited_for(app: Flask, database: str) -> None:
    """A second engine stands for a second process: it has a pool, and a connection, of its own."""
    writing, _ = engines(app)
    other = Flask("other")
    other.config["SQLALCHEMY_DATABASE_URI"] = database
    database_module.init_app(other)
    with writing.begin() as connection:
        connection.execute(COUNTERS.insert().values(name="race", value=0))

    def add_one(app_: Flask) -> None:
        with app_.app_context(), transaction() as session:
            session.connection().execute(COUNTERS.update().values(value=COUNTERS.c.value + 1))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(add_one, [app, other] * 20))
    with writing.connect() as connection:
        assert counter(connection, "race") == 40
    close_engines(other)


@pytest.mark.only_on("sqlite")
def test_who_writes_again_and_again_keeps_nobody_else_waiting(app: Flask) -> None:
    stop = threading.Event()

    def write_on() -> None:
        with app.app_context():
            while not stop.is_set():
                with transaction() as session:
                    session.connection().execute(COUNTERS.update().values(value=1))

    with ThreadPoolExecutor(2) as pool:
        writers = [pool.submit(write_on) for _ in range(2)]
        try:
            for number in range(20):
                with app.app_context(), transaction() as session:
                    session.connection().execute(
                        COUNTERS.insert().values(name=f"other {number}", value=1)
                    )
        finally:
            stop.set()
        for writer in writers:
            writer.result()
    with engines(app)[1].connect() as connection:
        assert counter(connection, "other 19") == 1


def test_broken_foreign_key_is_refused(app: Flask) -> None:
    writing, _ = engines(app)
    roles = UserRole.__table__
    with pytest.raises(DBAPIError, match=r"(?i)foreign key"), writing.begin() as connection:
        connection.execute(roles.insert().values(user_id=999, role_id=1))


@pytest.mark.requirement("OUT-05", "OUT-06")
@pytest.mark.only_on("postgresql")
def test_connection_that_the_server_closed_is_replaced_unnoticed(app: Flask) -> None:
    for engine in engines(app):
        with engine.connect() as killer:
            with engine.connect() as connection:
                victim = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one()
            killer.execute(text("SELECT pg_terminate_backend(:pid, 5000)"), {"pid": victim})
            with engine.connect() as connection:
                replaced = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one()
        assert replaced != victim


@pytest.mark.only_on("postgresql")
def test_prepared_statements_are_for_direct_connections_alone(
    app: Flask, monkeypatch: pytest.MonkeyPatch, make_app: Callable[..., Flask]
) -> None:
    """A pooler shows another process id to the client than the server's."""

    def prepared(connection: Connection) -> list[object]:
        for _ in range(8):  # more often than the driver waits for
            assert connection.execute(text("SELECT 7 + :one"), {"one": 1}).scalar_one() == 8
            planned_anew = {"prepare": False}
            connection.exec_driver_sql("SELECT 9 + %s", (1,), execution_options=planned_anew)
        held = text("SELECT statement FROM pg_prepared_statements WHERE statement LIKE '%+ %'")
        return list(connection.execute(held).scalars())

    direct, _ = engines(app)
    with direct.connect() as connection:
        assert prepared(connection) == ["SELECT 7 + $1"]
    monkeypatch.setattr(postgresql, "backend_pid_of", lambda connection: -1)
    behind_a_pooler, _ = engines(make_app())
    with behind_a_pooler.connect() as connection:
        assert prepared(connection) == []


@pytest.mark.requirement("OUT-02")
@pytest.mark.only_on("sqlite")
def test_server_that_is_away_is_an_error_within_seconds(keep_app: KeepApp) -> None:
    away = keep_app(SQLALCHEMY_DATABASE_URI=AWAY)
    began = time.monotonic()
    with pytest.raises(OperationalError), away.app_context(), read_engine().connect():
        pass
    assert time.monotonic() - began < ERROR_SECONDS


@pytest.mark.requirement("OUT-02")
@pytest.mark.only_on("sqlite")
def test_server_that_takes_a_connection_and_says_nothing_is_an_error_within_seconds(
    make_app: Callable[..., Flask],
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        away = make_app(SQLALCHEMY_DATABASE_URI=f"postgresql+psycopg://nobody@127.0.0.1:{port}/x")
        began = time.monotonic()
        with pytest.raises(OperationalError), away.app_context(), read_engine().connect():
            pass
        assert time.monotonic() - began < ERROR_SECONDS


def test_old_sqlite_is_refused_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 34, 1))
    monkeypatch.setattr(sqlite3, "sqlite_version", "3.34.1")
    with pytest.raises(ConfigError) as caught:
        sqlite.check_library()
    assert str(caught.value) == (
        "SQLite 3.38 or later is needed, this Python has 3.34.1: use a newer Python, or"
        " PostgreSQL by DATABASE_URL"
    )


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("postgresql+psycopg://u:pass-word@h/d?foo=bar", 'invalid connection option "foo"'),
        ("sqlite:////tmp/x.db?timeout=soon", "could not convert string to float: 'soon'"),
        ("sqlite:////tmp/x.db?foo=bar", "Query string argument(s) 'foo' are not accepted"),
    ],
    ids=["postgresql", "value", "sqlite"],
)
def test_an_option_that_there_is_not_stops_the_start_in_one_line(
    make_app: Callable[..., Flask], url: str, problem: str
) -> None:
    for name, setting in (
        ("DATABASE_URL", "SQLALCHEMY_DATABASE_URI"),
        ("DATABASE_REPLICA_URL", "DATABASE_REPLICA_URL"),
    ):
        with pytest.raises(ConfigError) as caught:
            make_app(**{setting: url})
        message = str(caught.value)
        assert message.startswith(f"{name} cannot be used: {problem}")
        assert "\n" not in message and "pass-word" not in message


@pytest.mark.parametrize(
    "url",
    [
        "postgresql+psycopg://u:p@h/d?sslmode=require&host=a&host=b&options=-c%20jit%3Doff",
        "sqlite:////tmp/x.db?timeout=5",
        "sqlite:////tmp/x.db?uri=true&mode=ro",
    ],
)
def test_options_that_there_are_are_taken(make_app: Callable[..., Flask], url: str) -> None:
    assert make_app(SQLALCHEMY_DATABASE_URI=url).config["SQLALCHEMY_DATABASE_URI"] == url
