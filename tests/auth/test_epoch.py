"""The security epoch: nobody goes on believing what has ended, whatever dies when."""

from __future__ import annotations

import sqlite3
import subprocess
import sys

import pytest
from flask import Flask
from sqlalchemy import delete, make_url

from app.auth.epoch import SqliteEpoch, bump_epoch, epoch_source
from app.db.engines import transaction
from app.extensions import db
from app.models.user import SecurityEpoch


def current(app: Flask) -> int:
    return int(epoch_source.of(app).current())


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
        session.execute(delete(SecurityEpoch))
        bump_epoch()
    assert current(app) == 1


@pytest.mark.only_on("sqlite")
def test_sqlite_is_asked_for_the_row_only_after_a_commit(app: Flask, database: str) -> None:
    path = str(make_url(database).database)
    source = SqliteEpoch(database)
    first = source.current()
    statements: list[str] = []
    assert source.connection is not None
    source.connection.set_trace_callback(statements.append)
    assert [source.current() for _ in range(3)] == [first] * 3
    assert statements == ["PRAGMA data_version"] * 3
    with sqlite3.connect(path) as other:
        other.execute("UPDATE security_epochs SET value = value + 1")
    other.close()
    assert source.current() == first + 1
    assert len(statements) == 5
    source.connection.close()
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


def test_a_savepoint_announces_nothing(app: Flask) -> None:
    before = current(app)
    with app.app_context():
        with db.session.begin_nested():
            bump_epoch()
        assert current(app) == before
        with pytest.raises(ZeroDivisionError), db.session.begin_nested():
            bump_epoch()
            raise ZeroDivisionError
        db.session.commit()
    assert current(app) == before + 1
