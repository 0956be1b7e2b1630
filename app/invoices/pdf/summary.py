"""The totals: from the sum of the lines to what is to be paid."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from math import cos, radians, sin
from typing import Protocol

from app.invoices.document import PaymentEntry
from app.invoices.pdf import style
from app.invoices.pdf.drawing import MM, Frame, Rule
from app.invoices.pdf.paper import Paper
from app.invoices.pdf.style import Style
from app.invoices.wording import discount_label, tax_label, total_label

_WIDTH = 88 * MM
_LEFT = style.RIGHT - _WIDTH
_AMOUNT_SHARE = 0.40
_GAP = 4 * MM
_PADDING = 3.0


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the totals; ``emphasis``: "total" has a rule above it, "due" a ground."""

    label: tuple[str, ...]
    amount: str
    face: Style
    emphasis: str = ""

    @property
    def height(self) -> float:
        padding = 2 * _PADDING if self.emphasis else 0.0
        return max(len(self.label), 1) * self.face.leading + 1 + padding


class Teller(Protocol):
    """Adds a line to the totals; ``currency`` is that of the document where it is not given."""

    def __call__(
        self,
        label: str,
        amount: Decimal,
        face: Style = ...,
        emphasis: str = ...,
        currency: str | None = ...,
    ) -> None: ...


def entries(paper: Paper) -> list[Entry]:
    """The totals of a document, in order."""
    document, texts, formats = paper.document, paper.texts, paper.formats
    entries: list[Entry] = []

    def tell(
        label: str,
        amount: Decimal,
        face: Style = style.BODY,
        emphasis: str = "",
        currency: str | None = None,
    ) -> None:
        width = _WIDTH * (1 - _AMOUNT_SHARE) - 2 * _PADDING
        wrapped = tuple(paper.set.lines(label, face, width))
        entries.append(Entry(wrapped, formats.money(amount, currency), face, emphasis))

    if document.prices_include_tax:
        _tell_gross(paper, tell)
    else:
        _tell_net(paper, tell)
    _tell_accounted_tax(paper, tell)
    paid = [*_payments(paper)]
    for label, amount in paid:
        tell(label, -amount)
    if document.amount_credited:
        tell(texts("totals.credited"), -document.amount_credited)
    settled = sum((amount for _, amount in paid), document.amount_credited)
    if settled:
        if surplus := settled + document.amount_due - document.total:
            tell(texts("totals.surplus"), surplus)
        tell(texts("totals.amount_due"), document.amount_due, style.DUE, "due")
    return entries


def height_of(lines: list[Entry]) -> float:
    """How much room the totals take."""
    return _GAP + sum(entry.height for entry in lines) + _GAP


def draw_summary(paper: Paper, lines: list[Entry]) -> None:
    """Draw the totals below the table, at the right."""
    paper.keep_together(height_of(lines))
    paper.top += _GAP
    start = paper.top
    for entry in lines:
        _draw_entry(paper, entry)
    if paper.document.state == "Paid" and paper.document.is_receipt:
        _draw_stamp(paper, start)
    paper.top += _GAP


def _tell_net(paper: Paper, tell: Teller) -> None:
    document, texts = paper.document, paper.texts
    tell(texts("totals.subtotal"), document.subtotal)
    if document.discount_total:
        label = discount_label(texts, paper.formats, document.discount_percent)
        tell(label, -document.discount_total)
        tell(texts("totals.net"), document.net_total)
    for group in document.tax_breakdown:
        tell(tax_label(texts, paper.formats, group, "totals.tax"), group.tax)
    _tell_total(paper, tell)


def _tell_gross(paper: Paper, tell: Teller) -> None:
    """What the customer saw comes first; the net amount and the tax are said to be in it."""
    document, texts = paper.document, paper.texts
    subtotal = sum((line.line_total for line in document.lines), Decimal(0))
    off = subtotal - document.total
    if off:
        tell(texts("totals.subtotal"), subtotal)
        tell(discount_label(texts, paper.formats, document.discount_percent), -off)
    _tell_total(paper, tell)
    tell(texts("totals.included_net"), document.net_total, style.LABEL)
    for group in document.tax_breakdown:
        label = tax_label(texts, paper.formats, group, "totals.included_tax")
        tell(label, group.tax, style.LABEL)


def _tell_accounted_tax(paper: Paper, tell: Teller) -> None:
    """The VAT in the seller's currency, and the rate, where the document has another."""
    document, formats = paper.document, paper.formats
    if document.tax_currency is None or document.accounted_tax is None:
        return
    label = paper.texts(
        "totals.accounted_tax",
        currency=document.tax_currency,
        rate=f"1 {document.currency} = {formats.rate(document.exchange_rate)}"
        f" {document.tax_currency}",
    )
    tell(label, document.accounted_tax, style.LABEL, currency=document.tax_currency)


def _tell_total(paper: Paper, tell: Teller) -> None:
    tell(total_label(paper.texts, paper.document), paper.document.total, style.TOTAL, "total")


def _payments(paper: Paper) -> Iterator[tuple[str, Decimal]]:
    """One line a payment."""
    for payment in paper.document.payments:
        yield _payment_label(paper, payment), payment.amount


def _payment_label(paper: Paper, payment: PaymentEntry) -> str:
    method = paper.texts.find(f"methods.{payment.method}") or payment.method
    return paper.texts("totals.paid", date=paper.formats.day(payment.paid_on), method=method)


def _draw_entry(paper: Paper, entry: Entry) -> None:
    page, top = paper.page, paper.top
    inner = 0.0
    if entry.emphasis == "total":
        page.marks.append(Rule(_LEFT, top + 1, style.RIGHT, top + 1, 0.8, style.ACCENT))
    if entry.emphasis == "due":
        page.marks.append(Frame(_LEFT - 4, top, _WIDTH + 8, entry.height - 1, fill=style.TINT))
    if entry.emphasis:
        inner = _PADDING
    for row, line in enumerate(entry.label):
        at = top + inner + row * entry.face.leading
        paper.set.fit(page, _LEFT, at, line, entry.face, _WIDTH * (1 - _AMOUNT_SHARE))
    last = top + inner + (len(entry.label) - 1) * entry.face.leading
    width = _WIDTH * _AMOUNT_SHARE
    paper.set.fit(page, style.RIGHT, last, entry.amount, entry.face, width, "right")
    paper.top += entry.height


def _draw_stamp(paper: Paper, top: float) -> None:
    """PAID, as a rubber stamp would say it, in the free space beside the totals."""
    word = paper.texts("marks.paid")
    word_width = paper.set.width(word, style.STAMP_TEXT)
    day = paper.formats.day(max(payment.paid_on for payment in paper.document.payments))
    width = word_width + 10 * MM
    height = 13 * MM + style.STAMP_DAY.leading
    angle = 6.0
    left = style.LEFT + 8 * MM
    bottom = top + height + 4 * MM
    paper.page.marks.append(
        Frame(left, bottom - height, width, height, stroke=style.STAMP, line_width=1.6, angle=angle)
    )
    up = 4.2 * MM + style.STAMP_DAY.leading
    _put_in_frame(paper, word, style.STAMP_TEXT, (left, bottom), (width, up), angle)
    _put_in_frame(paper, day, style.STAMP_DAY, (left, bottom), (width, 3.4 * MM), angle)


def _put_in_frame(
    paper: Paper,
    text: str,
    face: Style,
    corner: tuple[float, float],
    offset: tuple[float, float],
    angle: float,
) -> None:
    """Centre a text in a turned frame, ``offset`` being the frame's width and the height above."""
    turn = radians(angle)
    width, up = offset
    across = (width - paper.set.width(text, face)) / 2
    x = corner[0] + across * cos(turn) - up * sin(turn)
    base = corner[1] - across * sin(turn) - up * cos(turn)
    paper.set.put_turned(paper.page, x, base, text, face, angle)
