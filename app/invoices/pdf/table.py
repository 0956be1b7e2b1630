"""The table of the lines, over as many pages as it takes.

Each page repeats the titles. Where a page ends within the table, the sum so far is carried
forward and brought forward. A row stays in one piece unless it is too high for that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from app.invoices.document import DocumentLine
from app.invoices.einvoice.terms import NOT_SUBJECT
from app.invoices.pdf import style
from app.invoices.pdf.drawing import MM, Frame, Rule
from app.invoices.pdf.paper import Paper
from app.invoices.pdf.style import BODY_BOTTOM, Style
from app.invoices.pdf.typeset import Align
from app.invoices.plain_text import clean, one_line

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


_PADDING = 3.5
_CARRY = style.CARRY.leading + 2 * _PADDING
_LEAST_PART = 4  # lines of a divided row that stay on a page, at least
_MOST_WHOLE = (BODY_BOTTOM - style.FOLLOWING_TOP) * 0.4  # higher rows may be divided
_MOST_BREAKS = 40  # line ends of one description that are kept; the rest run on


@dataclass(frozen=True, slots=True)
class Row:
    """The lines of a description with their style, and what the row adds to the sum."""

    index: int
    lines: tuple[tuple[str, Style], ...]
    amount: Decimal

    @property
    def height(self) -> float:
        return sum(face.leading for _, face in self.lines) + 2 * _PADDING


def draw_table(paper: Paper, room_after: float) -> None:
    """Draw all lines; the last row takes ``room_after`` along, so that no total stands alone."""
    grid = make_grid(paper)
    _draw_titles(paper, grid)
    carried = Decimal(0)
    drawn_here = 0
    count = len(paper.document.lines)
    for index, line in enumerate(paper.document.lines):
        row = _row(paper, grid, index, line)
        after = room_after if index == count - 1 else _CARRY
        if row.height + after > paper.room and drawn_here and row.height <= _MOST_WHOLE:
            _turn_page(paper, grid, carried)
            drawn_here = 0
        _draw_row(paper, grid, row, carried)
        carried += row.amount
        drawn_here += 1


def _row(paper: Paper, grid: Grid, index: int, line: DocumentLine) -> Row:
    column = grid.column("description")
    width = column.right - column.left
    text = clean(line.description)
    if text.count("\n") > _MOST_BREAKS:
        text_lines = text.split("\n")
        text = "\n".join([*text_lines[:_MOST_BREAKS], " ".join(text_lines[_MOST_BREAKS:])])
    lines = [(part, grid.body) for part in paper.set.lines(text, grid.body, width)]
    for part in _small_print(paper, line):
        lines += [(wrapped, grid.small) for wrapped in paper.set.lines(part, grid.small, width)]
    gross = paper.document.prices_include_tax
    return Row(index, tuple(lines), line.line_total if gross else line.line_net)


def _small_print(paper: Paper, line: DocumentLine) -> list[str]:
    lines = []
    if code := one_line(line.product_code):
        lines.append(paper.texts("labels.product_code", code=code))
    if line.period_start or line.period_end:
        start, end = (
            paper.formats.day(day) if day else "…" for day in (line.period_start, line.period_end)
        )
        lines.append(paper.texts("labels.period", start=start, end=end))
    return lines


def _draw_row(paper: Paper, grid: Grid, row: Row, carried: Decimal) -> None:
    """Draw a row from here on; one that does not fit goes on where the next page begins."""
    first = True
    lines = list(row.lines)
    while lines:
        fitting = _lines_that_fit(paper, lines)
        if not fitting:
            _turn_page(paper, grid, carried)
            continue
        if first:
            _draw_cells(paper, grid, row.index)
            carried += row.amount  # it stands on this page, though the text goes on
        top = paper.top + _PADDING
        for text, face in lines[:fitting]:
            paper.set.put(paper.page, grid.column("description").left, top, text, face)
            top += face.leading
        paper.top = top + _PADDING
        lines = lines[fitting:]
        first = False
        if lines:
            _turn_page(paper, grid, carried)
    rule = paper.top
    paper.page.marks.append(Rule(style.LEFT, rule, style.RIGHT, rule, 0.35, style.HAIRLINE))


def _lines_that_fit(paper: Paper, lines: list[tuple[str, Style]]) -> int:
    """How many lines of a row go on this page: all, or none, or some with some left over."""
    room = paper.room - 2 * _PADDING - _CARRY
    height = 0.0
    for count, (_, face) in enumerate(lines):
        height += face.leading
        if height > room:
            left = len(lines) - count
            count -= max(0, _LEAST_PART - left)
            return count if count >= _LEAST_PART else 0
    return len(lines)


def _draw_cells(paper: Paper, grid: Grid, index: int) -> None:
    for column in grid.columns:
        text = grid.cells[index].get(column.key, "")
        if text:
            width, top = column.right - column.left, paper.top + _PADDING
            paper.set.fit(paper.page, column.edge, top, text, grid.body, width, column.align)


def _turn_page(paper: Paper, grid: Grid, carried: Decimal) -> None:
    """Carry the sum forward, begin a page, bring it forward; nothing where there is no sum yet."""
    has_sum = carried != 0
    if has_sum:
        _draw_carry(paper, grid, "table.carried_forward", carried)
    paper.new_page()
    _draw_titles(paper, grid)
    if has_sum:
        _draw_carry(paper, grid, "table.brought_forward", carried)
        rule = paper.top
        paper.page.marks.append(Rule(style.LEFT, rule, style.RIGHT, rule, 0.35, style.HAIRLINE))


def _draw_carry(paper: Paper, grid: Grid, name: str, carried: Decimal) -> None:
    top = paper.top + _PADDING
    column = grid.column("amount")
    left = grid.column("description").left
    paper.set.put(paper.page, left, top, paper.texts(name), style.CARRY)
    amount = paper.formats.amount(carried)
    paper.set.put(paper.page, column.right, top, amount, style.CARRY, "right")
    paper.top += _CARRY


def _draw_titles(paper: Paper, grid: Grid) -> None:
    titles = [
        paper.set.lines(column.title, style.COLUMN, column.right - column.left + 0.5)
        for column in grid.columns
    ]
    rows = max(len(lines) for lines in titles)
    height = rows * style.COLUMN.leading + 2 * _PADDING
    paper.page.marks.append(
        Frame(style.LEFT - 4, paper.top, style.WIDTH + 8, height, fill=style.TINT)
    )
    for column, lines in zip(grid.columns, titles, strict=True):
        # On the lowest row of titles, so that they stand right above what they name.
        top = paper.top + _PADDING + (rows - len(lines)) * style.COLUMN.leading
        for line in lines:
            paper.set.put(paper.page, column.edge, top, line, style.COLUMN, column.align)
            top += style.COLUMN.leading
    paper.top += height
