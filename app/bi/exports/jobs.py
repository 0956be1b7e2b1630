"""Exports that the worker makes, and removes with their files after a week."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

import structlog
from sqlalchemy import select

from app.auth.rights import acting_for
from app.bi.exports.service import LOOP, emit_exported
from app.bi.exports.table import Progress
from app.bi.exports.writing import store_export
from app.bi.reports.service import get_report
from app.blobs import blobs, is_passing
from app.clock import utc_now
from app.db import records
from app.db.engines import primary_engine, transaction
from app.errors import ApiError
from app.http.security import current_caller
from app.jobs import leases
from app.jobs.leases import Loop, StoppingError, leave_if_stopping
from app.localisation.catalogue import SOURCE
from app.models.report import ReportExport
from app.permissions import require

log = structlog.get_logger(__name__)
# A large export takes minutes; its lease is renewed with each page that it has written.
LEASE_SECONDS = 120
MOST_ATTEMPTS = 3
FILES_KEPT = timedelta(days=7)


def run_exports() -> int:
    """Make one export that waits, or that another worker died over."""
    due = ReportExport.status.in_(("queued", "running"))
    rows = leases.take(ReportExport.__table__, due, limit=1, seconds=LEASE_SECONDS)
    for row in rows:
        _run(dict(row))
    return len(rows)


def _run(row: dict[str, Any]) -> None:
    attempts = row["attempts"] + 1
    if attempts > MOST_ATTEMPTS:
        _fail(row, "It ended three times before it was done.")
        return
    with transaction():
        _keep(row, {"status": "running", "attempts": attempts, "rows_done": 0}, LEASE_SECONDS)
    try:
        with acting_for(row["user_id"]) as look:
            require(current_caller(), "bi:export")
            report = get_report(row["report"])
            file, blob = store_export(
                report,
                row["format"],
                row["filters"],
                _telling(row, look),
                row["language"] or SOURCE,
            )
            with transaction():
                emit_exported(report, row["format"], file.rows, file.is_truncated)
                _keep(row, {
                    "status": "done", "rows_done": file.rows, "file_name": file.name,
                    "is_truncated": file.is_truncated, "blob_key": blob.key, "size": blob.size,
                    "finished_at": utc_now(),
                })  # fmt: skip
    except StoppingError:  # no attempt: nothing was wrong with it
        with transaction():
            _keep(row, {"status": "queued", "attempts": attempts - 1, "rows_done": 0})
        raise
    except ApiError as error:
        if is_passing(error):
            raise
        _fail(row, error.message[:1000])


def _keep(row: dict[str, Any], values: Mapping[str, Any], seconds: int | None = None) -> None:
    leases.keep(ReportExport.__table__, row, values, seconds=seconds)


def _fail(row: dict[str, Any], reason: str) -> None:
    with transaction():
        _keep(row, {"status": "failed", "error": reason, "finished_at": utc_now()})


def _telling(row: dict[str, Any], look: Callable[[], None]) -> Progress:
    def tell_progress(done: int) -> None:
        with transaction():
            _keep(row, {"rows_done": done}, LEASE_SECONDS)
        leave_if_stopping()
        look()

    return tell_progress


def tidy_exports() -> int:
    """Remove exports of last week with their files."""
    removed = 0
    for key, blob_key in _old_exports(utc_now() - FILES_KEPT):
        if blob_key is not None:
            blobs.current.delete(blob_key)
        with transaction():
            records.delete(ReportExport, key)
        removed += 1
    return removed


def _old_exports(before: datetime) -> Iterator[tuple[int, str | None]]:
    statement = select(ReportExport.id, ReportExport.blob_key)
    old = statement.where(ReportExport.created_at < before).limit(200)
    with primary_engine().connect() as connection:
        yield from [(key, blob_key) for key, blob_key in connection.execute(old)]


EXPORT_LOOP = Loop(LOOP, run_exports, idle_seconds=1.0)
