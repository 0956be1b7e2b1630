"""PDF: the table on as many pages as it needs, its head on each, with the chart before it.

Letters are those of the invoices: every script shaped and embedded, right-to-left ones too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.bi.charts import vega_lite
from app.bi.drawing import draw
from app.bi.exports.table import ExportTable, plain
from app.bi.query import run
from app.bi.reports.charting import chart_of
from app.bi.reports.definition import Column
from app.bi.reports.service import MOST_ROWS
from app.errors import ServiceUnavailableError
from app.invoices.pdf.drawing import PAGE_HEIGHT, PAGE_WIDTH, Page, Picture, Rule
from app.invoices.pdf.fonts import BOLD
from app.invoices.pdf.metadata import Metadata
from app.invoices.pdf.shaping import Shaper
from app.invoices.pdf.style import INK, Style
from app.invoices.pdf.typeset import Align, Typesetter
from app.invoices.pdf.writer import write_pdf as document
from app.lazy import lazy
from app.settings import organisation

if TYPE_CHECKING:
    from PIL import Image
else:
    Image = lazy("PIL.Image")

WIDTH, HEIGHT = PAGE_HEIGHT, PAGE_WIDTH  # A4 across
MARGIN, LINE, CHART = 36.0, 13.0, 230.0
TITLE, NOTE = Style(14, 22, INK, BOLD), Style(8.5, LINE)
CELL, STRONG = Style(7.5, LINE), Style(7.5, LINE, INK, BOLD)
MEASURED = 300  # rows whose texts say how wide the columns are
LONGEST = 400  # letters of a cell that are looked at
_NUMBERS = ("integer", "number", "money", "percent")


def write_pdf(table: ExportTable, path: Path) -> None:
    """Write the export, page after page."""
    columns = table.columns
    rows = [[shown(*cell) for cell in zip(columns, row, strict=True)] for row in table.rows()]
    totals = [
        [shown(*cell) for cell in zip(columns, row, strict=True)] for row in table.total_rows()
    ]
    owner = organisation()
    about = Metadata(
        title=table.report.name, author=owner.seller.name, subject="Report",
        language=owner.defaults.language, day=table.made_at.date(),
    )  # fmt: skip
    path.write_bytes(document(_Pages(table, rows, totals), about))


class _Pages:
    """The pages, laid out each time they are gone through, so that none has to be kept."""

    def __init__(
        self, table: ExportTable, rows: Sequence[Sequence[str]], totals: Sequence[Sequence[str]]
    ) -> None:
        self._table = table
        self._rows = rows
        self._totals = totals
        self._set = Typesetter(Shaper())
        self._widths = _widths(table.columns, rows, WIDTH - 2 * MARGIN)
        self._picture = _picture(table)

    def __iter__(self) -> Iterator[Page]:
        number = 1
        page, top = self._first()
        for row, style in self._lines():
            if top + LINE > HEIGHT - MARGIN:
                yield self._numbered(page, number)
                number += 1
                page = Page(width=WIDTH, height=HEIGHT)
                top = self._head(page, MARGIN)
            if isinstance(row, str):
                self._set.fit(page, MARGIN, top, row, style, WIDTH - 2 * MARGIN)
            else:
                self._row(page, top, row, style)
            top += LINE
        yield self._numbered(page, number)

    def _lines(self) -> Iterator[tuple[Sequence[str] | str, Style]]:
        """Rows, sums, and what is to be said of them."""
        for row in self._rows:
            yield row, CELL
        for row in self._totals:
            yield row, STRONG
        if not self._rows:
            yield "There are no rows.", NOTE
        if remark := self._table.remark():
            yield remark, NOTE

    def _first(self) -> tuple[Page, float]:
        table, page = self._table, Page(width=WIDTH, height=HEIGHT)
        top = MARGIN - 8
        self._set.fit(page, MARGIN, top, table.report.name, TITLE, WIDTH - 2 * MARGIN)
        top += TITLE.leading
        given = ", ".join(f"{name}: {value}" for name, value in table.parameters.items())
        made = table.made_at.strftime("%Y-%m-%d %H:%M UTC")
        said = f"{given + '. ' if given else ''}As of {made}. {len(self._rows):,} rows."
        self._set.fit(page, MARGIN, top, said, NOTE, WIDTH - 2 * MARGIN)
        top += LINE + 4
        if self._picture is not None:
            pixels, columns, rows = self._picture
            scale = min((WIDTH - 2 * MARGIN) / columns, CHART / rows)
            place = (MARGIN, top, columns * scale, rows * scale)
            page.marks.append(Picture(*place, pixels, columns, rows))
            top += rows * scale + 8
        return page, self._head(page, top)

    def _head(self, page: Page, top: float) -> float:
        self._row(page, top, [column.label for column in self._table.columns], STRONG)
        below = top + LINE - 1
        page.marks.append(Rule(MARGIN, below, WIDTH - MARGIN, below, 0.6, INK))
        return top + LINE + 2

    def _row(self, page: Page, top: float, row: Sequence[str], style: Style) -> None:
        left = MARGIN
        for column, text, width in zip(self._table.columns, row, self._widths, strict=True):
            text = self._set.shortened(text, style, width - 4)
            is_number = column.type in _NUMBERS
            align: Align = "right" if is_number else "left"
            self._set.put(page, left + width - 4 if is_number else left, top, text, style, align)
            left += width

    def _numbered(self, page: Page, number: int) -> Page:
        self._set.put(
            page, WIDTH - MARGIN, HEIGHT - MARGIN / 2 - 8, f"Page {number}", CELL, "right"
        )
        return page


def _picture(table: ExportTable) -> tuple[bytes, int, int] | None:
    """The chart as pixels; a report whose chart cannot be drawn now comes without."""
    if table.report.chart is None:
        return None
    found = chart_of(table.report, run(table.query, MOST_ROWS).rows)
    if found is None:
        return None
    try:
        drawn = draw(vega_lite(found.chart, found.rows, remark=found.remark), "png")
    except ServiceUnavailableError:
        return None
    with Image.open(BytesIO(drawn)) as image:
        plain_image = image.convert("RGB")
    return plain_image.tobytes(), plain_image.width, plain_image.height


def shown(column: Column, value: Any) -> str:
    """A value as it is printed."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | Decimal):
        if column.type == "money":
            return f"{value:,.2f}"
        if column.type == "percent":
            return f"{value:,.1f}"
        return str(value) if column.type == "integer" else f"{value:,}"
    text = " ".join(plain(value)[:LONGEST].split())
    return text[:16].replace("T", " ") if column.type == "instant" else text


def _widths(columns: Sequence[Column], rows: Sequence[Sequence[str]], whole: float) -> list[float]:
    """Columns as wide as what the first rows have in them, none very narrow or wide."""
    longest = [len(column.label) for column in columns]
    for row in rows[:MEASURED]:
        longest = [max(known, len(text)) for known, text in zip(longest, row, strict=True)]
    parts = [min(max(length, 5), 45) + 2 for length in longest]
    # Few short columns stand side by side, not spread over the page.
    return [min(whole * part / sum(parts), part * CELL.size) for part in parts]
