"""The first sheet of an ``.xlsx`` file, row by row, as it is unpacked.

Nothing that the file says of its size is believed: bytes, rows, cells, texts and time are counted
while they are read (app/importing/limits.py). Of a sheet only its rows are read; what stands
behind them, such as merged cells, is not. Source: ECMA-376, part 1, 18.2, 18.3, 18.4, 18.8.
"""

from __future__ import annotations

import os
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta
from decimal import Decimal, InvalidOperation
from pathlib import Path, PurePosixPath
from xml.parsers import expat

from app.errors import UnsupportedMediaTypeError, ValidationError
from app.importing.limits import Budget
from app.localisation.columns import Cell

# A row beyond the columns that a table may have is known to be too wide by one cell more.
Row = tuple[int, list[Cell]]
_CHUNK = 64 * 1024
# Deeper and longer than any sheet: elements within each other, and bytes without one.
_DEEPEST, _LONGEST_TOKEN = 64, 1024 * 1024
_LONGEST_CELL = 100_000
_LAST_ROW, _LAST_COLUMN = 1_048_576, 16_384
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_REFERENCE = re.compile(r"([A-Z]{1,3})(\d{1,7})?", re.ASCII)
# Formats of numbers that are dates, by their numbers.
_DATE_FORMATS = frozenset((*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)))
_QUOTED = re.compile(r'"[^"]*"|\\.|_.|\*.|\[[^\]]*\]')
# The name that our exports give to their rows, and what it stands for.
_EXPORTED = "ExportedRows"
_AREA = re.compile(r"('[^']+'|\w+)!\$[A-Z]{1,3}\$1:\$[A-Z]{1,3}\$(?P<last>\d{1,7})", re.ASCII)
_ZEROS = re.compile(r"0{2,}")
# The end of an archive, with the longest comment; and the most that its directory may have.
_TAIL, _LARGEST_DIRECTORY = 66_000, 1_000_000
_BROKEN = "is no complete xlsx file"
# What parts may be packed by. Source: ECMA-376, part 2, annex B.
_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class Handler:
    """What is done with the elements of a part; names are without their namespaces."""

    is_done = False

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """An element begins."""

    def end(self, name: str) -> None:
        """An element ends."""

    def text(self, text: str) -> None:
        """Characters inside an element."""


@contextmanager
def workbook_rows(path: Path, columns: int, budget: Budget) -> Iterator[Iterator[Row]]:
    """The rows of the first sheet that have cells, with their numbers.

    Args:
        columns: cells behind these are not kept.
    Raises: UnsupportedMediaTypeError, it is a zip archive of something else; ValidationError, it
        is broken, also while rows are read; TooMuchError.
    """
    with _refused_if_broken("the archive"):
        _check_directory(path)
        archive = zipfile.ZipFile(path)
    with archive:
        yield _Workbook(archive, columns, budget).rows()


# What the readers of zip archives say of files that are none.
_UNREADABLE = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, RuntimeError,
    OSError, ValueError,
)  # fmt: skip


@contextmanager
def _refused_if_broken(location: str) -> Iterator[None]:
    """Around what reads the archive, and nothing else: a fault of ours is not the file's."""
    try:
        yield
    except _UNREADABLE as error:
        raise ValidationError([("file", f"{_BROKEN}: {location} cannot be read")]) from error


def _check_directory(path: Path) -> None:
    """Refuse an archive of more parts than a workbook has: its directory is read whole.

    Source: APPNOTE.TXT 4.3.14 to 4.3.16, the end of the central directory.
    """
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _TAIL))
        tail = file.read()
    end = tail.rfind(b"PK\x05\x06")
    if end < 0 or end + 16 > len(tail):
        raise ValidationError([("file", _BROKEN)])
    directory = int.from_bytes(tail[end + 12 : end + 16], "little")
    if tail[max(0, end - 20) : end].startswith(b"PK\x06\x07"):  # the end of a large archive
        at = max(0, end - 20 - 56)
        directory = int.from_bytes(tail[at + 40 : at + 48], "little")
    if directory > _LARGEST_DIRECTORY:
        raise ValidationError([("file", "has more parts than a workbook")])


class _Workbook:
    def __init__(self, archive: zipfile.ZipFile, columns: int, budget: Budget) -> None:
        self._archive = archive
        self._columns = columns
        self._budget = budget
        self._names = {info.filename.lower(): info for info in archive.infolist()}

    def rows(self) -> Iterator[Row]:
        book = _Book()
        links = _Links()
        if "xl/workbook.xml" not in self._names:
            raise UnsupportedMediaTypeError("The file is neither CSV nor xlsx.")
        self._read("xl/workbook.xml", book)
        self._read("xl/_rels/workbook.xml.rels", links)
        target = links.targets.get(book.sheet)
        if target is None:
            raise ValidationError([("file", "has no sheet")])
        styles, texts = _Styles(), _Texts(self._budget)
        self._read(links.parts.get("styles", ""), styles)
        self._read(links.parts.get("sharedStrings", ""), texts)
        sheet = _Sheet(self._budget, styles, texts.strings, book, self._columns)
        for _ in self._parse(target, sheet):
            yield from sheet.take()
        yield from sheet.take()

    def _read(self, name: str, handler: Handler) -> None:
        """Read a whole part, if it is there."""
        if name.lower() in self._names:
            for _ in self._parse(name, handler):
                pass

    def _parse(self, name: str, handler: Handler) -> Iterator[None]:
        """Read a part piece by piece, until the handler has all that it needs."""
        info = self._names.get(name.lower())
        if info is None or info.flag_bits & 1 or info.compress_type not in _COMPRESSIONS:
            raise ValidationError([("file", f"{_BROKEN}: it has no part {name[:60]} to be read")])
        location = info.filename[:60]
        reading = _Reading(handler, location)
        with _refused_if_broken(location):
            part = self._archive.open(info)
        with part:
            while not handler.is_done:
                with self._budget.measured():
                    with _refused_if_broken(location):
                        chunk = part.read(_CHUNK)
                    self._budget.spend("size", len(chunk))
                    reading.feed(chunk)
                yield
                if not chunk:
                    return


class _Reading:
    """XML given to a handler; document types, depth and endless tokens are refused."""

    def __init__(self, handler: Handler, location: str) -> None:
        self._handler = handler
        self._place = location
        self._depth = 0
        self._silent = 0
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text
        self._parser.StartDoctypeDeclHandler = self._refuse

    def feed(self, chunk: bytes) -> None:
        self._silent += len(chunk)
        try:
            self._parser.Parse(chunk, not chunk)
        except expat.ExpatError as error:
            where = f"{self._place}, line {error.lineno}, column {error.offset + 1}"
            reason = expat.ErrorString(error.code)
            raise ValidationError([("file", f"{_BROKEN}: {where}: {reason}")]) from error
        except (LookupError, ValueError) as error:  # no codec of Python has such a name, or fits
            message = f"{_BROKEN}: {self._place} has an encoding that is not known"
            raise ValidationError([("file", message)]) from error
        if self._silent > _LONGEST_TOKEN:
            raise ValidationError([("file", _BROKEN)])

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._silent = 0
        self._depth += 1
        if self._depth > _DEEPEST:
            raise ValidationError([("file", "has elements too deep within each other")])
        if not self._handler.is_done:
            self._handler.start(_local(name), attributes)

    def _end(self, name: str) -> None:
        self._silent = 0
        self._depth -= 1
        if not self._handler.is_done:
            self._handler.end(_local(name))

    def _text(self, text: str) -> None:
        self._silent = 0
        if not self._handler.is_done:
            self._handler.text(text)

    def _refuse(self, *declaration: object) -> None:
        raise ValidationError([("file", _BROKEN)])


def _local(name: str) -> str:
    return name.rpartition(" ")[2]


@dataclass
class _Book(Handler):
    """``xl/workbook.xml``: the first sheet's relation, and where days are counted from.

    ``last_row`` is that of an export of ours: sums and remarks stand below.
    """

    sheet: str = ""
    is_1904: bool = False
    last_row: int = _LAST_ROW
    _name: str = ""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "workbookPr":
            self.is_1904 = attributes.get("date1904") in ("1", "true")
        if name == "sheet" and not self.sheet:
            named = (value for key, value in attributes.items() if key.endswith("relationships id"))
            self.sheet = next(named, "")
        self._name = attributes.get("name", "") if name == "definedName" else ""

    def end(self, name: str) -> None:
        self._name = ""

    def text(self, text: str) -> None:
        if self._name == _EXPORTED and (match := _AREA.fullmatch(text)):
            self.last_row = int(match["last"])


@dataclass
class _Links(Handler):
    """The relations of the workbook: where its parts are, by id and by kind."""

    targets: dict[str, str] = field(default_factory=dict)
    parts: dict[str, str] = field(default_factory=dict)

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "Relationship" and len(self.targets) < 10_000:
            target = attributes.get("Target", "")
            path = (
                target.lstrip("/") if target.startswith("/") else str(PurePosixPath("xl", target))
            )
            self.targets[attributes.get("Id", "")] = path
            self.parts.setdefault(attributes.get("Type", "").rpartition("/")[2], path)


class _Styles(Handler):
    """The formats of cells: which are dates, and which show a number with leading zeros."""

    def __init__(self) -> None:
        self._formats: dict[str, str] = {}
        self._used: list[str] = []
        self._inside = False

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "numFmt":
            self._formats[attributes.get("numFmtId", "")] = attributes.get("formatCode", "")[:255]
        elif name == "cellXfs":
            self._inside = True
        elif name == "xf" and self._inside and len(self._used) < 65_536:
            self._used.append(attributes.get("numFmtId", "0"))

    def end(self, name: str) -> None:
        if name == "cellXfs":
            self.is_done = True

    def is_date(self, style: str) -> bool:
        """Whether numbers of a style are days and times."""
        number = self._number(style)
        code = self._formats.get(number)
        if code is None:
            return number.isdecimal() and int(number) in _DATE_FORMATS
        return bool(re.search("[ymdhsYMDHS]", _QUOTED.sub("", code.partition(";")[0])))

    def zeros(self, style: str) -> int:
        """Digits that a number of a style is shown with at least; 0 for other styles."""
        code = self._formats.get(self._number(style), "")
        return len(code) if _ZEROS.fullmatch(code) else 0

    def _number(self, style: str) -> str:
        at = int(style) if style.isdecimal() and len(style) < 6 else 0
        return self._used[at] if at < len(self._used) else "0"


class _Texts(Handler):
    """``xl/sharedStrings.xml``: the texts that cells name by their numbers."""

    def __init__(self, budget: Budget) -> None:
        self.strings: list[str] = []
        self._budget = budget
        self._parts: list[str] = []
        self._is_text = False
        self._is_sound = False  # how a Japanese text is spoken

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "t":
            self._is_text = not self._is_sound
        elif name == "rPh":
            self._is_sound = True

    def end(self, name: str) -> None:
        if name == "t":
            self._is_text = False
        elif name == "rPh":
            self._is_sound = False
        elif name == "si":
            self._budget.spend("strings", 1)
            location = f"text {len(self.strings) + 1} of the workbook"
            self.strings.append(_unescaped("".join(self._parts), location))
            self._parts.clear()

    def text(self, text: str) -> None:
        if self._is_text:
            self._budget.spend("texts", len(text))
            self._parts.append(text)


class _Sheet(Handler):
    """The rows of a sheet, as they come."""

    def __init__(
        self, budget: Budget, styles: _Styles, strings: list[str], book: _Book, columns: int
    ) -> None:
        self._budget = budget
        self._styles = styles
        self._strings = strings
        # Day 60 is one that never was: the 29th of February 1900.
        self._first_day = datetime(1904, 1, 1) if book.is_1904 else datetime(1899, 12, 30)
        self._last_row = book.last_row
        self._columns = columns
        self._rows: list[Row] = []
        self._number = 0
        self._cells: list[Cell] = []
        self._column = 0
        self._type = self._style = ""
        self._value: list[str] = []
        self._length = 0
        self._is_value = self._is_sound = False

    def take(self) -> list[Row]:
        """The rows that are complete."""
        rows, self._rows = self._rows, []
        return rows

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "row":
            self._start_row(attributes.get("r"))
        elif name == "c":
            self._start_cell(attributes)
        elif name in ("v", "t"):
            self._is_value = not self._is_sound
        elif name == "rPh":
            self._is_sound = True

    def end(self, name: str) -> None:
        if name in ("v", "t"):
            self._is_value = False
        elif name == "rPh":
            self._is_sound = False
        elif name == "c":
            self._end_cell()
        elif name == "row":
            if self._cells:
                self._rows.append((self._number, self._cells))
        elif name == "sheetData":
            self.is_done = True

    def text(self, text: str) -> None:
        if self._is_value:
            self._length += len(text)
            if self._length > _LONGEST_CELL:
                message = f"row {self._number} has a cell of more than {_LONGEST_CELL:,} characters"
                raise ValidationError([("file", message)])
            self._value.append(text)

    def _start_row(self, text: str | None) -> None:
        self._budget.spend("rows", 1)
        number = _whole(text, _LAST_ROW) if text is not None else self._number + 1
        if number is None or number <= self._number:
            where = f"behind row {self._number}" if self._number else "at the beginning"
            raise ValidationError([("file", f"has a row {text[:20] if text else ''} {where}")])
        self._number, self._cells, self._column = number, [], 0
        self.is_done = number > self._last_row

    def _start_cell(self, attributes: dict[str, str]) -> None:
        self._budget.spend("cells", 1)
        column = _column(attributes.get("r"), self._column)
        if column <= self._column or column > _LAST_COLUMN:
            raise ValidationError([("file", f"row {self._number} has cells in no order")])
        self._column = column
        self._type, self._style = attributes.get("t", "n"), attributes.get("s", "0")
        self._value.clear()
        self._length = 0

    def _end_cell(self) -> None:
        if not self._value:
            return
        cell = self._cell("".join(self._value))
        if cell == "":
            return
        # What lies behind the last column is one cell, whose column does not matter.
        at = min(self._column, self._columns + 1)
        self._cells += [""] * (at - len(self._cells))
        self._cells[at - 1] = cell

    def _cell(self, text: str) -> Cell:
        if self._type == "s":
            at = _whole(text, len(self._strings) - 1)
            if at is None:
                raise ValidationError([("file", _BROKEN)])
            return self._strings[at]
        if self._type == "b":
            return text.strip() in ("1", "true")
        if self._type == "d":
            return _iso(text.strip())
        if self._type != "n":  # str, inlineStr, e
            return _unescaped(text, f"row {self._number}, column {self._column}")
        return self._typed(text.strip())

    def _typed(self, text: str) -> Cell:
        number = _decimal(text)
        if number is None:
            raise ValidationError([("file", f"row {self._number} has a number that is none")])
        if self._styles.is_date(self._style):
            return self._moment(number)
        if (zeros := self._styles.zeros(self._style)) and number == int(number) >= 0:
            return str(int(number)).rjust(zeros, "0")
        return number

    def _moment(self, number: Decimal) -> Cell:
        """A number of days as a day, a time of it or, below one, a time alone."""
        try:
            moment = self._first_day + timedelta(milliseconds=round(number * 86_400_000))
        except OverflowError:
            return number
        if 0 <= number < 1:
            return moment.time().isoformat()
        return moment.date() if moment.time() == time() else moment


def _whole(text: str, most: int) -> int | None:
    number = int(text) if text.isascii() and text.isdecimal() and len(text) < 9 else -1
    return number if 0 <= number <= most else None


def _column(reference: str | None, before: int) -> int:
    """``C7`` -> 3; the next one where a cell has no reference; 0 for one that is none."""
    if reference is None:
        return before + 1
    match = _REFERENCE.fullmatch(reference)
    column = 0
    for letter in match[1] if match else "":
        column = column * 26 + ord(letter) - 64
    return column


def _decimal(text: str) -> Decimal | None:
    """A number as a sheet keeps it, in the digits that people typed.

    It is written as a double with 17 digits: 0.1 is 0.10000000000000001.
    """
    if "_" in text:  # Python reads 1_000
        return None
    try:
        number = Decimal(repr(float(text)))
    except (ValueError, InvalidOperation):
        return None
    return number if number.is_finite() else None


def _iso(text: str) -> Cell:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return text
    if moment.tzinfo is not None:
        return text
    return moment.date() if len(text) == len("2026-12-31") else moment


def _unescaped(text: str, location: str) -> str:
    """``_x000D_`` is a character that XML cannot have; two halves are one of the higher planes.

    Raises: ValidationError, it is no text then: half a character, or a NUL.
    """
    if "_x" not in text:
        return text
    units = _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)
    try:
        whole = units.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    except UnicodeDecodeError:
        raise ValidationError([("file", f"{location} has half a character")]) from None
    if "\0" in whole:
        raise ValidationError([("file", f"{location} has a character that no text has")])
    return whole
