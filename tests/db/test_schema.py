"""A service that is started before its database is migrated."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import flask_migrate
import pytest
import structlog
from flask import Flask

from app.db.engines import primary_engine
from app.db.schema import has_all_tables, wait_for_tables
from tests.waiting import until

MakeApp = Callable[..., Flask]


def test_a_migrated_database_has_all_tables(app: Flask) -> None:
    with app.app_context(), primary_engine().connect() as connection:
        assert has_all_tables(connection)


@pytest.fixture
def empty(make_app: MakeApp, tmp_path: Path) -> Flask:
    """A service whose database has no tables."""
    return make_app(SQLALCHEMY_DATABASE_URI=f"sqlite:///{tmp_path / 'empty.db'}")


@pytest.mark.only_on("sqlite")
def test_it_is_waited_for_with_one_line_until_it_is_migrated(empty: Flask) -> None:
    with structlog.testing.capture_logs() as lines:
        waiting = threading.Thread(target=wait_for_tables, args=(empty, 0.05), daemon=True)
        waiting.start()
        until(lambda: bool(lines))
        waiting.join(0.3)
        assert waiting.is_alive()
        with empty.app_context():
            flask_migrate.upgrade()
        waiting.join(10)
    assert not waiting.is_alive()
    assert [line["event"] for line in lines] == ["waiting for the database"]
    assert lines[0]["reason"].startswith("it is not migrated")


@pytest.mark.only_on("sqlite")
def test_a_web_process_is_not_ready_before_it_is_migrated(empty: Flask) -> None:
    answer = empty.test_client().get("/readyz")
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
    assert answer.json["checks"]["database"] == "not migrated"
    assert empty.test_client().get("/healthz").status_code == 200


@pytest.mark.only_on("sqlite")
def test_the_log_says_why_a_database_cannot_be_used(
    make_app: MakeApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(seconds: float) -> None:
        raise InterruptedError

    monkeypatch.setattr("app.db.schema.time.sleep", stop)
    away = make_app(SQLALCHEMY_DATABASE_URI=f"sqlite:///{tmp_path}")
    with structlog.testing.capture_logs() as lines, pytest.raises(InterruptedError):
        wait_for_tables(away)
    assert lines[0]["reason"] == "it cannot be used: unable to open database file"
