"""An export written to a file."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flask import Response

from app.bi.exports.formats import FORMATS
from app.bi.exports.table import ExportTable, Progress
from app.bi.periods.calendar import calendar
from app.bi.query import count
from app.bi.reports.definition import Report
from app.bi.reports.language import report_language
from app.blobs import Blob, blobs, new_key
from app.clock import utc_now
from app.jobs.scratch import scratch_folder
from app.localisation.catalogue import SOURCE

AREA = "exports"
_PIECE = 64 * 1024


@dataclass(frozen=True)
class ExportFile:
    """A file that was written; ``pieces`` are its bytes, which are gone once they were read."""

    name: str
    media_type: str
    rows: int
    is_truncated: bool
    size: int
    pieces: Iterator[bytes]


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


def written(table: ExportTable, form: str) -> ExportFile:
    """Write an export to a file that vanishes when it was read."""
    folder = scratch_folder("export-")
    try:
        path = Path(folder.name) / f"export.{form}"
        FORMATS[form].write(table, path)
        size = path.stat().st_size
    except BaseException:
        folder.cleanup()
        raise
    return ExportFile(
        file_name(table, form), FORMATS[form].media_type, table.written, table.is_truncated, size,
        _pieces(path, folder),
    )  # fmt: skip


def _pieces(path: Path, folder: AbstractContextManager[str]) -> Iterator[bytes]:
    with folder, path.open("rb") as file:
        while piece := file.read(_PIECE):
            yield piece


def store_export(
    report: Report, form: str, filters: Mapping[str, Any], progress: Progress, language: str
) -> tuple[ExportFile, Blob]:
    """Write an export and keep the file.

    Raises: as ``prepare``.
    """
    file = written(prepare(report, filters, form, progress, language), form)
    return file, blobs.current.put(new_key(AREA), file.pieces)


def file_response(file: ExportFile) -> Response:
    """The file with its name; its bytes pass as they are read."""
    headers = {
        "Content-Disposition": f'attachment; filename="{file.name}"',
        "Content-Length": str(file.size),
        "X-Row-Count": str(file.rows),
        "X-Truncated": "true" if file.is_truncated else "false",
        "X-Content-Type-Options": "nosniff",
    }
    return Response(file.pieces, content_type=file.media_type, headers=headers)
