"""What comes round by the clock: the schedule, and the work that only the clock asks for.

Knows the queue of the scheduler (Huey) without loading it: that brings the drivers of
every database that it knows, which only the worker needs (app/jobs/worker.py).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import structlog
from flask import Flask
from sqlalchemy import ColumnElement, Select, Table, delete, exists, or_, select, update

from app.clock import utc_now
from app.db import records
from app.db.engines import primary_engine, read_engine, transaction
from app.db.types import AnyRow
from app.extensions import Model
from app.http.security import acting_as, system_caller
from app.jobs.leases import is_stopping
from app.models.event import Setting

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class PeriodicJob:
    """A job that every worker process starts every ``minutes`` minutes: twice must do no harm.

    ``run`` is ``module:function``; what that returns says how much there was to do, for the log.
    """

    name: str
    minutes: int
    run: str


SCHEDULE = (
    PeriodicJob("heartbeat", 1, "app.jobs.schedule:beat"),
    PeriodicJob("remove-expired", 10, "app.jobs.schedule:remove_expired"),
    PeriodicJob("ticket-clocks", 1, "app.tickets.clocks:run_ticket_clocks"),
    PeriodicJob("overdue-tasks", 1, "app.projects.service:tell_overdue_tasks"),
    PeriodicJob("invoice-clocks", 10, "app.invoices.clocks:run_invoice_clocks"),
    PeriodicJob("expired-articles", 10, "app.kb.service:archive_expired"),
    PeriodicJob("end-expired-links", 10, "app.documents.cleanup:end_expired_links"),
    PeriodicJob("clean-documents", 60, "app.documents.cleanup:clean_up"),
    PeriodicJob("fill-normal-forms", 10, "app.crm.normal_forms:fill_normal_forms"),
    PeriodicJob("tidy-exports", 60, "app.bi.exports.jobs:tidy_exports"),
    PeriodicJob("tidy-bulk-changes", 60, "app.container.bulk:tidy_runs"),
    PeriodicJob("tidy-imports", 60, "app.importing.jobs:tidy_imports"),
    PeriodicJob("tidy-search-index", 1, "app.kb.indexing:tidy_index"),
)

# Huey's queue, and where the library keeps it: a list in Redis, whose key has plain letters only,
# or a table of a file.
QUEUE = "business-platform"
_KEY = "huey.redis.businessplatform"
_WAITING = "SELECT count(*) FROM task WHERE queue = ?"
_SECONDS = 5.0


def queue_file(app: Flask) -> Path:
    """The embedded queue, where there is no Redis; made by the first worker."""
    path: Path = app.config["DATA_DIR"] / "queue.db"
    return path


def waiting_jobs(app: Flask) -> int | None:
    """How many jobs wait for a worker; None where the queue does not answer."""
    if url := app.config["REDIS_URL"]:
        return _waiting_in_redis(url)
    if not queue_file(app).exists():
        return 0
    try:
        with closing(sqlite3.connect(queue_file(app), timeout=_SECONDS)) as connection:
            (count,) = connection.execute(_WAITING, (QUEUE,)).fetchone()
            return int(count)
    except (OSError, sqlite3.Error):
        return None


def _waiting_in_redis(url: str) -> int | None:
    import redis  # 10 MB, which a service without Redis does not hold

    try:
        with redis.Redis.from_url(
            url, socket_timeout=_SECONDS, socket_connect_timeout=_SECONDS
        ) as client:
            return int(client.llen(_KEY))
    except (OSError, redis.RedisError):
        return None


HEARTBEAT = "worker.heartbeat"
# Three rounds: one may come late behind a long job.
LATE_AFTER = timedelta(minutes=3)


def beat() -> None:
    """Note that a worker lives; ``/readyz`` reads it."""
    now = utc_now()
    with transaction() as session:
        statement = (
            update(Setting).where(Setting.name == HEARTBEAT).values(value={}, updated_at=now)
        )
        if not session.connection().execute(statement).rowcount:
            records.insert(Setting, {"name": HEARTBEAT, "value": {}, "updated_at": now})


def last_beat() -> datetime | None:
    """When a worker last gave a sign of life; None: never."""
    with read_engine().connect() as connection:
        return connection.execute(
            select(Setting.updated_at).where(Setting.name == HEARTBEAT)
        ).scalar_one_or_none()


BATCH = 500


def for_each_due(
    name: str,
    candidates: Select[*tuple[Any, ...]],
    step: Callable[[int], object],
    *,
    is_due: Callable[[AnyRow], bool] = lambda row: True,
) -> int:
    """Take a step with every candidate in a transaction of its own (docs/adr/0006).

    Others may be at it: a row that was found is locked, and must still be a candidate.

    Args:
        name: for the log.
        candidates: rows of one table with its ``id``, in no order of their own.
        step: gets the id of the locked row; may return False, it did nothing. One that fails is
            logged and left for the next round.
        is_due: what SQL cannot say, of the columns of ``candidates``.
    Returns: with how many something was done.
    """
    done = 0
    key = candidates.selected_columns["id"]
    for candidate in _batches(candidates):
        if is_stopping():  # the next worker begins with every job
            break
        if not is_due(candidate):
            continue
        try:
            with acting_as(system_caller("job")), transaction():
                again = candidates.where(key == candidate.id).with_for_update(key_share=True)
                row = records.connection().execute(again).first()
                if row is not None and is_due(row):
                    done += step(row.id) is not False
        except Exception:
            log.exception("clock failed", clock=name, id=candidate.id)
    return done


def _batches(candidates: Select[*tuple[Any, ...]]) -> Iterator[AnyRow]:
    """All candidates by their keys, some at a time, without locks: nothing is held between them."""
    key = candidates.selected_columns["id"]
    last = 0
    while True:
        statement = candidates.where(key > last).order_by(key).limit(BATCH)
        with primary_engine().connect() as connection:
            rows = connection.execute(statement).all()
        yield from rows
        if len(rows) < BATCH:
            return
        last = rows[-1].id


# An ended session is still listed this long, so that its owner can look back; one of questions can
# be gone on with.
SESSIONS_KEPT = timedelta(days=30)
LOGIN_GUARDS_KEPT = timedelta(days=1)
# So long the journal goes back, and deliveries can be looked at, sent again and recovered.
EVENTS_KEPT = timedelta(days=30)
# The report of missing articles looks back so far.
SEARCHES_KEPT = timedelta(days=365)


def remove_expired() -> int:
    """Remove what has served its time, in small steps; returns how many rows.

    Idempotency records, sessions, those of questions, login guards, questions to the knowledge
    base, tickets of streams, events, deliveries with their attempts.
    """
    now = utc_now()
    tables = Model.metadata.tables
    answers, sessions = tables["idempotency_records"], tables["sessions"]
    guards, events = tables["login_guards"], tables["events"]
    searches, tickets = tables["kb_searches"], tables["ai_stream_tickets"]
    deliveries, questions = tables["webhook_deliveries"], tables["question_sessions"]
    is_unlocked = or_(guards.c.locked_until.is_(None), guards.c.locked_until < now)
    # An event stays until every receiver has taken it, or it was given up for it.
    is_pending = exists().where(
        deliveries.c.event_id == events.c.id, deliveries.c.status == "pending"
    )
    is_old = events.c.created_at < now - EVENTS_KEPT
    return (
        remove_rows(answers, answers.c.expires_at < now)
        + remove_rows(sessions, sessions.c.expires_at < now - SESSIONS_KEPT)
        + remove_rows(questions, questions.c.updated_at < now - SESSIONS_KEPT)
        + remove_rows(guards, (guards.c.window_started_at < now - LOGIN_GUARDS_KEPT) & is_unlocked)
        + remove_rows(searches, searches.c.created_at < now - SEARCHES_KEPT)
        + remove_rows(tickets, tickets.c.expires_at < now)
        + remove_rows(events, is_old & events.c.dispatched_at.is_not(None) & ~is_pending)
    )


def remove_rows(table: Table, is_expired: ColumnElement[bool]) -> int:
    """Remove rows of a table in small steps, a transaction each; returns how many."""
    (key,) = table.primary_key.columns
    batch = select(key).where(is_expired).limit(BATCH)
    removed = 0
    while True:
        with transaction() as session:
            count = session.connection().execute(delete(table).where(key.in_(batch))).rowcount
        removed += count
        if count < BATCH or is_stopping():
            return removed
