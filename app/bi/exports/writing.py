"""An export into a file, in whichever form."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from app.bi.exports.csv_file import write_csv
from app.bi.exports.json_file import write_json
from app.bi.exports.pdf_file import write_pdf
from app.bi.exports.table import MOST_ROWS, ExportTable, Progress
from app.bi.exports.xlsx_file import write_xlsx
from app.bi.nlq.answering import calendar
from app.bi.query import count
from app.bi.reports.definition import Report
from app.clock import utc_now

WRITERS: Mapping[str, Callable[[ExportTable, Path], None]] = {
    "xlsx": write_xlsx, "csv": write_csv, "json": write_json, "pdf": write_pdf,
}  # fmt: skip
MEDIA_TYPES = {
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "pdf": "application/pdf",
}


def prepare(
    report: Report, given: Mapping[str, Any], form: str, progress: Progress | None = None
) -> ExportTable:
    """An export ready to be written: counted, its parameters checked.

    Raises: ValidationError; what the query is refused with.
    """
    now = utc_now()
    today = calendar(now)
    query = report.query(given, today)
    total = count(query)
    if "top" in query.options:
        total = min(total, int(query.options["top"]))
    return ExportTable(
        report, query, total, MOST_ROWS[form], now, report.values(given, today),
        progress or (lambda done: None),
    )  # fmt: skip


def write(table: ExportTable, form: str, path: Path) -> None:
    """Write the file."""
    WRITERS[form](table, path)


def file_name(table: ExportTable, form: str) -> str:
    """``revenue-by-month-2026-06-17.xlsx``: plain letters only."""
    plain = unicodedata.normalize("NFKD", table.report.name).encode("ascii", "ignore").decode()
    stem = re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")[:80] or "report"
    return f"{stem}-{table.made_at:%Y-%m-%d}.{form}"
