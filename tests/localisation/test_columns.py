"""A column of a file is read as its other cells say, or as whoever sends it has said."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest

from app.localisation.columns import Cell, CellError, DateColumn, NumberColumn, cell_text

BERLIN = ZoneInfo("Europe/Berlin")


def numbers(*cells: Cell, chosen: str | None = None) -> NumberColumn:
    column = NumberColumn(chosen)
    for cell in cells:
        column.see(cell)
    return column


def dates(*cells: Cell, chosen: str | None = None) -> DateColumn:
    column = DateColumn(BERLIN, chosen)
    for cell in cells:
        column.see(cell)
    return column


def test_a_cell_says_how_the_others_are_written() -> None:
    column = numbers("1.000", "2,5", "7", Decimal(3))
    assert column.sign == ","
    assert column.read("1.000") == 1000
    assert column.described() == {"decimalSign": ",", "example": "1.000", "readAs": "1000"}


def test_what_could_be_two_numbers_is_asked_for() -> None:
    column = numbers("1.000")
    with pytest.raises(CellError, match="could be two numbers"):
        column.read("1.000")
    assert column.described() == {"decimalSign": None, "example": "1.000", "readAs": None}


def test_cells_that_contradict_each_other_say_nothing() -> None:
    assert numbers("2,5", "2.5").sign is None


def test_the_sign_that_was_said_holds_against_the_cells() -> None:
    column = numbers("2.5", chosen=",")
    assert column.read("1.000") == 1000
    with pytest.raises(CellError, match="a comma begins the decimals"):
        column.read("2.5")


@pytest.mark.parametrize("cell", [True, date(2026, 1, 31), "many"])
def test_what_is_no_number_is_refused(cell: Cell) -> None:
    with pytest.raises(CellError):
        numbers().read(cell)


def test_a_day_above_twelve_says_the_order() -> None:
    column = dates("03/04/2026", "31/01/2026")
    assert column.read_day("03/04/2026") == date(2026, 4, 3)
    assert column.described()["readAs"] == "2026-04-03"


def test_what_could_be_two_days_is_asked_for() -> None:
    column = dates("03/04/2026")
    with pytest.raises(CellError):
        column.read_day("03/04/2026")
    assert (column.order, column.described()["readAs"]) == (None, None)


def test_the_order_that_was_said_holds_against_the_cells() -> None:
    order = dates("31/01/2026").order
    assert order is not None
    with pytest.raises(CellError, match=f"no date in the order {order}"):
        dates(chosen=order).read_day("01/31/2026")


def test_an_instant_without_a_zone_is_in_that_of_the_organisation() -> None:
    column = dates()
    noon = datetime(2026, 1, 31, 11, 0, tzinfo=UTC)
    assert column.read_instant(datetime(2026, 1, 31, 12, 0)) == noon
    assert column.read_instant("2026-01-31 12:00") == noon
    assert column.read_instant(date(2026, 1, 31)) == datetime(2026, 1, 30, 23, 0, tzinfo=UTC)


@pytest.mark.parametrize("cell", [True, Decimal(5), "soon"])
def test_what_is_no_day_is_refused(cell: Cell) -> None:
    with pytest.raises(CellError):
        dates().read_day(cell)
    with pytest.raises(CellError):
        dates().read_instant(cell)


def test_cells_of_workbooks_are_days_already() -> None:
    assert dates().read_day(date(2026, 1, 31)) == date(2026, 1, 31)
    assert dates().read_day(datetime(2026, 1, 31, 12, 0)) == date(2026, 1, 31)


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (True, "true"), (False, "false"), (Decimal("1.50"), "1.5"), ("x", "x"),
        (date(2026, 1, 31), "2026-01-31"),
    ],
)  # fmt: skip
def test_a_cell_as_text(cell: Cell, text: str) -> None:
    assert cell_text(cell) == text
