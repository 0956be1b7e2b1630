"""What follows the totals: how to pay, why no tax is charged, terms and notes."""

from __future__ import annotations

from collections.abc import Iterator

from stdnum import iban

from app.invoices.einvoice.terms import exemption_reason
from app.invoices.pdf import style
from app.invoices.pdf.drawing import MM, Modules
from app.invoices.pdf.paper import Paper
from app.invoices.pdf.qr import payment_code
from app.invoices.plain_text import clean, one_line
from app.invoices.wording import end_once

_CODE = 29 * MM
_LABELS = 36 * MM
_BETWEEN = 3.5 * MM


def draw_closing(paper: Paper) -> None:
    """Payment, reasons, terms and notes; texts go on over pages."""
    document = paper.document
    tells_payment = document.is_credit_note or document.amount_due > 0 or document.is_receipt
    if document.state != "Void" and tells_payment:
        _draw_payment(paper)
    for heading, text in _texts(paper):
        _draw_text(paper, heading, text)


def _texts(paper: Paper) -> Iterator[tuple[str, str]]:
    document, texts = paper.document, paper.texts
    if terms := clean(document.terms):
        yield texts("payment.terms"), terms
    reasons = []
    for group in document.tax_breakdown:
        reason = exemption_reason(document, group.tax_category, group.tax_rate)
        name = texts.find(f"categories.{group.tax_category}")
        if reason and name:
            reasons.append(reason if reason == name else f"{name}: {reason}")
    if note := "\n".join(filter(None, [*reasons, clean(document.notes)])):
        yield texts("payment.notes"), note


def _draw_payment(paper: Paper) -> None:
    """The sentence that asks for the money, the account, and the code to scan."""
    sentence = _sentence(paper)
    facts = list(_account(paper))
    code = payment_code(paper.document)
    height = style.HEADING.leading + style.BODY.leading + len(facts) * style.BODY.leading
    if code is not None:
        height = max(height, _CODE + style.SMALL.leading)
    paper.keep_together(height + _BETWEEN)
    top = paper.top
    paper.set.put(paper.page, style.LEFT, top, paper.texts("payment.heading"), style.HEADING)
    top += style.HEADING.leading
    top = paper.set.paragraph(
        paper.page, style.LEFT, top, sentence, style.BODY, style.WIDTH - _CODE - 6 * MM
    ) + 3  # fmt: skip
    for label, value in facts:
        paper.set.put(paper.page, style.LEFT, top, label, style.LABEL)
        width = style.WIDTH - _CODE - _LABELS - 6 * MM
        paper.set.fit(paper.page, style.LEFT + _LABELS, top, value, style.BODY, width)
        top += style.BODY.leading
    if code is not None:
        left = style.RIGHT - _CODE
        paper.page.marks.append(Modules(left, paper.top, _CODE, code))
        below, middle = paper.top + _CODE + 1.5, left + _CODE / 2
        caption = paper.texts("payment.scan")
        paper.set.fit(paper.page, middle, below, caption, style.SMALL, _CODE, "center")
        top = max(top, below + style.SMALL.leading)
    paper.top = top + _BETWEEN


def _sentence(paper: Paper) -> str:
    document, texts = paper.document, paper.texts
    if document.is_credit_note:
        return texts("payment.credit")
    if document.is_receipt:
        return texts("payment.settled")
    if document.due_date is not None:
        day = paper.formats.day(document.due_date)
        return end_once(texts("payment.pay_by", date=day))
    return texts("payment.pay_now")


def _account(paper: Paper) -> Iterator[tuple[str, str]]:
    """Label and value of what a transfer needs; nothing if nothing is owed."""
    document, texts = paper.document, paper.texts
    bank = document.bank
    owed = not document.is_credit_note and document.state in ("Draft", "Issued")
    if bank is None or not owed or document.amount_due <= 0:
        return
    facts = (
        ("payment.account_holder", one_line(document.payee)),
        ("payment.iban", iban.format(one_line(bank.iban))),
        ("payment.bic", one_line(bank.bic)),
        ("payment.bank", one_line(bank.bank_name)),
        ("payment.reference", one_line(document.number)),
        ("payment.amount", paper.formats.money(document.amount_due)),
    )
    for label, value in facts:
        if value:
            yield texts(label), value


def _draw_text(paper: Paper, heading: str, text: str) -> None:
    """A heading and its text; the heading takes two lines along."""
    lines = paper.set.lines(text, style.BODY, style.WIDTH)
    paper.keep_together(style.HEADING.leading + min(len(lines), 2) * style.BODY.leading)
    paper.set.put(paper.page, style.LEFT, paper.top, heading, style.HEADING)
    paper.top += style.HEADING.leading
    for line in lines:
        paper.keep_together(style.BODY.leading)
        paper.set.put(paper.page, style.LEFT, paper.top, line, style.BODY)
        paper.top += style.BODY.leading
    paper.top += _BETWEEN
