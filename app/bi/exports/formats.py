"""The formats of exports: what validates, describes, offers and writes them reads this list."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from app.bi.exports.csv_file import write_csv
from app.bi.exports.json_file import write_json
from app.bi.exports.pdf_file import write_pdf
from app.bi.exports.table import ExportTable
from app.bi.exports.xlsx_file import write_xlsx


@dataclass(frozen=True)
class ExportFormat:
    """How rows become a file.

    Args:
        label: the word on a button.
        most_rows: what such a file holds, or what somebody can do with it.
        has_days: days and instants are values, which its reader shows in theirs.
        speaks: it is for people, and has the words of their language.
    """

    label: str
    media_type: str
    most_rows: int
    write: Callable[[ExportTable, Path], None]
    has_days: bool = False
    speaks: bool = True


# By name, which is also the extension of the file; the first is the default.
FORMATS: Mapping[str, ExportFormat] = {
    "xlsx": ExportFormat(
        "Excel", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        1_000_000, write_xlsx, has_days=True,  # a sheet less its head, sums and remarks
    ),
    "csv": ExportFormat("CSV", "text/csv; charset=utf-8", 5_000_000, write_csv),
    "pdf": ExportFormat("PDF", "application/pdf", 10_000, write_pdf),  # what people print
    "json": ExportFormat(
        "JSON", "application/json", 5_000_000, write_json, has_days=True, speaks=False
    ),
}  # fmt: skip
DEFAULT_FORMAT = next(iter(FORMATS))
