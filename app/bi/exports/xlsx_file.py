"""Spreadsheets: typed cells, a fixed head, filters, sums, a sheet with the chart.

Rows go to disk as they are written, so memory does not grow with them. No text is ever a formula
or a link.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from app.bi.charts import COLOURS
from app.bi.exports.table import ExportTable, plain, typed
from app.bi.query import Row
from app.bi.reports.definition import Column
from app.localisation.guards import marked
from app.money import USUAL_DIGITS, digits
from app.settings.days import zone

LONGEST_CELL = 32_767
# Doubles keep so many digits; a longer number is a text, or its last ones would change.
MOST_DIGITS = 15
# The name of the rows of data, for who reads the file: sums and remarks stand below them.
ROWS_NAME = "ExportedRows"
UTC = ZoneInfo("UTC")
FORMATS: Mapping[str, Mapping[str, Any]] = {
    "money": {"num_format": "#,##0.00"},
    "whole money": {"num_format": "#,##0"},
    "fine money": {"num_format": "#,##0.000"},
    # Not "0.##", which shows a whole number with a point and nothing behind it.
    "number": {"num_format": "#,##0.00##"},
    "integer": {"num_format": "0"},
    "percent": {"num_format": "0.0"},
    "date": {"num_format": "yyyy-mm-dd", "align": "left"},
    "instant": {"num_format": "yyyy-mm-dd hh:mm", "align": "left"},
    # A text beside a number would touch it.
    "text": {"indent": 1},
    "boolean": {},
}
# By the digits of the currency.
_MONEY = ("whole money", "", "money", "fine money")
_NUMBERS = ("money", "number", "integer", "percent")
_A4 = 9
# Of the page about the export: letters in a line; points of a line, and what is possible.
_ABOUT_WIDTH, _LINE, _HIGHEST = 90, 15, 400
_WIDTHS = {"money": 15, "date": 12, "instant": 17, "text": 26, "number": 13, "percent": 11}


def write_xlsx(table: ExportTable, path: Path) -> None:
    import xlsxwriter  # type: ignore[import-untyped]  # heavy: loaded by whoever exports

    options = {
        "constant_memory": True,
        "strings_to_formulas": False,
        "strings_to_urls": False,
        "strings_to_numbers": False,
        "tmpdir": str(path.parent),
    }
    with xlsxwriter.Workbook(str(path), options) as book:
        book.set_properties({"title": table.report.name, "created": table.made_at})
        _Book(table, book).write()


class _Book:
    def __init__(self, table: ExportTable, book: Any) -> None:
        self._table = table
        self._book = book
        self._zone = zone()
        base = {"font_name": "Calibri", "font_size": 11}
        self._formats = {name: book.add_format({**base, **look}) for name, look in FORMATS.items()}
        total = {**base, "bold": True, "top": 1}
        self._totals = {name: book.add_format({**total, **look}) for name, look in FORMATS.items()}
        head = {**base, "bold": True, "bg_color": "#E8EEF4", "bottom": 1, "text_wrap": True,
                "valign": "top"}  # fmt: skip
        self._head = book.add_format(head)
        self._heads = {
            name: book.add_format(
                {**head, "align": "right"} if name in _NUMBERS else {**head, **look}
            )
            for name, look in FORMATS.items()
        }
        self._note = book.add_format({**base, "italic": True, "valign": "top"})
        self._wrapped = book.add_format({**base, "text_wrap": True, "valign": "top"})

    def write(self) -> None:
        table = self._table
        translated = table.language.translated
        sheet = self._sheet(translated("Data"))
        pages = translated("Page %(number)s of %(total)s", number="&P", total="&N")
        sheet.freeze_panes(1, 0)
        sheet.repeat_rows(0)
        sheet.set_footer(f"&L&A&R{pages}")
        self._columns(sheet)
        row_at = 0
        for row_at, row in enumerate(table.rows(), 1):
            self._row(sheet, row_at, row, self._formats)
        if table.columns:
            last = max(row_at, 1)
            sheet.autofilter(0, 0, last, len(table.columns) - 1)
            from xlsxwriter.utility import xl_range_abs  # type: ignore[import-untyped]  # as above

            area = xl_range_abs(0, 0, last, len(table.columns) - 1)
            self._book.define_name(ROWS_NAME, f"='{sheet.name}'!{area}")
        at = row_at + 1
        for sums in table.total_rows():
            for index, column in enumerate(table.columns):  # the line above goes all through
                sheet.write_blank(at, index, None, self._totals.get(column.type))
            self._row(sheet, at, sums, self._totals)
            at += 1
        if remark := table.remark():
            sheet.write_string(at + 1, 0, remark, self._note)
        self._about()
        self._chart()

    def _sheet(self, name: str) -> Any:
        """A sheet that prints on the width of a page."""
        sheet = self._book.add_worksheet(name)
        sheet.set_paper(_A4)
        sheet.set_landscape()
        sheet.fit_to_pages(1, 0)
        return sheet

    def _columns(self, sheet: Any) -> None:
        for at, column in enumerate(self._table.columns):
            sheet.set_column(at, at, _WIDTHS.get(column.type, 12))
            sheet.write_string(0, at, column.label, self._heads.get(column.type, self._head))

    def _row(self, sheet: Any, at: int, row: Sequence[Any], formats: Mapping[str, Any]) -> None:
        currency = self._table.currency_of(row)
        places = digits(currency) if currency else USUAL_DIGITS
        for index, (column, value) in enumerate(zip(self._table.columns, row, strict=True)):
            if value is not None:
                look = formats.get(_MONEY[places] if column.type == "money" else column.type)
                write_cell(sheet, at, index, column, value, look, self._zone)

    def _about(self) -> None:
        """What the sheet shows, when it was made, and the query behind it."""
        table = self._table
        translated, number = table.language.translated, table.language.number
        sheet = self._sheet(table.language.as_named("group", "About"))
        sheet.set_column(0, 0, 18)
        sheet.set_column(1, 1, _ABOUT_WIDTH)
        lines = [
            (translated("Report"), table.report.name),
            (translated("Description"), table.report.description or ""),
            *(
                (translated("Parameter %(name)s", name=name), str(value))
                for name, value in table.parameters.items()
            ),
            (translated("Generated at"), table.language.moment(table.made_at)),
            (translated("Times are in"), self._zone.key),
            (
                translated("Rows"),
                translated(
                    "%(number)s of %(total)s",
                    number=number(table.written),
                    total=number(table.total),
                ),
            ),
            (translated("Complete"), table.remark() or translated("yes")),
            (translated("Query"), table.query.url),
        ]
        for at, (name, text) in enumerate(lines):
            # Not every program makes a line as high as what is wrapped in it.
            sheet.set_row(at, min(_LINE * (1 + len(text) // _ABOUT_WIDTH), _HIGHEST))
            sheet.write_string(at, 0, name, self._note)
            sheet.write_string(at, 1, text[:LONGEST_CELL], self._wrapped)

    def _chart(self) -> None:
        """A sheet with the chart, over a sheet with its values: a column for each series."""
        charted = self._table.charted.result()
        if charted is None:
            return
        chart = charted.chart
        categories, series = _pivoted(charted.rows, chart.x, chart.y, chart.series)
        if not categories:
            return
        types = {column.name: column.type for column in self._table.columns}
        look = self._formats.get(types.get(chart.y, ""))
        translated = self._table.language.translated
        values = self._sheet(translated("Chart data"))
        values.set_column(0, 0, _WIDTHS["text"])
        values.set_column(1, len(series), _WIDTHS["money"])
        values.write_string(0, 0, chart.x_label or chart.x, self._head)
        for at, name in enumerate(series, 1):
            # One series has no name but that of its figure.
            name = name if chart.series else chart.y_label
            values.write_string(0, at, name, self._heads["money"])
        for row_at, category in enumerate(categories, 1):
            values.write_string(row_at, 0, category)
            for at, name in enumerate(series, 1):
                value = series[name].get(category)
                if value is not None:
                    values.write_number(row_at, at, value, look)
        if charted.remark:
            values.write_string(len(categories) + 2, 0, charted.remark, self._note)
        drawn = self._book.add_chart({"type": "line" if chart.type == "line" else "column"})
        last = len(categories)
        for at, name in enumerate(series, 1):
            colour = {"color": COLOURS[(at - 1) % len(COLOURS)]}
            series_options: dict[str, Any] = {
                "line" if chart.type == "line" else "fill": colour,
                "name": name if chart.series else chart.y_label,
                "categories": [values.name, 1, 0, last, 0],
                "values": [values.name, 1, at, last, at],
            }
            drawn.add_series(series_options)
        drawn.set_title({"name": self._table.report.name})
        drawn.set_y_axis({"name": chart.y_label, "num_format": "#,##0"})
        drawn.set_x_axis({"name": chart.x_label})
        sheet = self._book.add_chartsheet(translated("Chart"))
        sheet.set_paper(_A4)
        sheet.set_landscape()
        sheet.set_chart(drawn)


def write_cell(
    sheet: Any,
    row: int,
    column_index: int,
    column: Column,
    value: Any,
    look: Any,
    zone: ZoneInfo = UTC,
) -> None:
    """A cell of the column's type, instants in ``zone``; what does not fit it is text."""
    value = typed(column, value, zone)
    if isinstance(value, bool):
        sheet.write_boolean(row, column_index, value, look)
    elif isinstance(value, int | Decimal):
        if is_exact(value):
            sheet.write_number(row, column_index, value, look)
        else:
            sheet.write_string(row, column_index, str(value), look)
    elif isinstance(value, date):
        if value.year < 1900:  # before the first day that a spreadsheet knows
            sheet.write_string(row, column_index, str(value), look)
        else:
            sheet.write_datetime(row, column_index, value, look)
    else:
        text = marked(value) if isinstance(value, str) else plain(value)
        sheet.write_string(row, column_index, text[:LONGEST_CELL], look)


def is_exact(number: int | Decimal) -> bool:
    """Whether a sheet keeps all digits of a number, and shows them."""
    return (
        abs(number) < 10**MOST_DIGITS
        and len(Decimal(number).normalize().as_tuple().digits) <= MOST_DIGITS
    )


def _pivoted(
    rows: Sequence[Row], x: str, y: str, series: str | None
) -> tuple[list[str], dict[str, dict[str, float]]]:
    """Categories in their order, and for each series its value by category."""
    categories: dict[str, None] = {}
    cells: dict[str, dict[str, float]] = {}
    for row in rows:
        category = plain(row.get(x)) or "(none)"
        name = plain(row.get(series)) if series else y
        value = row.get(y)
        if value is None:
            continue
        categories.setdefault(category)
        values = cells.setdefault(name or "(none)", {})
        values[category] = values.get(category, 0) + float(value)
    return list(categories), cells
