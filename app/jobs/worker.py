"""``flask --app wsgi worker``: Huey's consumer for the schedule, and the loops over rows of work.

The queue of the jobs is embedded (a file under DATA_DIR) or in Redis, and belongs to one
application. Nothing that must not be lost stands in it: events, deliveries and mail are rows of
the database (app/jobs/leases.py).
"""

from __future__ import annotations

import logging
import signal
import sqlite3
import threading
import time
from collections.abc import Iterable
from functools import partial
from pkgutil import resolve_name

import click
import structlog
from flask import Flask
from flask.cli import with_appcontext
from huey import RedisHuey, SqliteHuey, crontab
from huey.api import Huey
from redis.exceptions import RedisError

from app.bi.exports.jobs import EXPORT_LOOP
from app.bi.exports.mailing import REPORT_MAIL_LOOP
from app.container.bulk import BULK_LOOP
from app.db.schema import wait_for_tables
from app.documents.analysis import look_into_files
from app.http.request_context import running_app
from app.importing.jobs import run_imports
from app.jobs.leases import Loop, LoopThreads
from app.jobs.schedule import QUEUE, SCHEDULE, PeriodicJob, queue_file
from app.kb.indexing import THREADS, index_articles, index_tickets
from app.mail.delivery import MAIL_LOOP
from app.webhooks.deliverer import deliverer
from app.webhooks.fan_out import DELIVERY_LOOP, fan_out, recover

log = structlog.get_logger(__name__)
# Where the library tells of its queue.
_LOGGERS = ("huey", "huey.consumer", "huey.consumer.Worker", "huey.consumer.Scheduler")
# Time that jobs have to end after a SIGTERM; hosts kill after thirty seconds.
SHUTDOWN_SECONDS = 25
# Between two lines about a queue that does not answer.
OUTAGE_SECONDS = 60.0

# What is done as soon as there is some; each shares its rows among workers by leases.
LOOPS: tuple[Loop, ...] = (
    Loop("look-into-files", look_into_files),
    MAIL_LOOP,
    Loop("imports", run_imports),
    EXPORT_LOOP,
    REPORT_MAIL_LOOP,
    BULK_LOOP,
    Loop("index-articles", index_articles, idle_seconds=0.5, threads=THREADS),
    Loop("index-tickets", index_tickets, idle_seconds=20.0),
    Loop("webhook-fan-out", fan_out, idle_seconds=0.5),
    Loop("webhook-recovery", recover, idle_seconds=2.0),
    Loop(
        DELIVERY_LOOP,
        lambda: deliverer.current.run(),
        idle_seconds=0.5,
        end=lambda: deliverer.current.end(),
    ),
)


class BriefOnOutages(logging.Filter):
    """The library asks a queue that is away every second, and would log a trace each time."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._next_at = 0.0  # by time.monotonic()

    def filter(self, record: logging.LogRecord) -> bool:
        """Make a line of ``record`` where the queue did not answer; one a minute."""
        error = record.exc_info[1] if record.exc_info else None
        if not isinstance(error, RedisError | OSError | sqlite3.OperationalError):
            return True
        with self._lock:
            now = time.monotonic()
            if now < self._next_at:
                return False
            self._next_at = now + OUTAGE_SECONDS
        name = "Redis" if isinstance(error, RedisError) else "The queue of jobs"
        record.msg, record.args, record.exc_info = f"{name} cannot be used: {error}", (), None
        return True


def build_queue(app: Flask) -> Huey:
    """The queue of ``app``, the jobs of the schedule registered."""
    brief = BriefOnOutages()
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        if not any(isinstance(each, BriefOnOutages) for each in logger.filters):
            logger.addFilter(brief)
    if url := app.config["REDIS_URL"]:
        queue: Huey = RedisHuey(QUEUE, url=url, results=False)
    else:
        queue = SqliteHuey(QUEUE, filename=str(queue_file(app)), results=False, timeout=10)
    for job in SCHEDULE:
        every = crontab(minute=f"*/{job.minutes}")
        queue.periodic_task(every, name=job.name)(partial(run_job, app, job))
    return queue


def run_job(app: Flask, job: PeriodicJob) -> None:
    """Run ``job``; one that fails is logged, and tried again in its next round."""
    with app.app_context():
        try:
            if done := resolve_name(job.run)():
                log.info("job done", job=job.name, done=done)
        except Exception:
            log.exception("job failed", job=job.name)


def run_worker(app: Flask, threads: int = 2, loops: Iterable[Loop] = LOOPS) -> None:
    """Work until a signal says stop; what is running then is finished.

    A database that is not there yet, or not migrated, is waited for.
    """
    wait_for_tables(app)
    queue = build_queue(app)
    consumer = queue.create_consumer(
        workers=threads,
        worker_type="thread",
        graceful_signal="TERM",
        shutdown_timeout=SHUTDOWN_SECONDS,
    )
    running = LoopThreads(app, loops)
    is_told_early = threading.Event()

    def stop_early(*_: object) -> None:  # until the consumer listens to signals itself
        is_told_early.set()
        consumer.stop_flag.set()

    def stop_loops() -> None:
        consumer.stop_flag.wait()
        running.ask_to_stop()

    @queue.on_shutdown()  # type: ignore[untyped-decorator]  # the library has no types
    def finish_loops() -> None:
        """Let the consumer, which waits for its threads, wait for the loops as well."""
        if consumer.stop_flag.is_set():
            running.join(SHUTDOWN_SECONDS)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop_early)
    threading.Thread(target=stop_loops, name="stop-loops", daemon=True).start()
    for job in SCHEDULE:  # once at the start: what fell due while nothing ran
        if not consumer.stop_flag.is_set():
            run_job(app, job)
    running.start()
    consumer.run()
    if unfinished := running.join(SHUTDOWN_SECONDS if is_told_early.is_set() else 0):
        log.warning("loops did not end in time", loops=unfinished)


@click.command()
@click.option("--threads", default=2, show_default=True, help="Jobs that run at the same time.")
@with_appcontext
def worker(threads: int) -> None:
    """Run what is not done in requests: deliveries, mail, jobs that come round by the clock."""
    run_worker(running_app(), threads)
