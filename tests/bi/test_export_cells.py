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
from app.bi.reports.definition import Column, Report


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
    ("value", "text"),
    [(None, ""), (7, "7"), ("=1+1", "'=1+1"), (Decimal("1.50"), "1.50"),
     (Decimal("0.125"), "0.1250")],
)  # fmt: skip
def test_no_field_of_csv_is_a_formula_or_a_thousand_times_as_much(value: Any, text: str) -> None:
    assert field(value) == text


def test_no_number_ends_with_a_point() -> None:
    assert [name for name, look in FORMATS.items() if look.get("num_format", "").endswith("#.##")
            or ".#" in look.get("num_format", "")] == []  # fmt: skip


@pytest.mark.parametrize(
    ("currency", "amount", "in_json", "in_csv", "in_pdf"),
    [("JPY", "55001.00", "55001", "55001", "55,001"), ("JPY", "0.000", "0", "0", "0"),
     ("EUR", "1234.500", "1234.50", "1234.50", "1,234.50"), ("EUR", "0", "0.00", "0.00", "0.00"),
     ("KWD", "3.50", "3.500", "3.5000", "3.500"), ("KWD", "3.889", "3.889", "3.8890", "3.889"),
     ("EUR", "0.1250", "0.125", "0.1250", "0.13"), (None, "7", "7.00", "7.00", "7.00")],
)  # fmt: skip
def test_money_has_the_digits_of_the_currency_in_its_row(
    currency: str | None, amount: str, in_json: str, in_csv: str, in_pdf: str
) -> None:
    columns = (Column("x", "X", "money"), Column("currency", "Currency", "text"))
    report = Report(1, None, "R", None, "Invoices", {}, columns=columns)
    value = report.row({"x": Decimal(amount), "currency": currency})["x"]
    assert (str(value), field(value)) == (in_json, in_csv)
    assert printed_text(columns[0], value, currency) == in_pdf
