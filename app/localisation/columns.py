"""Columns of a file: how their numbers and dates are written, decided by all cells together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

from app.localisation.dates import (
    ORDERS,
    AmbiguousDateError,
    NoDateError,
    date_readings,
    day_of,
    local_instant,
    read_date,
    read_instant,
)
from app.localisation.numbers import (
    COMMA,
    POINT,
    SIGNS,
    AmbiguousNumberError,
    NoNumberError,
    Signs,
    read_number,
    readings,
)

# A cell as it stands in a file: a text, or what a spreadsheet keeps with its type.
Cell = str | Decimal | bool | date | datetime
_OTHER = {POINT: COMMA, COMMA: POINT}
_NUMBER_QUESTION = "no other cell of the column says which: choose the decimal sign of the file"
_DATE_QUESTION = (
    "no other cell of the column says which: choose the order of day and month of the file"
)


class CellError(ValueError):
    """A cell is not what its column is, or could be two things."""


class Evidence:
    """What the cells of a column say of how it is written: one of several ways.

    ``chosen`` is the way that whoever sends the file has said.
    """

    def __init__(self, ways: Sequence[str], chosen: str | None) -> None:
        self._ways = ways
        self.chosen = chosen
        self._found: set[str] = set()
        self._example: str | None = None
        self._sure: str | None = None

    @property
    def way(self) -> str | None:
        """How the column is written; None while nothing says it or cells contradict each other."""
        if self.chosen is not None:
            return self.chosen
        return next(iter(self._found)) if len(self._found) == 1 else None

    @property
    def example(self) -> str | None:
        """A cell, if possible one that could be two."""
        return self._example or self._sure

    def note(self, cell: str, readings: Mapping[str, object]) -> None:
        """Note a cell; ``readings`` are what it is in each way."""
        known = [reading for reading in self._ways if reading in readings]
        if len(set(readings.values())) > 1:
            self._example = self._example or cell
        elif len(known) == 1:
            self._found.add(known[0])
            self._sure = self._sure or cell


class NumberColumn:
    """The numbers of a column; cells are seen first, and read then."""

    def __init__(self, chosen: str | None = None) -> None:
        """``chosen``: the decimal sign, by whoever sends the file."""
        self._evidence = Evidence(SIGNS, chosen)

    @property
    def sign(self) -> str | None:
        """What begins the decimals."""
        return self._evidence.way

    def see(self, cell: Cell) -> None:
        """Note what a cell says of the others."""
        if not isinstance(cell, str) or not (POINT in cell or COMMA in cell):
            return
        self._evidence.note(cell, readings(cell))

    def read(self, cell: Cell) -> Decimal:
        """The number in a cell.

        Raises: CellError.
        """
        if isinstance(cell, Decimal):
            return cell
        if not isinstance(cell, str):
            raise CellError("must be a number")
        sign = self.sign
        try:
            if sign is None:
                return read_number(cell)
            is_chosen = self._evidence.chosen is not None
            if is_chosen and (numbers := readings(cell)) and sign not in numbers:
                raise CellError(f"is no number where {_named(sign)} begins the decimals")
            return read_number(cell, Signs(frozenset(sign), frozenset(_OTHER[sign])))
        except AmbiguousNumberError as error:
            raise CellError(f"{error}; {_NUMBER_QUESTION}") from None
        except NoNumberError as error:
            raise CellError(str(error)) from None

    def described(self) -> Mapping[str, str | None]:
        """How the column is read: its sign, and an example."""
        example = self._evidence.example
        return {"decimalSign": self.sign, "example": example, "readAs": self._tried(example)}

    def _tried(self, cell: str | None) -> str | None:
        try:
            return None if cell is None else f"{self.read(cell):f}"
        except CellError:
            return None


class DateColumn:
    """The dates or instants of a column; cells are seen first, and read then."""

    def __init__(self, zone: ZoneInfo, chosen: str | None = None) -> None:
        """``zone``: that of cells that name none; ``chosen``: the order, by who sends the file."""
        self._zone = zone
        self._evidence = Evidence(ORDERS, chosen)

    @property
    def order(self) -> str | None:
        """The order of day and month."""
        return self._evidence.way

    def see(self, cell: Cell) -> None:
        """Note what a cell says of the others."""
        if isinstance(cell, str):
            self._evidence.note(cell, date_readings(day_of(cell)))

    def read_day(self, cell: Cell) -> date:
        """The day in a cell.

        Raises: CellError.
        """
        if isinstance(cell, datetime):
            return cell.date()
        if isinstance(cell, date):
            return cell
        if not isinstance(cell, str):
            raise CellError("must be a date such as 2026-12-31")
        try:
            self._contradicts(cell)
            return read_date(cell, self.order)
        except NoDateError as error:
            raise _cell_error(error) from None

    def read_instant(self, cell: Cell) -> datetime:
        """The instant in a cell; one without a zone is in that of the organisation.

        Raises: CellError.
        """
        try:
            if isinstance(cell, datetime):
                return local_instant(cell, self._zone)
            if isinstance(cell, date):
                return local_instant(datetime(cell.year, cell.month, cell.day), self._zone)
            if isinstance(cell, str):
                self._contradicts(day_of(cell))
                return read_instant(cell, self._zone, self.order)
        except NoDateError as error:
            raise _cell_error(error) from None
        raise CellError("must be a date and time such as 2026-12-31 14:30")

    def described(self) -> Mapping[str, str | None]:
        """How the column is read: its order, and an example."""
        example = self._evidence.example
        return {"dateOrder": self.order, "example": example, "readAs": self._tried(example)}

    def _tried(self, cell: str | None) -> str | None:
        try:
            return None if cell is None else self.read_day(day_of(cell)).isoformat()
        except CellError:
            return None

    def _contradicts(self, day: str) -> None:
        days = date_readings(day)
        is_ordered = 0 < len(days) < len(ORDERS) and "." not in day
        chosen = self._evidence.chosen
        if chosen is not None and is_ordered and chosen not in days:
            raise NoDateError(f"is no date in the order {chosen}")


def _cell_error(error: NoDateError) -> CellError:
    is_question = isinstance(error, AmbiguousDateError)
    return CellError(f"{error}; {_DATE_QUESTION}" if is_question else str(error))


def _named(sign: str) -> str:
    return "a comma" if sign == COMMA else "a point"


def cell_text(cell: Cell) -> str:
    """A cell as it would stand in a CSV file."""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, Decimal):
        return format(cell.normalize(), "f")
    return cell if isinstance(cell, str) else cell.isoformat()
