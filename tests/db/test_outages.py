"""What is said of a database that cannot be used."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from psycopg import errors
from sqlalchemy.exc import (
    IntegrityError,
    InternalError,
    OperationalError,
    ProgrammingError,
    SQLAlchemyError,
)
from structlog.testing import capture_logs

from app.db.outages import is_away, problem_for_operator, reason_of
from app.http.error_answers import from_database


def failed(path: Path, statement: str) -> OperationalError:
    """What SQLite says of ``statement``."""
    try:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(statement)
    except sqlite3.OperationalError as error:
        return OperationalError(statement, {}, error)
    raise AssertionError(statement)


@pytest.mark.parametrize(
    ("error", "away", "told"),
    [
        (OperationalError("", {}, psycopg.OperationalError("refused\nmore")), True, "refused"),
        (InternalError("", {}, errors.ReadOnlySqlTransaction("read-only")), True, "read-only"),
        (ProgrammingError("", {}, errors.InsufficientPrivilege("no right")), False, "no right"),
        (ProgrammingError("", {}, errors.InvalidSchemaName("no schema")), False, "no schema"),
        (ProgrammingError("", {}, errors.UndefinedColumn("no column")), False, None),
    ],
    ids=["away", "a standby", "no right", "no schema", "a mistake of ours"],
)
def test_what_an_operator_can_mend_is_told_in_a_line(
    error: SQLAlchemyError, away: bool, told: str | None
) -> None:
    assert is_away(error) is away
    assert problem_for_operator(error) == told


def test_sqlite_is_told_apart_by_its_codes(tmp_path: Path) -> None:
    away = failed(tmp_path, "SELECT 1")  # a folder in the place of the file
    assert (is_away(away), problem_for_operator(away)) == (True, "unable to open database file")
    wrong = failed(tmp_path / "x.db", "SELCT 1")
    assert (is_away(wrong), problem_for_operator(wrong)) == (False, None)
    missing = failed(tmp_path / "x.db", "SELECT 1 FROM clients")
    assert "db upgrade` first: no such table: clients" in (problem_for_operator(missing) or "")


def full(path: Path) -> OperationalError:
    """What SQLite says when there is no room."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA max_page_count = 2")
        connection.execute("CREATE TABLE t (x)")
        try:
            connection.execute("INSERT INTO t VALUES (zeroblob(100000))")
        except sqlite3.OperationalError as error:
            return OperationalError("INSERT", {}, error)
    raise AssertionError("it had room")


def test_a_full_disk_is_told_whatever_failed_after_it(tmp_path: Path) -> None:
    first = full(tmp_path / "x.db")
    first.__cause__ = first.orig
    after = failed(tmp_path / "x.db", "ROLLBACK TO x")
    assert problem_for_operator(after) is None
    after.__context__ = first
    for error in (first, after):
        assert problem_for_operator(error) == "the disk is full, or the quota of the data folder"


@pytest.mark.parametrize(
    "said",
    ["My disk is full", "no such table: invoices", 'relation "x" does not exist'],
)
def test_a_value_of_a_row_is_no_reason(said: str) -> None:
    said = f'duplicate key value violates unique constraint "documents_title" ({said})'
    error = IntegrityError("INSERT", {"title": said}, errors.UniqueViolation(said))
    error.__cause__ = error.orig
    assert problem_for_operator(error) is None
    theirs = IntegrityError("INSERT", {"title": said}, sqlite3.IntegrityError(said))
    theirs.__cause__ = theirs.orig
    assert problem_for_operator(theirs) is None


def test_a_server_is_understood_in_any_language() -> None:
    said = errors.UndefinedTable("Relation »clients« existiert nicht")
    told = problem_for_operator(ProgrammingError("SELECT", {}, said)) or ""
    assert told == f"it is not migrated, run `flask --app wsgi db upgrade` first: {said}"


def test_a_reason_is_one_line_without_values() -> None:
    error = OperationalError("INSERT INTO t", {"x": "value"}, psycopg.OperationalError(""))
    assert "value" not in reason_of(error)
    assert "\n" not in reason_of(error)


def test_the_log_says_why_callers_are_refused() -> None:
    error = OperationalError("", {}, psycopg.OperationalError("password authentication failed"))
    with capture_logs() as lines:
        assert from_database(error, "GET") is not None
    assert lines == [
        {
            "event": "the database cannot be used",
            "reason": "password authentication failed",
            "log_level": "warning",
        }
    ]
