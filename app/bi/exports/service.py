"""Exports asked for: small ones are answered at once, large ones are made by the worker."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from sqlalchemy import select

from app import audit
from app.bi.exports.formats import FORMATS
from app.bi.exports.table import ExportTable
from app.bi.exports.writing import ExportFile, prepare, written
from app.bi.reports.definition import Report
from app.bi.schemas import ReportExportSchema
from app.blobs import blobs
from app.clock import utc_now
from app.db import records
from app.db.types import json_text
from app.errors import InvalidStateError, NotFoundError
from app.events import emit
from app.http.request_context import running_app
from app.http.schema_parts import answer_body
from app.http.security import current_caller
from app.jobs.leases import wake
from app.localisation.catalogue import SOURCE
from app.models.report import ReportExport

# More rows than these are left to the worker: a request should end within seconds.
AT_ONCE = 20_000
LOOP = "report-exports"


def export_report(
    report: Report, form: str, filters: Mapping[str, Any], *, later: bool, language: str = SOURCE
) -> ExportFile | dict[str, Any]:
    """The file of an export, or, for a large one or on request, the row of one in the making.

    Args:
        later: leave it to the worker however small it is.
        language: of its words.
    Raises: ValidationError; what the query is refused with.
    """
    table = prepare(report, filters, form, language=language)
    if later or min(table.total, table.most) > AT_ONCE:
        return _queue(report, form, filters, table, language)
    answer = written(table, form)
    emit_exported(report, form, answer.rows, answer.is_truncated)
    return answer


def emit_exported(report: Report, form: str, rows: int, is_truncated: bool) -> None:
    """The event and the audit line of an export."""
    representation = {"id": report.id, "name": report.name, "format": form, "rowCount": rows,
             "truncated": is_truncated}  # fmt: skip
    emit(
        "report.exported", "Report", report.id, sequence=1, representation=json_text(representation)
    )
    audit.record("report.exported", "Report", report.id, after=representation)


def _queue(
    report: Report, form: str, filters: Mapping[str, Any], table: ExportTable, language: str
) -> dict[str, Any]:
    row = {
        "created_at": utc_now(),
        "key": f"exp_{secrets.token_hex(16)}",
        "user_id": current_caller().user_id,
        "report": str(report.id),
        "format": form,
        "filters": dict(filters),
        "language": language,
        "rows_total": min(table.total, table.most),
        "is_truncated": table.is_truncated,
    }
    key = records.insert(ReportExport, row)
    wake(running_app(), LOOP)
    return describe(records.get(ReportExport, key))


def get_export(key: str) -> ReportExport:
    """An export of the caller, by its public id.

    Raises: NotFoundError, there is none, or it is somebody else's.
    """
    statement = select(ReportExport).where(
        ReportExport.key == key, ReportExport.user_id == current_caller().user_id
    )
    export = records.find(statement)
    if export is None:
        raise NotFoundError("There is no such export.")
    return export


def export_file(key: str) -> ExportFile:
    """The file of an export that is done.

    Raises: NotFoundError; InvalidStateError, it is not done.
    """
    export = get_export(key)
    if export.status != "done":
        raise InvalidStateError("The file is not ready.", [("status", f"is {export.status}")])
    assert export.file_name is not None and export.blob_key is not None and export.size is not None
    return ExportFile(
        export.file_name, FORMATS[export.format].media_type, export.rows_done, export.is_truncated,
        export.size, blobs.current.stream(export.blob_key),
    )  # fmt: skip


def describe(export: ReportExport) -> dict[str, Any]:
    """An export as the API shows it."""
    total, is_done = export.rows_total, export.status == "done"
    part = min(99, 100 * export.rows_done // total) if total else 0
    url = f"/api/v1/bi/exports/{export.key}"
    return answer_body(
        ReportExportSchema, export, id=export.key, report_id=int(export.report),
        progress=100 if is_done else part, truncated=export.is_truncated,
        url=url, download_url=f"{url}/file" if is_done else None,
    )  # fmt: skip
