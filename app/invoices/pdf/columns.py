"""The columns of the line table: what a line says in each, and how wide each is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.invoices.document import DocumentLine
from app.invoices.einvoice.terms import NOT_SUBJECT
from app.invoices.pdf import style
from app.invoices.pdf.drawing import MM
from app.invoices.pdf.paper import Paper
from app.invoices.pdf.style import Style
from app.invoices.pdf.typeset import Align
from app.invoices.plain_text import one_line

_GAP = 3 * MM
_LEAST_DESCRIPTION = 52 * MM
_MOST_UNIT = 20 * MM
# Scale of the text, and whether titles stay on one line; tried until the description has room.
_TRIES = ((1.0, True), (1.0, False), (0.9, False), (0.8, False), (0.7, False))


@dataclass(frozen=True, slots=True)
class Column:
    """``left`` and ``right`` are its edges; numbers end at the right one."""

    key: str
    title: str
    align: Align
    left: float
    right: float

    @property
    def edge(self) -> float:
        """Where its text is aligned."""
        return self.right if self.align == "right" else self.left


@dataclass(frozen=True, slots=True)
class Grid:
    """The columns with the style of their text; ``cells`` holds a row a line, by column key."""

    columns: tuple[Column, ...]
    cells: tuple[dict[str, str], ...]
    body: Style
    small: Style

    def column(self, key: str) -> Column:
        return next(column for column in self.columns if column.key == key)


def make_grid(paper: Paper) -> Grid:
    """Columns as wide as what stands in them; the description gets what is left."""
    document = paper.document
    keys = ["position", "description", "quantity", "unit", "unit_price", "tax", "amount"]
    if any(line.discount_percent for line in document.lines):
        keys.insert(5, "discount")
    cells = tuple(
        _cells(paper, number, line) for number, line in enumerate(document.lines, start=1)
    )
    for scale, whole_titles in _TRIES:
        body, small = style.BODY.scaled(scale), style.SMALL.scaled(scale)
        widths = {
            key: _width(paper, key, cells, body, whole_titles)
            for key in keys
            if key != "description"
        }
        left = style.WIDTH - sum(widths.values()) - _GAP * (len(keys) - 1.5)
        if left >= _LEAST_DESCRIPTION:
            break
    widths["description"] = max(left, 25 * MM)
    columns = []
    at = style.LEFT
    for key in keys:
        align: Align = "left" if key in ("position", "description", "unit") else "right"
        columns.append(Column(key, paper.texts(f"columns.{key}"), align, at, at + widths[key]))
        at += widths[key] + (_GAP if key != "quantity" else _GAP / 2)
    return Grid(tuple(columns), cells, body, small)


def _cells(paper: Paper, number: int, line: DocumentLine) -> dict[str, str]:
    formats = paper.formats
    gross = paper.document.prices_include_tax
    discount = line.discount_percent
    return {
        "position": str(number),
        "quantity": formats.quantity(line.quantity),
        "unit": paper.texts.find(f"units.{line.unit_code}") or one_line(line.unit_code),
        "unit_price": formats.price(line.unit_price),
        "discount": formats.percent(discount) if discount else "",
        "tax": "-" if line.tax_category == NOT_SUBJECT else formats.percent(line.tax_rate),
        "amount": formats.amount(line.line_total if gross else line.line_net),
    }


def _width(
    paper: Paper, key: str, cells: Sequence[dict[str, str]], body: Style, whole_title: bool
) -> float:
    """As wide as the widest cell and the title, or the longest word of the title."""
    texts = {row[key] for row in cells}
    if key == "amount":
        texts.add(paper.formats.amount(paper.document.subtotal))
    widest = max((paper.set.width(text, body) for text in texts), default=0.0)
    if key == "unit":
        widest = min(widest, _MOST_UNIT)
    title = paper.texts(f"columns.{key}")
    words = [title] if whole_title else title.split()
    return max([widest, *(paper.set.width(word, style.COLUMN) for word in words)])
