"""CSV (RFC 4180): UTF-8 with the mark that spreadsheets know, nothing that runs as a formula."""

from __future__ import annotations

import csv
from decimal import Decimal
from pathlib import Path
from typing import Any

from app.bi.exports.table import ExportTable, plain
from app.written.guards import guarded


def write_csv(table: ExportTable, path: Path) -> None:
    """Write the export; sums and remarks are no rows of data and are left out."""
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([guarded(column.label) for column in table.columns])
        kinds = [column.type for column in table.columns]
        writer.writerows(map(cell, row, kinds) for row in table.rows())


def cell(value: Any, kind: str = "text") -> str:
    """A value as a field: texts that look like formulas get an apostrophe in front.

    Money has two decimals at least, a sum of nothing too. No number has just three: elsewhere that
    is a thousand times as much.
    """
    text = plain(value)
    if isinstance(value, Decimal) and value.as_tuple().exponent == -3:
        text += "0"
    if kind == "money" and isinstance(value, int | Decimal):
        has_cents = isinstance(value, Decimal) and int(value.as_tuple().exponent) <= -2
        return text if has_cents else f"{value:.2f}"
    return guarded(text) if isinstance(value, str | list) else text
