"""Values in files: what fits the type of its column is of that type, the rest is text."""

from __future__ import annotations

import io
from datetime import datetime
from decimal import Decimal
from typing import Any

import openpyxl
import pytest
import xlsxwriter

from app.bi.exports.csv_file import cell as field
from app.bi.exports.pdf_file import printed_text
from app.bi.exports.table import plain
from app.bi.exports.xlsx_file import FORMATS, write_cell
from app.bi.reports.definition import Column


def cell(type_: str, value: Any) -> tuple[Any, str]:
    """A value and its kind, as a workbook gives them back."""
    file = io.BytesIO()
    book = xlsxwriter.Workbook(file, {"in_memory": True})
    write_cell(book.add_worksheet(), 0, 0, Column("x", "X", type_), value, None)
    book.close()
    found = openpyxl.load_workbook(file).active["A1"]
    return found.value, found.data_type


@pytest.mark.parametrize(
    ("type_", "value", "expected"),
    [
        ("integer", 7, (7, "n")),
        ("money", Decimal("12.50"), (12.5, "n")),
        ("integer", 10**15, ("1000000000000000", "s")),
        ("boolean", True, (True, "b")),
        ("boolean", False, (False, "b")),
        ("text", "=1+1", ("=1+1", "s")),
        ("text", None, ("", "s")),
        ("text", ["a", 1, None], ("a; 1; ", "s")),
        ("date", "1899-12-31", ("1899-12-31", "s")),
        ("date", "soon", ("soon", "s")),
        ("instant", "soon", ("soon", "s")),
    ],
)
def test_a_cell_has_the_type_that_its_value_fits(type_: str, value: Any, expected: Any) -> None:
    assert cell(type_, value) == expected


def test_instants_are_in_utc_and_long_texts_are_cut() -> None:
    file = io.BytesIO()
    book = xlsxwriter.Workbook(file, {"in_memory": True})
    look = book.add_format({"num_format": "yyyy-mm-dd hh:mm"})
    sheet = book.add_worksheet()
    for row, (type_, value) in enumerate(
        [("instant", "2026-06-01T10:00:00+02:00"), ("date", "2026-06-01"), ("text", "x" * 40_000)]
    ):
        write_cell(sheet, row, 0, Column("x", "X", type_), value, look)
    book.close()
    instant, day, text = (row[0].value for row in openpyxl.load_workbook(file).active.rows)
    assert (instant, day) == (datetime(2026, 6, 1, 8), datetime(2026, 6, 1))
    assert len(text) == 32_767


@pytest.mark.parametrize(
    ("type_", "value", "text"),
    [
        ("money", Decimal("1234.5"), "1,234.50"), ("integer", 2026, "2026"),
        ("number", Decimal("1234.5"), "1,234.5"), ("boolean", True, "yes"),
        ("percent", 49, "49.0"), ("percent", Decimal("70.3"), "70.3"),
        ("boolean", False, "no"), ("text", None, ""), ("text", "two\nlines", "two lines"),
        ("instant", "2026-06-01T10:00:00Z", "2026-06-01 10:00"), ("text", [True, "b"], "true; b"),
    ],
)  # fmt: skip
def test_a_value_is_printed_as_people_read_it(type_: str, value: Any, text: str) -> None:
    assert printed_text(Column("x", "X", type_), value) == text


def test_texts_of_values() -> None:
    assert [plain(value) for value in (None, True, False, 5, [1, [2, 3]])] == [
        "", "true", "false", "5", "1; 2; 3",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("money", 0, "0.00"), ("money", Decimal("7850"), "7850.00"), ("money", -3, "-3.00"),
        ("money", Decimal("1.5"), "1.50"), ("money", Decimal("0.1250"), "0.1250"),
        ("money", None, ""), ("integer", 7, "7"), ("text", "=1+1", "'=1+1"),
    ],
)  # fmt: skip
def test_money_in_csv_has_two_decimals_at_least(kind: str, value: Any, text: str) -> None:
    assert field(value, kind) == text


def test_no_number_ends_with_a_point() -> None:
    assert [name for name, look in FORMATS.items() if look.get("num_format", "").endswith("#.##")
            or ".#" in look.get("num_format", "")] == []  # fmt: skip


@pytest.mark.parametrize(
    ("currency", "amount", "in_csv", "in_pdf"),
    [("JPY", "55001.00", "55001", "55,001"), ("EUR", "1234.50", "1234.50", "1,234.50"),
     ("KWD", "3.50", "3.5000", "3.500"), ("KWD", "3.889", "3.8890", "3.889"),
     (None, "7", "7.00", "7.00")],
)  # fmt: skip
def test_money_has_the_digits_of_the_currency_in_its_row(
    currency: str | None, amount: str, in_csv: str, in_pdf: str
) -> None:
    assert field(Decimal(amount), "money", currency) == in_csv
    assert printed_text(Column("x", "X", "money"), Decimal(amount), currency) == in_pdf
