"""The worker's part: exports made, reports mailed, files of last week removed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

import structlog
from sqlalchemy import select

from app.auth.rights import caller_of_job
from app.bi.exports.service import LOOP, ExportFile, emit_exported, written
from app.bi.exports.table import Progress
from app.bi.exports.writing import prepare
from app.bi.reports.definition import Report
from app.bi.reports.language import ReportLanguage, report_language
from app.bi.reports.saving import FIRST_SAVED
from app.bi.reports.schedules import next_run
from app.bi.reports.service import get_report
from app.blobs import Blob, blobs, new_key
from app.clock import utc_now
from app.db import records
from app.db.engines import primary_engine, transaction
from app.errors import ApiError
from app.extensions import Model
from app.http.security import acting_as
from app.jobs import leases
from app.jobs.leases import Loop, StoppingError, leave_if_stopping
from app.jobs.schedule import remove_rows
from app.mail.outbox import queue_mail
from app.models.report import QuestionSession, ReportExport, SavedReport
from app.permissions import require
from app.settings.days import zone
from app.written.catalogue import SOURCE

log = structlog.get_logger(__name__)
AREA = "exports"
# A large export takes minutes; its lease is renewed with each page that it has written.
LEASE_SECONDS = 120
MOST_ATTEMPTS = 3
FILES_KEPT = timedelta(days=7)
SESSIONS_KEPT = timedelta(days=30)


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
        caller = caller_of_job(row["user_id"])
        with acting_as(caller):
            require(caller, "bi:export")
            report = get_report(row["report"])
            file, blob = _stored(
                report, row["format"], row["filters"], _telling(row), row["language"] or SOURCE
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
        _fail(row, error.message[:1000])


def _keep(row: dict[str, Any], values: Mapping[str, Any], seconds: int | None = None) -> None:
    leases.keep(ReportExport.__table__, row, values, seconds=seconds)


def _fail(row: dict[str, Any], reason: str) -> None:
    with transaction():
        _keep(row, {"status": "failed", "error": reason, "finished_at": utc_now()})


def _telling(row: dict[str, Any]) -> Progress:
    def tell_progress(done: int) -> None:
        with transaction():
            _keep(row, {"rows_done": done}, LEASE_SECONDS)
        leave_if_stopping()

    return tell_progress


def _stored(
    report: Report, form: str, filters: Mapping[str, Any], progress: Progress, language: str
) -> tuple[ExportFile, Blob]:
    file = written(prepare(report, filters, form, progress, language), form)
    return file, blobs.current.put(new_key(AREA), file.pieces)


# --- reports by mail


def send_due_reports() -> int:
    """Mail one report whose time has come."""
    due = SavedReport.next_run_at <= utc_now()
    rows = leases.take(SavedReport.__table__, due, limit=1, seconds=LEASE_SECONDS)
    for row in rows:
        _send(dict(row))
    return len(rows)


def _send(row: Mapping[str, Any]) -> None:
    schedule, now = row["schedule"], utc_now()
    later = next_run(schedule, now, zone())
    done = {"next_run_at": later, "last_run_at": now}
    report_id = row["id"] + FIRST_SAVED
    try:
        caller = caller_of_job(row["owner_id"])
        with acting_as(caller):
            require(caller, "bi:export")
            report = get_report(str(report_id))
            language = schedule.get("language", SOURCE)
            file, blob = _stored(
                report, schedule["format"], {}, lambda rows: leave_if_stopping(), language
            )
            with transaction():
                queue_mail(
                    to=schedule["to"],
                    subject=f"{row['name']}: {now:%Y-%m-%d}",
                    text=_letter(row["name"], file, now, report_language(language)),
                    attachments=[{"name": file.name, "contentType": file.media_type,
                                  "blobKey": blob.key}],
                    entity="Report",
                    entity_id=report_id,
                )  # fmt: skip
                emit_exported(report, schedule["format"], file.rows, file.is_truncated)
                leases.finish(SavedReport.__table__, row, done)
    except StoppingError:
        with transaction():
            leases.finish(SavedReport.__table__, row, {})
        raise
    except ApiError as error:
        log.warning("report was not mailed", report=report_id, reason=error.message)
        with transaction():
            leases.finish(SavedReport.__table__, row, done)


def _letter(name: str, file: ExportFile, now: datetime, language: ReportLanguage) -> str:
    as_of = language.translated(
        "%(name)s, as of %(moment)s", name=name, moment=language.moment(now)
    )
    text = f"{as_of}: {language.translated_count('%(num)s row', '%(num)s rows', file.rows)}."
    missing = language.translated("Not all rows fit: the file says how many are missing.")
    return f"{text} {missing}\n" if file.is_truncated else f"{text}\n"


# --- tidying up


def tidy_reports() -> int:
    """Remove exports of last week with their files, and sessions nobody went on with."""
    now = utc_now()
    removed = 0
    for key, blob_key in _old_exports(now - FILES_KEPT):
        if blob_key is not None:
            blobs.current.delete(blob_key)
        with transaction():
            records.delete(ReportExport, key)
        removed += 1
    sessions = Model.metadata.tables[QuestionSession.__tablename__]
    return removed + remove_rows(sessions, sessions.c.updated_at < now - SESSIONS_KEPT)


def _old_exports(before: datetime) -> Iterator[tuple[int, str | None]]:
    statement = select(ReportExport.id, ReportExport.blob_key)
    old = statement.where(ReportExport.created_at < before).limit(200)
    with primary_engine().connect() as connection:
        yield from [(key, blob_key) for key, blob_key in connection.execute(old)]


EXPORT_LOOP = Loop(LOOP, run_exports, idle_seconds=1.0)
REPORT_MAIL_LOOP = Loop("report-mail", send_due_reports, idle_seconds=20.0)
