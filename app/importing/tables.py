"""Files as tables: a heading and rows of cells, read one after the other, whatever their size.

CSV (``csv_file``), or the first sheet of an ``.xlsx`` file (``workbook``): the content decides, not
the name.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from app.errors import UnsupportedMediaTypeError, ValidationError
from app.importing.csv_file import csv_rows, encoding_of
from app.importing.limits import JOB, Budget, Limits
from app.importing.workbook import Row, workbook_rows
from app.written.columns import Cell, cell_text
from app.written.guards import unguarded

MOST_COLUMNS = 200


@dataclass(frozen=True)
class FileTable:
    """``headings``, and the rows below with their numbers as a spreadsheet shows them, from 2.

    ``encoding`` is that of a text, None for a workbook.
    """

    headings: list[str]
    rows: Iterator[Row]
    encoding: str | None = None


@contextmanager
def open_table(
    path: Path, limits: Limits = JOB, encoding: str | None = None
) -> Iterator[FileTable]:
    """The table in a file; blank rows are left out.

    Args:
        encoding: of ``ENCODINGS``, where the sender says it.
    Raises: UnsupportedMediaTypeError, it is neither CSV nor xlsx; ValidationError, it is empty or
        broken; TooMuchError. Rows may raise ValidationError and TooMuchError, too.
    """
    budget = Budget(limits)
    with path.open("rb") as file:
        start = file.read(8)
    if start.startswith(b"PK\x03\x04"):
        with workbook_rows(path, MOST_COLUMNS, budget) as rows:
            yield _table(rows, None)
    elif start.startswith(b"\xd0\xcf\x11\xe0"):
        raise UnsupportedMediaTypeError("This is an old Excel file: save it as .xlsx or as CSV.")
    else:
        used = encoding_of(path, encoding)
        with csv_rows(path, used, MOST_COLUMNS, budget) as rows:
            yield _table(rows, used)


def _table(rows: Iterator[Row], encoding: str | None) -> FileTable:
    numbered = _with_content(rows)
    _, cells = next(numbered, (1, []))
    headings = [cell_text(cell).strip() for cell in cells]
    while headings and not headings[-1]:
        headings.pop()
    if not headings:
        raise ValidationError([("file", "has no rows: the first one names the columns")])
    if len(headings) > MOST_COLUMNS:
        raise ValidationError([("file", f"has more than {MOST_COLUMNS} columns")])
    return FileTable(headings, numbered, encoding)


def _with_content(rows: Iterator[Row]) -> Iterator[Row]:
    for number, cells in rows:
        plain = [_plain(cell) for cell in cells]
        if any(cell != "" for cell in plain):
            yield number, plain


def _plain(cell: Cell) -> Cell:
    """A text without blanks around it, or without the apostrophe that guards it."""
    return unguarded(cell) if isinstance(cell, str) else cell
