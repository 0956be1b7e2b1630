"""Outbox: rows of work, written by the transaction that wants it done, and the loops over them.

A table of work has a column ``leased_until``. Who takes a row writes into it until when the row is
his; who dies leaves a lease that runs out, and another takes the row. The instant is the proof of
possession too: ``finish`` changes the row only while the lease is still the same. The worker's
threads run a function again at once while that found something to do, and otherwise after a short
rest; any number of workers share the rows (docs/adr/0006).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import structlog
from flask import Flask, current_app
from sqlalchemy import (
    ColumnElement,
    Connection,
    FromClause,
    RowMapping,
    SQLColumnExpression,
    Table,
    UnaryExpression,
    exists,
    func,
    or_,
    select,
    update,
)

from app.clock import utc_now
from app.db import records
from app.db.engines import primary_engine, transaction
from app.extensions import Extension
from app.models.bulk_run import BulkRun
from app.models.event import Event, OutgoingMail
from app.models.import_job import ImportJob
from app.models.kb_article import KbArticle
from app.models.report import ReportExport
from app.models.webhook import WebhookDelivery

log = structlog.get_logger(__name__)

LEASE_SECONDS = 60
Order = SQLColumnExpression[Any] | UnaryExpression[Any]
# A failing loop rests 1, 2, 4 and then always 5 seconds: what it needs may be back any moment.
FIRST_REST_SECONDS = 1.0
LONGEST_REST_SECONDS = 5.0

# Name of the queue -> its rows, and which of them wait.
_WAITING: Mapping[str, tuple[Any, Any]] = {
    "events": (Event.__table__, Event.dispatched_at.is_(None)),
    "webhooks": (WebhookDelivery.__table__, WebhookDelivery.status == "pending"),
    "mail": (OutgoingMail.__table__, OutgoingMail.status.in_(("queued", "sending"))),
    "imports": (ImportJob.__table__, ImportJob.finished_at.is_(None)),
    "exports": (ReportExport.__table__, ReportExport.status.in_(("queued", "running"))),
    "bulk": (BulkRun.__table__, BulkRun.finished_at.is_(None)),
    "search": (
        KbArticle.__table__,
        (KbArticle.status == "Published") & KbArticle.indexed_at.is_(None),
    ),
}
# Rows that were there before they began to wait: nothing says since when they do.
_AGELESS = ("search",)


def take(
    table: FromClause,
    due: ColumnElement[bool],
    *,
    limit: int,
    order: Sequence[Order] = (),
    columns: Sequence[str] | None = None,
    seconds: int = LEASE_SECONDS,
) -> list[RowMapping]:
    """Lease up to ``limit`` rows that are ``due`` and free, in a transaction of its own.

    Args:
        table: has ``id`` and ``leased_until``.
        due: which rows are work now; an index should find them.
        order: which come first; by ``id`` when left out.
        columns: those returned besides ``id`` and ``leased_until``; None for all.
    Returns: the rows by column name, in that order; empty when there is nothing to do.
    """
    # A look first: on SQLite an idle worker must not take the lock of those who write.
    with primary_engine().connect() as reading:
        if not reading.execute(select(exists().where(due, is_free(table, utc_now())))).scalar():
            return []
    with transaction() as session:
        return take_within(
            session.connection(), table, due,
            limit=limit, order=order, columns=columns, seconds=seconds,
        )  # fmt: skip


def take_within(
    connection: Connection,
    table: FromClause,
    due: ColumnElement[bool],
    *,
    limit: int,
    order: Sequence[Order] = (),
    columns: Sequence[str] | None = None,
    seconds: int = LEASE_SECONDS,
) -> list[RowMapping]:
    """``take`` inside a running transaction; the rows are the caller's once it is committed."""
    assert isinstance(table, Table)
    now = utc_now()
    names = dict.fromkeys(("id", "leased_until", *(columns or table.c.keys())))
    # Workers pass over rows that another is just taking; SQLite has one writer at a time anyhow.
    free = (
        select(table.c.id)
        .where(due, is_free(table, now))
        .order_by(*(order or (table.c.id,)))
        .limit(limit)
        .with_for_update(skip_locked=True)
    )
    # The ids come first by themselves: a subquery with a limit may run anew for every row.
    keys = connection.execute(free).scalars().all()
    if not keys:
        return []
    leased = (
        update(table)
        .where(table.c.id.in_(keys))
        .values(leased_until=now + timedelta(seconds=seconds))
        .returning(*(table.c[name] for name in names))
    )
    rows_by_key = {row["id"]: row for row in connection.execute(leased).mappings()}
    return [rows_by_key[key] for key in keys]


class LostError(Exception):
    """Another worker has taken a row over."""


def keep(
    table: FromClause,
    row: dict[str, Any],
    values: Mapping[str, Any],
    *,
    seconds: int | None = None,
    connection: Connection | None = None,
) -> None:
    """Write ``values`` into a row taken, in the running transaction.

    Args:
        row: as this worker knows it; gets the values too while it is held.
        seconds: hold it for another while; None gives it back.
        connection: else that of the running transaction.
    Raises: LostError, nothing is written.
    """
    until = None if seconds is None else utc_now() + timedelta(seconds=seconds)
    written = {**values, "leased_until": until}
    if not finish(table, row, written, connection):
        raise LostError
    if until is not None:
        row.update(written)


def finish(
    table: FromClause,
    row: Mapping[str, Any],
    values: Mapping[str, Any],
    connection: Connection | None = None,
) -> bool:
    """Write ``values`` into a row taken, in the running transaction, and give it back.

    Returns: whether it was still the caller's; another worker has taken it over otherwise, and
        nothing is written.
    """
    assert isinstance(table, Table)
    statement = (
        update(table)
        .where(table.c.id == row["id"], table.c.leased_until == row["leased_until"])
        .values(**{"leased_until": None, **values})
    )
    return bool((connection or records.connection()).execute(statement).rowcount)


def is_free(table: FromClause, now: datetime) -> ColumnElement[bool]:
    """The condition that nobody holds a row of ``table``."""
    return or_(table.c.leased_until.is_(None), table.c.leased_until < now)


def waiting(connection: Connection, queue: str) -> tuple[int, datetime | None]:
    """How many rows of a queue wait, and since when the oldest does where that is known.

    Raises: KeyError, there is no such queue.
    """
    table, condition = _WAITING[queue]
    depth, oldest = connection.execute(
        select(func.count(), func.min(table.c.created_at)).where(condition)
    ).one()
    if queue in _AGELESS:
        return depth, None
    return depth, datetime.fromisoformat(oldest) if isinstance(oldest, str) else oldest


class StoppingError(Exception):
    """The process ends: what is in hand was given back, and another worker takes it up."""


@dataclass(frozen=True)
class Loop:
    """Work of one kind.

    ``run`` does one portion in transactions of its own, inside an application context, and
    returns how much it did; 0 lets the thread rest ``idle_seconds``. A portion should take a few
    seconds at most: the end of the process waits for it. ``end`` runs in the thread when the loop
    ends, for work that goes on between portions.
    """

    name: str
    run: Callable[[], int]
    idle_seconds: float = 1.0
    threads: int = 1
    end: Callable[[], object] | None = None


class LoopThreads:
    """The threads of some loops, in one process."""

    def __init__(self, app: Flask, loops: Iterable[Loop]) -> None:
        self._app = app
        self._stopping = threading.Event()
        loops = tuple(loops)
        self._wake_ups = {loop.name: threading.Event() for loop in loops}
        self._threads = [
            threading.Thread(
                target=self._work, args=(loop,), name=f"{loop.name}-{number}", daemon=True
            )
            for loop in loops
            for number in range(loop.threads)
        ]

    def start(self) -> None:
        """Begin to work; other modules of the process can ``wake`` a loop by its name."""
        running_loops.bind(self._app, self)
        for thread in self._threads:
            thread.start()

    def ask_to_stop(self) -> None:
        """Let every thread end after the portion that it is working on; returns at once."""
        self._stopping.set()
        for wake_up in self._wake_ups.values():
            wake_up.set()

    def join(self, seconds: float) -> list[str]:
        """Wait until all threads have ended, ``seconds`` at most; the names of those that did not.

        What they hold is leased: another worker takes it up when the lease has run out.
        """
        deadline = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        return [thread.name for thread in self._threads if thread.is_alive()]

    def is_stopping(self, within: float = 0.0) -> bool:
        """Whether the threads have been asked to end, or are ``within`` so many seconds."""
        return self._stopping.wait(within)

    def wake(self, name: str) -> None:
        """End the rest of the loop ``name``: there is work for it."""
        if wake_up := self._wake_ups.get(name):
            wake_up.set()

    def _work(self, loop: Loop) -> None:
        failures = 0
        wake_up = self._wake_ups[loop.name]
        while not self._stopping.is_set():
            # Cleared before looking, so that what comes during the look is looked for after it.
            wake_up.clear()
            if self._stopping.is_set():
                break
            done = self._run(loop)
            failures = failures + 1 if done is None else 0
            if failures:
                self._stopping.wait(rest_after(failures))
            elif not done:
                wake_up.wait(loop.idle_seconds)
        if loop.end is not None:
            self._run_end(loop.end, loop.name)

    def _run(self, loop: Loop) -> int | None:
        """How much was done; None when it failed."""
        try:
            with self._app.app_context():
                return loop.run()
        except (StoppingError, LostError):
            log.info("loop left its work to another", loop=loop.name)
            return 0
        except Exception:
            log.exception("loop failed", loop=loop.name)
            return None

    def _run_end(self, end: Callable[[], object], name: str) -> None:
        try:
            with self._app.app_context():
                end()
        except Exception:
            log.exception("loop failed to end", loop=name)


running_loops = Extension[LoopThreads]("loops")


def rest_after(failures: int) -> float:
    """Seconds to rest after this many failures in a row."""
    return min(FIRST_REST_SECONDS * 2.0 ** min(failures - 1, 10), LONGEST_REST_SECONDS)


def wake(app: Flask, name: str) -> None:
    """Let the loop ``name`` look for work now, if it runs in this process; others look soon."""
    if (threads := running_loops.find(app)) is not None:
        threads.wake(name)


def is_stopping(within: float = 0.0) -> bool:
    """Whether a portion should end where it can: the process is asked to, and waits for it.

    Args:
        within: seconds to wait for that.
    """
    threads = running_loops.find(current_app)
    return threads is not None and threads.is_stopping(within)


def leave_if_stopping() -> None:
    """End what is in hand here, between two of its steps, where the process is asked to end.

    Raises: StoppingError; whoever holds a row of work gives it back.
    """
    if is_stopping():
        raise StoppingError
