"""Files as tables: a heading and rows of texts, read one after the other, whatever their size.

CSV: UTF-8 or UTF-16 with its mark, plain UTF-8, else Windows-1252; comma, semicolon, tab or bar
between the cells. Excel: the first sheet of an ``.xlsx`` file. The content decides, not the name.
"""

from __future__ import annotations

import codecs
import csv
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, time
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.errors import UnsupportedMediaTypeError, ValidationError
from app.lazy import lazy

if TYPE_CHECKING:
    import openpyxl  # type: ignore[import-untyped]
else:
    openpyxl = lazy("openpyxl")

MOST_COLUMNS = 200
# What a workbook may hold when it is unpacked; its texts are held in memory.
MOST_UNPACKED_BYTES = 300_000_000
MOST_TEXT_BYTES = 60_000_000
_READ_BYTES = 256 * 1024
_DELIMITERS = ",;\t|"
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"),
          (codecs.BOM_UTF16_BE, "utf-16"))  # fmt: skip
Row = tuple[int, list[str]]


@dataclass(frozen=True)
class FileTable:
    """``headings``, and the rows below with their numbers as a spreadsheet shows them, from 2."""

    headings: list[str]
    rows: Iterator[Row]


@contextmanager
def open_table(path: Path) -> Iterator[FileTable]:
    """The table in a file; blank rows are left out.

    Raises: UnsupportedMediaTypeError, it is neither CSV nor xlsx; ValidationError, it is empty or
        broken. Rows may raise ValidationError, too.
    """
    with path.open("rb") as file:
        start = file.read(8)
    if start.startswith(b"PK\x03\x04"):
        with _workbook_rows(path) as rows:
            yield _table(rows)
    elif start.startswith(b"\xd0\xcf\x11\xe0"):
        raise UnsupportedMediaTypeError("This is an old Excel file: save it as .xlsx or as CSV.")
    else:
        encoding = _encoding(path)
        with path.open(encoding=encoding, newline="") as text:
            yield _table(_csv_rows(text))


def _table(rows: Iterator[list[str]]) -> FileTable:
    numbered = ((number, cells) for number, cells in enumerate(rows, start=1) if any(cells))
    _, headings = next(numbered, (1, []))
    while headings and not headings[-1]:
        headings.pop()
    if not headings:
        raise ValidationError([("file", "has no rows: the first one names the columns")])
    if len(headings) > MOST_COLUMNS:
        raise ValidationError([("file", f"has more than {MOST_COLUMNS} columns")])
    return FileTable(headings, numbered)


# --- CSV


def _encoding(path: Path) -> str:
    """The encoding of a text file, decided by all of its bytes."""
    with path.open("rb") as file:
        start = file.read(4)
        for mark, name in _MARKS:
            if start.startswith(mark):
                return name
        file.seek(0)
        decoder = codecs.getincrementaldecoder("utf-8")()
        try:
            while chunk := file.read(_READ_BYTES):
                if b"\0" in chunk:
                    raise UnsupportedMediaTypeError("The file is neither CSV nor xlsx.")
                decoder.decode(chunk)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return "cp1252"
    return "utf-8"


def _csv_rows(text: Any) -> Iterator[list[str]]:
    try:
        sample = text.read(64 * 1024)
        text.seek(0)
        reader = csv.reader(text, delimiter=_delimiter(sample), strict=True)
        for cells in reader:
            yield [cell.strip() for cell in cells]
    except (csv.Error, UnicodeError) as error:
        raise ValidationError([("file", f"cannot be read as CSV: {error}")]) from error


def _delimiter(sample: str) -> str:
    """What stands most often between the cells of the heading."""
    line, quoted = "", False
    for character in sample:
        if character == '"':
            quoted = not quoted
        elif character in "\r\n" and not quoted and line.strip():
            break
        elif not quoted:
            line += character
    return max(_DELIMITERS, key=line.count)


# --- Excel


@contextmanager
def _workbook_rows(path: Path) -> Iterator[Iterator[list[str]]]:
    """The rows of the first sheet, cells as texts; formulas as the values that Excel kept."""
    try:
        with zipfile.ZipFile(path) as archive:
            sizes = {info.filename: info.file_size for info in archive.infolist()}
        if "xl/workbook.xml" not in sizes:
            raise UnsupportedMediaTypeError("The file is neither CSV nor xlsx.")
        texts = sizes.get("xl/sharedStrings.xml", 0)
        if sum(sizes.values()) > MOST_UNPACKED_BYTES or texts > MOST_TEXT_BYTES:
            raise ValidationError([("file", "is too large when unpacked: send it as CSV")])
        # As a file: of a path openpyxl would judge the name.
        with path.open("rb") as file:
            workbook = openpyxl.load_workbook(
                file, read_only=True, data_only=True, keep_links=False
            )
            yield _sheet_rows(workbook)
            workbook.close()
    except (UnsupportedMediaTypeError, ValidationError):
        raise
    except _BROKEN as error:
        raise ValidationError([("file", "is no complete xlsx file")]) from error


# What openpyxl and the XML below it say of files that are none.
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    KeyError,
    ValueError,
    TypeError,
    AttributeError,
    EOFError,
    OSError,
    IndexError,
    SyntaxError,
    NotImplementedError,
    RuntimeError,
)


def _sheet_rows(workbook: Any) -> Iterator[list[str]]:
    sheet = workbook.worksheets[0]
    # The size that the file claims may be that of a whole sheet.
    sheet.reset_dimensions()
    for cells in sheet.iter_rows(values_only=True):
        yield [_cell_text(value) for value in cells[: MOST_COLUMNS + 1]]


def _cell_text(value: Any) -> str:
    """A cell as it would stand in a CSV file."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return format(Decimal(repr(value)).normalize(), "f")
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time() else value.isoformat()
    return str(value).strip()
