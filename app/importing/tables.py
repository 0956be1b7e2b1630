"""Files as tables: a heading and rows of cells, read one after the other, whatever their size.

CSV, or the first sheet of an ``.xlsx`` file (``workbook``): the content decides, not
the name.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from app.errors import UnsupportedMediaTypeError, ValidationError
from app.importing.limits import JOB, Budget, Limits
from app.importing.workbook import Row, workbook_rows
from app.localisation.columns import cell_text
from app.localisation.guards import unguarded

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
        # A text without blanks around it, or without the apostrophe that guards it.
        plain = [unguarded(cell) if isinstance(cell, str) else cell for cell in cells]
        if any(cell != "" for cell in plain):
            yield number, plain


# --- CSV: UTF-8 or UTF-16 with its mark, plain UTF-8, else Windows-1252 if that reads like it, or
# what the sender says; comma, semicolon, tab or bar between the cells, or what ``sep=`` says

# What a sender may say, by its name for the internet.
ENCODINGS = (
    "utf-8", "utf-16", "windows-1250", "windows-1251", "windows-1252", "windows-1253",
    "windows-1254", "iso-8859-1", "iso-8859-2", "iso-8859-15", "macintosh", "ibm850",
)  # fmt: skip
USUAL = "windows-1252"
# The most characters of a row of CSV.
_LONGEST_ROW = 1_000_000
_READ_BYTES = 256 * 1024
_SAMPLE = 64 * 1024
_DELIMITERS = ",;\t|"
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16"),
          (codecs.BOM_UTF16_BE, "utf-16"))  # fmt: skip
_SEPARATOR = re.compile(r'"?sep=([^"\w\r\n])"? *(?:\r|\n|\Z)', re.IGNORECASE)
_WORD_ENDS = re.compile(r"[,;|\s]")
# What letters of other encodings look like as Windows-1252: signs inside words or behind them,
# and capitals that no word has inside.
_ODD = re.compile(
    "[^\\W\\d_][¢£¤¥¦§¨©¬®¯±²³¶\u00b8¹¼½¾¿\u02c6\u02dc†‡‰](?=[^\\W\\d_])|[^\\W\\d_]{3}[±³¶¹¼¾¿]"
    "|[^\\W\\d_][ŠŽŸ](?=[a-z])|[a-z\u00df-\u00ff][ŠŽŸ]"
)


def encoding_of(path: Path, encoding: str | None) -> str:
    """The encoding of a text file, decided by all of its bytes where nobody says it.

    Raises: ValidationError, nobody says it and it does not read like the usual one.
    """
    with path.open("rb") as file:
        start = file.read(4)
        for mark, name in _MARKS:
            if start.startswith(mark):
                return name
        if encoding != "utf-16" and _has_zeros(path):
            raise UnsupportedMediaTypeError("The file is neither CSV nor xlsx.")
    if encoding is not None:
        return encoding
    if _first_oddity(path, "utf-8", None) is None:
        return "utf-8"
    odd = _first_oddity(path, USUAL, _ODD)
    if odd is None:
        return USUAL
    reason = f"is not UTF-8, and as {USUAL} it has {odd}: choose its encoding"
    raise ValidationError([("encoding", reason)])


def _has_zeros(path: Path) -> bool:
    with path.open("rb") as file:
        return any(b"\0" in chunk for chunk in iter(lambda: file.read(_READ_BYTES), b""))


def _first_oddity(path: Path, encoding: str, pattern: re.Pattern[str] | None) -> str | None:
    """What a text has that it would not have in ``encoding``; None if it may well be that."""
    decoder = codecs.getincrementaldecoder(encoding)()
    with path.open("rb") as file:
        try:
            while chunk := file.read(_READ_BYTES):
                text = decoder.decode(chunk)
                if pattern is not None and (match := pattern.search(text)):
                    return _word_around(text, match.start())
            decoder.decode(b"", final=True)
        except UnicodeDecodeError as error:
            return f"the byte {error.object[error.start]:#04x}"
    return None


def _word_around(text: str, at: int) -> str:
    begin = at
    while begin > 0 and at - begin < 20 and text[begin - 1].isalnum():
        begin -= 1
    word = _WORD_ENDS.split(text[begin : at + 20], maxsplit=1)[0]
    return f'"{word}"'


@contextmanager
def csv_rows(path: Path, encoding: str, columns: int, budget: Budget) -> Iterator[Iterator[Row]]:
    """The rows of the file with their numbers.

    Args:
        columns: as of ``workbook_rows``.
    Raises: ValidationError, it is broken; TooMuchError; both while rows are read.
    """
    codec = "utf-8-sig" if encoding == "utf-8" else encoding
    with path.open(encoding=codec, newline="") as text:
        yield _rows(text, columns, budget)


def _rows(text: TextIO, columns: int, budget: Budget) -> Iterator[Row]:
    try:
        sample = text.read(_SAMPLE)
        text.seek(0)
        separator = _SEPARATOR.match(sample)
        lines = _Lines(text, budget)
        if separator:
            text.readline()
        delimiter = separator[1] if separator else _delimiter(sample)
        for number, cells in enumerate(csv.reader(lines, delimiter=delimiter, strict=True), 1):
            lines.pending = 0
            budget.spend("rows", 1)
            budget.spend("cells", len(cells))
            yield number, list(cells[: columns + 1])
    except (csv.Error, UnicodeError) as error:
        raise ValidationError([("file", f"cannot be read as CSV: {error}")]) from error


class _Lines:
    """The lines of a text; ``pending`` are the characters of the row that is being read."""

    def __init__(self, text: TextIO, budget: Budget) -> None:
        self.pending = 0
        self._text = text
        self._budget = budget

    def __iter__(self) -> Iterator[str]:
        while line := self._text.readline(_LONGEST_ROW + 1):
            self.pending += len(line)
            if self.pending > _LONGEST_ROW:
                message = f"has a row of more than {_LONGEST_ROW:,} characters"
                raise ValidationError([("file", message)])
            self._budget.spend("size", len(line))
            yield line


def _delimiter(sample: str) -> str:
    """What stands most often between the cells of the heading."""
    heading: list[str] = []
    quoted = False
    for character in sample:
        if character == '"':
            quoted = not quoted
        elif character in "\r\n" and not quoted and "".join(heading).strip():
            break
        elif not quoted:
            heading.append(character)
    return max(_DELIMITERS, key=heading.count)
