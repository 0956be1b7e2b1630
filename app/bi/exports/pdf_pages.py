"""The pages of a report, drawn in the process beside (app/bi/exports/pdf_file.py)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import BytesIO

from PIL import Image

from app.bi.exports.printed import Printed
from app.invoices.pdf.archive import Metadata
from app.invoices.pdf.drawing import PAGE_HEIGHT, PAGE_WIDTH, Page, Picture, Rule
from app.invoices.pdf.fonts import BOLD
from app.invoices.pdf.shaping import Shaper
from app.invoices.pdf.style import INK, Style
from app.invoices.pdf.typeset import Align, Typesetter
from app.invoices.pdf.writer import write_pdf

WIDTH, HEIGHT = PAGE_HEIGHT, PAGE_WIDTH  # A4 across
MARGIN, LINE, CHART = 36.0, 13.0, 230.0
TITLE, NOTE = Style(14, 22, INK, BOLD), Style(8.5, LINE)
CELL, STRONG = Style(7.5, LINE), Style(7.5, LINE, INK, BOLD)
MEASURED = 300  # rows whose texts say how wide the columns are


def render(printed: Printed) -> bytes:
    about = Metadata(
        title=printed.name, author=printed.author, subject=printed.subject,
        language=printed.language, day=printed.day,
    )  # fmt: skip
    return write_pdf(_Pages(printed), about)


class _Pages:
    """The pages, laid out each time they are gone through, so that none has to be kept."""

    def __init__(self, printed: Printed) -> None:
        self._printed = printed
        self._set = Typesetter(Shaper())
        self._widths = _widths(printed.labels, printed.rows, WIDTH - 2 * MARGIN)
        self._picture = None if printed.chart is None else _pixels(printed.chart)

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
        for row in self._printed.rows:
            yield row, CELL
        for row in self._printed.totals:
            yield row, STRONG
        if not self._printed.rows:
            yield self._printed.empty, NOTE
        if self._printed.remark:
            yield self._printed.remark, NOTE

    def _first(self) -> tuple[Page, float]:
        printed, page = self._printed, Page(width=WIDTH, height=HEIGHT)
        top = MARGIN - 8
        self._set.fit(page, MARGIN, top, printed.name, TITLE, WIDTH - 2 * MARGIN)
        top += TITLE.leading
        self._set.fit(page, MARGIN, top, printed.note, NOTE, WIDTH - 2 * MARGIN)
        top += LINE + 4
        if self._picture is not None:
            pixels, columns, rows = self._picture
            scale = min((WIDTH - 2 * MARGIN) / columns, CHART / rows)
            frame = (MARGIN, top, columns * scale, rows * scale)
            page.marks.append(Picture(*frame, pixels, columns, rows))
            top += rows * scale + 8
        return page, self._head(page, top)

    def _head(self, page: Page, top: float) -> float:
        self._row(page, top, self._printed.labels, STRONG)
        below = top + LINE - 1
        page.marks.append(Rule(MARGIN, below, MARGIN + sum(self._widths), below, 0.6, INK))
        return top + LINE + 2

    def _row(self, page: Page, top: float, row: Sequence[str], style: Style) -> None:
        left = MARGIN
        cells = zip(self._printed.numbers, row, self._widths, strict=True)
        for is_number, text, width in cells:
            text = self._set.shortened(text, style, width - 4)
            align: Align = "right" if is_number else "left"
            self._set.put(page, left + width - 4 if is_number else left, top, text, style, align)
            left += width

    def _numbered(self, page: Page, number: int) -> Page:
        self._set.put(
            page,
            WIDTH - MARGIN,
            HEIGHT - MARGIN / 2 - 8,
            self._printed.page % {"number": number},
            CELL,
            "right",
        )
        return page


def _pixels(chart: bytes) -> tuple[bytes, int, int]:
    """A PNG as pixels, their columns and rows."""
    with Image.open(BytesIO(chart)) as image:
        plain_image = image.convert("RGB")
    return plain_image.tobytes(), plain_image.width, plain_image.height


def _widths(labels: Sequence[str], rows: Sequence[Sequence[str]], whole: float) -> list[float]:
    """Columns as wide as what the first rows have in them, none very narrow or wide."""
    longest = [len(label) for label in labels]
    for row in rows[:MEASURED]:
        longest = [max(known, len(text)) for known, text in zip(longest, row, strict=True)]
    parts = [min(max(length, 5), 45) + 2 for length in longest]
    # Few short columns stand side by side: spread over the page, a row could not be followed.
    is_narrow = sum(parts) * CELL.size < whole / 2
    return [part * CELL.size if is_narrow else whole * part / sum(parts) for part in parts]
