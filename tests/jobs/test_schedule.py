"""The jobs that come round by the clock."""

from __future__ import annotations

import logging
import socket
from datetime import datetime, timedelta
from pkgutil import resolve_name
from types import SimpleNamespace
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import insert, select
from sqlalchemy.orm import Session as OrmSession

from app.clock import utc_now
from app.extensions import db
from app.jobs.schedule import BATCH, SCHEDULE, PeriodicJob, remove_expired, waiting_jobs
from app.jobs.worker import BriefOnOutages, build_queue, run_job
from app.models.event import IdempotencyRecord
from app.models.report import QuestionSession
from app.models.user import LoginGuard, RefreshToken, Session, User
from tests.services import SERVICES
from tests.waiting import until


def add(app: Flask, model: Any, *rows: dict[str, Any]) -> None:
    with app.app_context(), db.engine.begin() as connection:
        connection.execute(insert(model.__table__), list(rows))


def keyed(number: int, **values: Any) -> dict[str, Any]:
    return {
        "created_at": utc_now(), "principal": "user:1", "key": f"k{number}", "fingerprint": "f",
        **values,
    }  # fmt: skip


@pytest.mark.requirement("OPS-11")
def test_expired_idempotency_records_go_however_many(app: Flask, session: OrmSession) -> None:
    before, later = utc_now() - timedelta(minutes=1), utc_now() + timedelta(hours=1)
    rows = [keyed(number, expires_at=before) for number in range(BATCH + 20)]
    add(app, IdempotencyRecord, *rows, keyed(-1, expires_at=later))
    with app.app_context():
        assert remove_expired() == BATCH + 20
    assert session.scalars(select(IdempotencyRecord.key)).all() == ["k-1"]


@pytest.mark.requirement("OPS-11")
def test_sessions_go_with_their_tokens_a_month_after_their_end(
    app: Flask, session: OrmSession
) -> None:
    now = utc_now()
    add(app, User, {"created_at": now, "updated_at": now, "username": "ann",
                    "username_key": "ann", "display_name": "Ann"})  # fmt: skip
    for key, days in (("old", 31), ("new", 29)):
        add(app, Session, {"created_at": now, "key": key, "user_id": 1, "last_seen_at": now,
                           "expires_at": now - timedelta(days=days)})  # fmt: skip
    add(app, RefreshToken, *(
        {"created_at": now, "session_id": number, "token_hash": str(number), "expires_at": now}
        for number in (1, 2)
    ))  # fmt: skip
    add(app, QuestionSession, *(
        {"created_at": now, "key": key, "user_id": 1, "updated_at": now - timedelta(days=days)}
        for key, days in (("old", 31), ("new", 29))
    ))  # fmt: skip
    with app.app_context():
        assert remove_expired() == 2
    assert session.scalars(select(QuestionSession.key)).all() == ["new"]
    assert session.scalars(select(Session.key)).all() == ["new"]
    assert session.scalars(select(RefreshToken.token_hash)).all() == ["2"]


def test_guard_of_a_locked_name_stays(app: Flask, session: OrmSession) -> None:
    old = utc_now() - timedelta(days=2)
    add(
        app, LoginGuard,
        {"name_key": "locked", "window_started_at": old,
         "locked_until": utc_now() + timedelta(hours=1)},
        {"name_key": "free", "window_started_at": old, "locked_until": None},
        {"name_key": "recent", "window_started_at": utc_now(), "locked_until": None},
    )  # fmt: skip
    with app.app_context():
        assert remove_expired() == 1
    assert set(session.scalars(select(LoginGuard.name_key))) == {"locked", "recent"}


@pytest.mark.only_on("sqlite")
def test_every_periodic_job_is_registered(app: Flask) -> None:
    queue = build_queue(app)
    minutes = (datetime(2026, 6, 17) + timedelta(minutes=at) for at in range(24 * 60))
    names = {task.name for minute in minutes for task in queue.read_periodic(minute)}
    assert names == {job.name for job in SCHEDULE}
    assert all(callable(resolve_name(job.run)) for job in SCHEDULE)
    queue.storage.close()


@pytest.mark.only_on("sqlite")
@pytest.mark.parametrize(
    "is_in_redis", [False, pytest.param(True, marks=pytest.mark.needs("redis"))]
)
def test_what_waits_is_counted_without_the_library(
    app: Flask, is_in_redis: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if is_in_redis:
        monkeypatch.setitem(app.config, "REDIS_URL", SERVICES["redis"].url)
    assert waiting_jobs(app) == 0
    queue = build_queue(app)
    task = queue.task()(abs)
    task(1)
    task(2)
    assert waiting_jobs(app) == queue.pending_count() == 2
    queue.flush()
    assert waiting_jobs(app) == 0
    queue.storage.close()


@pytest.mark.only_on("sqlite")
def test_job_that_fails_leaves_the_worker_running(app: Flask) -> None:
    RUNS.clear()
    run_job(app, PeriodicJob("fails", 1, f"{__name__}:fail"))
    assert RUNS == [1]


RUNS: list[int] = []


def fail() -> None:
    """A job that fails."""
    RUNS.append(1)
    raise RuntimeError("no luck")


def _errors(caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    return [record for record in caplog.records if record.levelname == "ERROR"]


@pytest.mark.only_on("sqlite")
def test_a_queue_that_is_away_is_a_line_a_minute_that_says_redis(
    app: Flask, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts: list[str] = []

    def note(record: logging.LogRecord) -> bool:
        attempts.append(record.name)
        return True

    for name in ("Worker", "Scheduler"):  # as in a new process
        monkeypatch.setattr(logging.getLogger(f"huey.consumer.{name}"), "filters", [note])
    with socket.socket() as closed:  # bound, and nobody listens
        closed.bind(("127.0.0.1", 0))
        url = f"redis://127.0.0.1:{closed.getsockname()[1]}/0"
        monkeypatch.setitem(app.config, "REDIS_URL", url)
        consumer = build_queue(app).create_consumer(workers=1)
        for thread in (*(thread for _, thread in consumer.worker_threads), consumer.scheduler):
            thread.start()
        # Of the queue and of the schedule; and of each job that is due now.
        until(lambda: len(set(attempts)) == 2 and len(attempts) > 3)
        (line,) = _errors(caplog)
        assert line.getMessage().startswith("Redis cannot be used: ") and line.exc_info is None
        assert "refused" in line.getMessage()
        consumer.stop(graceful=True)
    fails = logging.getLogger("huey.consumer.Worker").makeRecord(
        "huey", logging.ERROR, "", 0, "a mistake", (), (KeyError, KeyError("x"), None)
    )
    assert BriefOnOutages().filter(fails) and fails.exc_info


def test_a_minute_after_a_line_of_an_outage_there_is_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    brief, now = BriefOnOutages(), 1000.0
    monkeypatch.setattr("app.jobs.worker.time", SimpleNamespace(monotonic=lambda: now))
    lines = []
    for now in (1000.0, 1001.0, 1059.0, 1060.0, 1061.0):
        error = (OSError, OSError("no room"), None)
        record = logging.makeLogRecord({"msg": "Error reading from queue", "exc_info": error})
        if brief.filter(record):
            lines.append((now, record.getMessage()))
    message = "The queue of jobs cannot be used: no room"
    assert lines == [(1000.0, message), (1060.0, message)]
