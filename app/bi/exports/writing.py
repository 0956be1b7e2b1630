"""What an export writes, and the name of its file."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from app.bi.exports.formats import FORMATS
from app.bi.exports.table import ExportTable, Progress
from app.bi.periods.calendar import calendar
from app.bi.query import count
from app.bi.reports.definition import Report
from app.bi.reports.language import report_language
from app.clock import utc_now
from app.written.catalogue import SOURCE


def prepare(
    report: Report,
    filters: Mapping[str, Any],
    form: str,
    progress: Progress | None = None,
    language: str = SOURCE,
) -> ExportTable:
    """An export ready to be written: counted, its parameters checked.

    Args:
        language: of its words; JSON has those of the API.
    Raises: ValidationError; what the query is refused with.
    """
    now = utc_now()
    today = calendar(now)
    query = report.query(filters, today)
    total = count(query)
    if "top" in query.options:
        total = min(total, int(query.options["top"]))
    kind = FORMATS[form]
    of_reader = report_language(language if kind.speaks else SOURCE)
    values = of_reader.parameters(report, report.values(filters, today))
    return ExportTable(
        of_reader.report(report), query, total, kind.most_rows, now, values,
        progress or (lambda done: None), of_reader,
        of_reader.value if kind.has_days else of_reader.text,
    )  # fmt: skip


def file_name(table: ExportTable, form: str) -> str:
    """``revenue-by-month-2026-06-17.xlsx``: plain letters only."""
    plain = unicodedata.normalize("NFKD", table.report.name).encode("ascii", "ignore").decode()
    stem = re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")[:80] or "report"
    return f"{stem}-{table.made_at:%Y-%m-%d}.{form}"
