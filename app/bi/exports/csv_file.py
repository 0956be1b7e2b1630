"""CSV (RFC 4180): UTF-8 with the mark that spreadsheets know, nothing that runs as a formula.

In a language with a decimal comma numbers have it, and fields are separated by semicolons: so a
spreadsheet of that language reads both, and would take ``7.05`` for a day.
"""

from __future__ import annotations

import csv
from decimal import Decimal
from pathlib import Path
from typing import Any

from app.bi.exports.table import ExportTable, plain
from app.localisation.guards import guarded
from app.localisation.numbers import COMMA, POINT


def write_csv(table: ExportTable, path: Path) -> None:
    """Write the export; sums and remarks are no rows of data and are left out."""
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        decimal = table.language.signs.decimal
        writer = csv.writer(file, delimiter=";" if decimal == COMMA else ",")
        writer.writerow([guarded(column.label) for column in table.columns])
        for row in table.rows():
            writer.writerow([cell(value, decimal=decimal) for value in row])


def cell(value: Any, *, decimal: str = POINT) -> str:
    """A value as a field: texts that look like formulas get an apostrophe in front.

    No number has just three decimals: elsewhere that is a thousand times as much.
    """
    text = plain(value)
    if isinstance(value, Decimal) and value.as_tuple().exponent == -3:
        text += "0"
    if isinstance(value, Decimal | float):
        text = text.replace(POINT, decimal)
    return guarded(text) if isinstance(value, str | list) else text
