"""Reports that the worker mails, as files, when their time has come."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import structlog

from app.auth.rights import acting_for
from app.bi.exports.service import emit_exported
from app.bi.exports.writing import ExportFile, store_export
from app.bi.reports.language import ReportLanguage, report_language
from app.bi.reports.saving import FIRST_SAVED
from app.bi.reports.schedules import next_run
from app.bi.reports.service import get_report
from app.blobs import is_passing
from app.clock import utc_now
from app.db.engines import transaction
from app.errors import ApiError
from app.http.security import current_caller
from app.jobs import leases
from app.jobs.leases import Loop, StoppingError, leave_if_stopping
from app.localisation.catalogue import SOURCE
from app.mail.outbox import queue_mail
from app.models.report import SavedReport
from app.permissions import require
from app.settings.days import zone

log = structlog.get_logger(__name__)
# A large report takes minutes.
LEASE_SECONDS = 120


def send_due_reports() -> int:
    """Mail one report whose time has come."""
    due = SavedReport.next_run_at <= utc_now()
    rows = leases.take(SavedReport.__table__, due, limit=1, seconds=LEASE_SECONDS)
    for row in rows:
        _send(dict(row))
    return len(rows)


def _send(row: dict[str, Any]) -> None:
    schedule, now = row["schedule"], utc_now()
    later = next_run(schedule, now, zone())
    done = {"next_run_at": later, "last_run_at": now}
    report_id = row["id"] + FIRST_SAVED
    try:
        with acting_for(row["owner_id"]) as look:
            require(current_caller(), "bi:export")

            def go_on(rows: int) -> None:
                with transaction():
                    leases.keep(SavedReport.__table__, row, {}, seconds=LEASE_SECONDS)
                leave_if_stopping()
                look()

            report = get_report(str(report_id))
            language = schedule.get("language", SOURCE)
            file, blob = store_export(report, schedule["format"], {}, go_on, language)
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
                leases.keep(SavedReport.__table__, row, done)
    except StoppingError:
        with transaction():
            leases.finish(SavedReport.__table__, row, {})
        raise
    except ApiError as error:
        if is_passing(error):
            raise
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


REPORT_MAIL_LOOP = Loop("report-mail", send_due_reports, idle_seconds=20.0)
