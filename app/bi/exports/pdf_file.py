"""PDF: the table on as many pages as it needs, its head on each, with the chart before it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.bi.charts import vega_lite
from app.bi.drawing import draw
from app.bi.exports.table import ExportTable, plain
from app.bi.fonts import fonts_for
from app.bi.query import run
from app.bi.reports.definition import Column, chart_rows
from app.errors import ServiceUnavailableError
from app.lazy import lazy

if TYPE_CHECKING:
    from reportlab.lib import pagesizes, utils  # type: ignore[import-untyped]
    from reportlab.pdfgen import canvas  # type: ignore[import-untyped]
else:
    pagesizes, utils = lazy("reportlab.lib.pagesizes"), lazy("reportlab.lib.utils")
    canvas = lazy("reportlab.pdfgen.canvas")

MARGIN, LINE, SIZE = 36, 13, 7.5
_NUMBERS = ("integer", "number", "money", "percent")


def write_pdf(table: ExportTable, path: Path) -> None:
    """Write the export, page after page."""
    _Pages(table, path).write()


class _Pages:
    def __init__(self, table: ExportTable, path: Path) -> None:
        self._table = table
        self._size = pagesizes.landscape(pagesizes.A4)
        # The same report makes the same bytes: no random ids.
        self._canvas = canvas.Canvas(str(path), pagesize=self._size, pageCompression=1)
        self._canvas.setTitle(table.report.name)
        self._fonts = fonts_for(self._canvas)
        self._widths = _widths(table.columns, self._size[0] - 2 * MARGIN)
        self._page = 0
        self._y = 0.0

    def write(self) -> None:
        table = self._table
        self._begin()
        self._chart()
        self._head()
        for row in table.rows():
            self._row(row)
        for sums in table.total_rows():
            self._row(sums, bold=True)
        if table.written == 0:
            self._line("There are no rows.")
        if remark := table.remark():
            self._line(remark)
        self._end()
        self._canvas.save()

    def _begin(self) -> None:
        self._page += 1
        self._y = self._size[1] - MARGIN
        if self._page == 1:
            self._text(MARGIN, self._y - 6, self._table.report.name, 14, bold=True)
            self._y -= 22
            given = ", ".join(f"{name}: {value}" for name, value in self._table.parameters.items())
            made = self._table.made_at.strftime("%Y-%m-%d %H:%M UTC")
            self._line(f"{given + '. ' if given else ''}As of {made}. {self._table.total:,} rows.")
            self._y -= 4

    def _end(self) -> None:
        self._text(self._size[0] - MARGIN - 40, MARGIN / 2, f"Page {self._page}", SIZE)
        self._canvas.showPage()

    def _head(self) -> None:
        self._row([column.label for column in self._table.columns], bold=True, fits=True)
        self._canvas.setLineWidth(0.6)
        self._canvas.line(MARGIN, self._y + 9, self._size[0] - MARGIN, self._y + 9)

    def _row(self, row: Sequence[Any], *, bold: bool = False, fits: bool = False) -> None:
        if self._y < MARGIN + LINE and not fits:
            self._end()
            self._begin()
            self._head()
        x = float(MARGIN)
        for column, value, width in zip(self._table.columns, row, self._widths, strict=True):
            text = shown(column, value)
            right = column.type in _NUMBERS
            self._cell(x, text, width - 4, right, bold)
            x += width
        self._y -= LINE

    def _cell(self, x: float, text: str, width: float, right: bool, bold: bool) -> None:
        text = self._fonts.cut(text, width, SIZE, bold)
        start = x + width - self._fonts.width(text, SIZE, bold) if right else x
        self._text(start, self._y, text, SIZE, bold=bold)

    def _line(self, text: str) -> None:
        if self._y < MARGIN + LINE:
            self._end()
            self._begin()
        self._text(MARGIN, self._y, text, 8.5)
        self._y -= LINE

    def _text(self, x: float, y: float, text: str, size: float, *, bold: bool = False) -> None:
        self._fonts.draw(x, y, text, size, bold)

    def _chart(self) -> None:
        """The chart; a report whose chart cannot be drawn now comes without."""
        rows = run(self._table.query, 500).rows
        found = chart_rows(self._table.report, rows)
        if found is None:
            return
        try:
            picture = draw(vega_lite(found[0], found[1][:60]), "png")
        except ServiceUnavailableError:
            return
        image = utils.ImageReader(BytesIO(picture))
        width, height = image.getSize()
        scale = min((self._size[0] - 2 * MARGIN) / width, 230 / height)
        self._y -= height * scale
        self._canvas.drawImage(image, MARGIN, self._y, width * scale, height * scale)
        self._y -= 18


def shown(column: Column, value: Any) -> str:
    """A value as it is printed."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | Decimal):
        if column.type == "money":
            return f"{value:,.2f}"
        return str(value) if column.type == "integer" else f"{value:,}"
    text = plain(value)
    return text[:16].replace("T", " ") if column.type == "instant" else text


def _widths(columns: Sequence[Column], whole: float) -> list[float]:
    weights = {"text": 2.2, "instant": 1.4, "date": 1.1, "money": 1.3}
    parts = [
        0.9 if column.name.endswith("currency") else weights.get(column.type, 1.0)
        for column in columns
    ]
    return [whole * part / sum(parts) for part in parts]


def lines(texts: Sequence[str]) -> Iterator[str]:
    """Texts that have something in them."""
    return (text for text in texts if text)
