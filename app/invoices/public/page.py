"""What a client sees of a document: what it is, what is to be paid and how, its files."""

from __future__ import annotations

from flask import Response
from stdnum import iban

from app.http.public_pages import public_page
from app.invoices.document import InvoiceDocument
from app.invoices.einvoice.preflight import preflight
from app.invoices.pdf.qr import payment_code
from app.invoices.plain_text import one_line
from app.invoices.texts import Texts, texts_for
from app.invoices.wording import Formats, discount_label, tax_label, title_of, total_label
from app.models.invoice import Invoice
from app.settings.days import today

TEMPLATE = "invoice.html"
# Lines of a page that a telephone opens; the PDF has all of them.
MOST_LINES = 100
# Light modules around a code, by its standard.
_QUIET = 4
Facts = list[tuple[str, str]]


def document_page(
    invoice: Invoice, document: InvoiceDocument, *, is_preview: bool = False
) -> Response:
    """The page of an issued document, in the language of the client."""
    words, formats = texts_for(document.language), Formats(document)
    is_void = invoice.status == "Void"
    is_open = bool(document.amount_due) and not document.is_credit_note and not is_void
    return public_page(
        TEMPLATE,
        language=words.language,
        words=words,
        title=title_of(document),
        seller=one_line(document.seller.registered_name),
        amount=formats.money(document.amount_due if is_open else document.total),
        facts=_facts(invoice, document, words, formats),
        payment=_payment(document, words) if is_open else [],
        code=_code(document) if is_open else None,
        lines=_lines(document, words, formats),
        more=max(0, len(document.lines) - MOST_LINES),
        totals=_totals(document, words, formats),
        is_void=is_void,
        is_preview=is_preview,
        has_data=not is_void and not preflight(document),
    )


def problem_page(status: int, problem: str) -> Response:
    """That the link does not work."""
    return public_page(TEMPLATE, status, problem=problem)


def _facts(invoice: Invoice, document: InvoiceDocument, words: Texts, formats: Formats) -> Facts:
    facts: Facts = []
    if not document.is_credit_note or invoice.status == "Void":
        facts.append((words("page.status"), words(_state(invoice, document))))
    if document.issue_date:
        facts.append((words("labels.date"), formats.day(document.issue_date)))
    if document.due_date and document.amount_due and not document.is_credit_note:
        facts.append((words("labels.due_date"), formats.day(document.due_date)))
    if document.credited:
        facts.append((words("labels.credited_invoice"), one_line(document.credited.number)))
    facts.append((total_label(words, document), formats.money(document.total)))
    if document.amount_due not in (0, document.total) and not document.is_credit_note:
        facts.append((words("totals.amount_due"), formats.money(document.amount_due)))
    return facts


def _state(invoice: Invoice, document: InvoiceDocument) -> str:
    """What the state means to the client; that it was written off is no concern of theirs."""
    if invoice.status == "Void":
        return "page.void"
    if not document.amount_due:
        return (
            "totals.credited" if document.amount_credited and not document.payments else "page.paid"
        )
    if document.due_date and document.due_date < today():
        return "page.overdue"
    return "page.partly_paid" if invoice.status == "PartiallyPaid" else "page.open"


def _lines(document: InvoiceDocument, words: Texts, formats: Formats) -> list[tuple[str, str, str]]:
    """Of the first lines what they are of, how many at which price, and their amount."""
    gross = document.prices_include_tax
    rows = []
    for line in document.lines[:MOST_LINES]:
        unit = words.find(f"units.{line.unit_code}") or line.unit_code
        price = f"{formats.quantity(line.quantity)} {unit} \u00d7 {formats.price(line.unit_price)}"
        if line.discount_percent:
            price += f" \u2212 {formats.percent(line.discount_percent)}"
        amount = formats.amount(line.line_total if gross else line.line_net)
        rows.append((one_line(line.description), price, amount))
    return rows


def _totals(document: InvoiceDocument, words: Texts, formats: Formats) -> Facts:
    """How the total comes of the lines: before taxes, the discount, the taxes."""
    gross = document.prices_include_tax
    rows = [] if gross else [(words("totals.subtotal"), formats.amount(document.subtotal))]
    if document.discount_total and not gross:
        label = discount_label(words, formats, document.discount_percent)
        rows.append((label, f"\u2212{formats.amount(document.discount_total)}"))
    name = "totals.included_tax" if gross else "totals.tax"
    for group in document.tax_breakdown:
        rows.append((tax_label(words, formats, group, name), formats.amount(group.tax)))
    return [*rows, (total_label(words, document), formats.money(document.total))]


def _code(document: InvoiceDocument) -> tuple[int, str] | None:
    """The code to scan: modules on each side, and the dark ones as a path of SVG."""
    rows = payment_code(document)
    if rows is None:
        return None
    path = [
        f"M{left + _QUIET} {top + _QUIET}h1v1h-1z"
        for top, row in enumerate(rows)
        for left, module in enumerate(row)
        if module
    ]
    return len(rows) + 2 * _QUIET, "".join(path)


def _payment(document: InvoiceDocument, words: Texts) -> Facts:
    bank = document.bank
    if bank is None:
        return []
    facts = [
        (words("payment.account_holder"), one_line(document.payee)),
        (words("payment.iban"), iban.format(bank.iban)),
    ]
    if bank.bic:
        facts.append((words("payment.bic"), bank.bic))
    return [*facts, (words("payment.reference"), one_line(document.number))]
