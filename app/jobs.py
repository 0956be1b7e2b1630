"""What runs beside the requests: loops over rows of work, and jobs that come round by the clock.

The queue of the jobs is embedded (a file under DATA_DIR) or in Redis, and belongs to one
application. Nothing that must not be lost stands in it alone: events, deliveries and mail are rows
of the database.
"""

from __future__ import annotations

import logging
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import click
import structlog
from flask import Flask
from flask.cli import with_appcontext
from huey import RedisHuey, SqliteHuey, crontab
from huey.api import Huey
from huey.consumer import Consumer
from redis.exceptions import RedisError

from app.bi.exports.working import EXPORT_LOOP, REPORT_MAIL_LOOP, tidy_reports
from app.crm.forms import fill_normal_forms
from app.crm.importing.jobs import run_imports
from app.crm.importing.tidying import tidy_imports
from app.documents.cleaning import clean_up, end_expired_links
from app.documents.looking import look_into_files
from app.heartbeat import beat
from app.invoices.clocks import run_invoice_clocks
from app.job_queue import MINUTES, NAME, queue_file
from app.kb.clocks import archive_expired
from app.kb.indexing import THREADS, index_articles, index_tickets, tidy_index
from app.loops import Loop, LoopThreads
from app.mail.delivery import MAIL_LOOP
from app.projects.clocks import tell_overdue_tasks
from app.pruning import prune_expired
from app.request_context import running_app
from app.schema import wait_for_tables
from app.tickets.clocks import run_ticket_clocks
from app.webhooks.deliverer import deliver, end_deliveries
from app.webhooks.fan_out import DELIVERY_LOOP, fan_out
from app.webhooks.recovery import recover

log = structlog.get_logger(__name__)
# Where the library tells of its queue.
_LOGGERS = ("huey", "huey.consumer", "huey.consumer.Worker", "huey.consumer.Scheduler")
# Time that jobs have to end after a SIGTERM; hosts kill after thirty seconds.
SHUTDOWN_SECONDS = 25


@dataclass(frozen=True)
class PeriodicJob:
    """A job that runs every ``minutes`` minutes in each worker process: twice must do no harm.

    ``run`` returns how much there was to do, for the log.
    """

    name: str
    minutes: int
    run: Callable[[], object]


_RUNS: Mapping[str, Callable[[], object]] = {
    "heartbeat": beat,
    "prune-expired": prune_expired,
    "ticket-clocks": run_ticket_clocks,
    "overdue-tasks": tell_overdue_tasks,
    "invoice-clocks": run_invoice_clocks,
    "expired-articles": archive_expired,
    "end-expired-links": end_expired_links,
    "clean-documents": clean_up,
    "fill-normal-forms": fill_normal_forms,
    "tidy-reports": tidy_reports,
    "tidy-imports": tidy_imports,
    "tidy-search-index": tidy_index,
}
PERIODIC_JOBS = tuple(PeriodicJob(name, MINUTES[name], run) for name, run in _RUNS.items())

# What is done as soon as there is some; each shares its rows among workers by leases.
LOOPS: tuple[Loop, ...] = (
    Loop("look-into-files", look_into_files),
    MAIL_LOOP,
    Loop("imports", run_imports),
    EXPORT_LOOP,
    REPORT_MAIL_LOOP,
    Loop("index-articles", index_articles, idle_seconds=0.5, threads=THREADS),
    Loop("index-tickets", index_tickets, idle_seconds=20.0),
    Loop("webhook-fan-out", fan_out, idle_seconds=0.5),
    Loop("webhook-recovery", recover, idle_seconds=2.0),
    Loop(DELIVERY_LOOP, deliver, idle_seconds=0.5, end=end_deliveries),
)


class BriefOnOutages(logging.Filter):
    """The library asks a queue that is away every second, and would log a trace each time."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Shorten ``record`` to a line where the queue did not answer."""
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, RedisError | OSError | sqlite3.OperationalError):
            record.msg = f"{record.getMessage().rstrip('.')}: {error}"
            record.args, record.exc_info = (), None
        return True


def build_queue(app: Flask) -> Huey:
    """The queue of ``app``, its periodic jobs registered."""
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        if not any(isinstance(each, BriefOnOutages) for each in logger.filters):
            logger.addFilter(BriefOnOutages())
    if url := app.config["REDIS_URL"]:
        queue: Huey = RedisHuey(NAME, url=url, results=False)
    else:
        queue = SqliteHuey(NAME, filename=str(queue_file(app)), results=False, timeout=10)
    for job in PERIODIC_JOBS:
        every = crontab(minute=f"*/{job.minutes}")
        queue.periodic_task(every, name=job.name)(partial(run_job, app, job))
    return queue


def run_job(app: Flask, job: PeriodicJob) -> None:
    """Run ``job``; one that fails is logged, and tried again at its next turn."""
    with app.app_context():
        try:
            if done := job.run():
                log.info("job done", job=job.name, done=done)
        except Exception:
            log.exception("job failed", job=job.name)


class Worker(Consumer):  # type: ignore[misc]  # the library has no types
    """Huey's consumer, whose signal to stop reaches the loops in the same instant."""

    def __init__(self, queue: Huey, loops: LoopThreads, **options: Any) -> None:
        super().__init__(queue, **options)
        self._loops = loops

    def start(self) -> None:
        """Begin; the loops last, when a signal to stop is listened to already."""
        super().start()
        self._loops.start()

    def stop(self, graceful: bool = False) -> None:
        """End the loops after what they are doing, then the consumer's own threads."""
        self._loops.ask_to_stop()
        started_at = time.monotonic()
        super().stop(graceful)
        left = SHUTDOWN_SECONDS - (time.monotonic() - started_at)
        if unfinished := self._loops.join(max(left, 0.0) if graceful else 0.0):
            log.warning("loops did not end in time", loops=unfinished)


def run_worker(app: Flask, threads: int = 2, loops: Iterable[Loop] = LOOPS) -> None:
    """Work until a signal says stop; what is running then is finished.

    A database that is not there yet, or not migrated, is waited for.
    """
    wait_for_tables(app)
    options: dict[str, Any] = {
        "workers": threads,
        "worker_type": "thread",
        "graceful_signal": "TERM",
        "shutdown_timeout": SHUTDOWN_SECONDS,
    }
    for job in PERIODIC_JOBS:  # once at the start: what fell due while nothing ran
        run_job(app, job)
    Worker(build_queue(app), LoopThreads(app, loops), **options).run()


@click.command()
@click.option("--threads", default=2, show_default=True, help="Jobs that run at the same time.")
@with_appcontext
def worker(threads: int) -> None:
    """Run what is not done in requests: deliveries, mail, jobs that come round by the clock."""
    run_worker(running_app(), threads)
