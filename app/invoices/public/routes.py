"""``/s/i/<token>``: a document for the client who got the link to it, as a page and its files.

Who opens a link may be a program that looks ahead: whether it counts as seen is decided here.
"""

from __future__ import annotations

import re
from typing import Any

from flask import Request, Response, request
from stdnum import iban

from app.clock import utc_now
from app.db import records
from app.errors import ApiError, InvalidStateError
from app.extensions import db
from app.http import schema_bounds as validate, schema_fields as fields
from app.http.areas import Area, LinkQuery, mailed
from app.http.dispositions import content_disposition
from app.http.public_pages import public_page
from app.http.security import acting_as, public, visitor
from app.invoices.document import InvoiceDocument
from app.invoices.downloads import InvoiceFile, data_of, pdf_of
from app.invoices.einvoice.preflight import preflight
from app.invoices.pdf.qr import payment_code
from app.invoices.plain_text import one_line
from app.invoices.public.links import not_there, read_token
from app.invoices.reading import read_document
from app.invoices.service import INVOICES
from app.invoices.texts import Texts, texts_for
from app.invoices.wording import Formats, discount_label, tax_label, title_of, total_label
from app.models.invoice import Invoice
from app.settings import organisation
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


# What a browser says of a page that nobody has asked for yet.
_AHEAD = ("Sec-Purpose", "Purpose", "X-Purpose", "X-Moz")
_AHEAD_OF_TIME = re.compile("prefetch|preview|prerender", re.IGNORECASE)
# Programs that open links in mail and chats before people do, as far as they say who they are.
_PROGRAM = re.compile(
    "bot|crawl|spider|slurp|preview|scan|facebookexternalhit|whatsapp|safelinks|barracuda"
    "|mimecast|proofpoint|curl|wget|python|httpclient|okhttp|java/|go-http",
    re.IGNORECASE,
)


def open_document(token: str) -> Invoice:
    """The row of the issued document behind a link.

    Raises: NotFoundError, the link is wrong or withdrawn, or the settings say that there are no
        pages.
    """
    claims = read_token(token)
    if claims is None or not organisation().invoicing.public_page:
        raise not_there()
    invoice_id, link_version = claims
    invoice = records.read(Invoice, invoice_id)
    if invoice is None or invoice.status == "Draft" or (invoice.link_version or 0) != link_version:
        raise not_there()
    return invoice


def is_reader(http_request: Request) -> bool:
    """Whether a person seems to look: not a program, not ahead of time, nobody of ours."""
    headers = http_request.headers
    if http_request.method != "GET" or "Authorization" in headers or "X-API-Key" in headers:
        return False
    if any(_AHEAD_OF_TIME.search(headers.get(name, "")) for name in _AHEAD):
        return False
    return not _PROGRAM.search(http_request.user_agent.string or "bot")


def note_view(invoice_id: int) -> bool:
    """Write down that the client has seen the document; only the first time is news.

    Returns: whether it was the first.
    """
    with acting_as(visitor()):
        invoice = INVOICES.stored(invoice_id)
        if invoice.viewed_at is not None or invoice.status == "Void":
            return False
        INVOICES.apply(invoice_id, {"viewed_at": utc_now()}, "invoice.viewed")
    return True


pages = Area(
    "invoice-pages", __name__, description="Documents for the clients who got a link to them"
)
FILE = {"type": "string", "format": "binary"}
PROBLEM_PAGE = {
    "description": "A page that says what is the matter with the link.",
    "content": {"text/html": {"schema": {"type": "string"}, "example": "<!doctype html>"}},
}


class PageQuerySchema(LinkQuery):
    """What of the document is wanted."""

    file = fields.String(
        validate=validate.OneOf(("pdf", "einvoice")),
        description="A file instead of the page: the PDF as it was issued, or UBL 2.1.",
        example="pdf",
    )
    preview = fields.Boolean(
        load_default=False, description="Look at it without being counted.", example=True
    )


@pages.get("/<token>")
@pages.arguments(PageQuerySchema, location="query", unknown=None)
@pages.response(200, {"type": "string"}, content_type="text/html")
@pages.doc(responses=dict.fromkeys((404, 409), PROBLEM_PAGE))
@pages.alt_response(200, schema=FILE, content_type="*/*", description="The file.", success=True)
@mailed
@public
def show_document(query: dict[str, Any], token: str) -> Response:
    """The page of an issued document: amount, due date, state, how to pay, its files.

    The first `GET` of somebody who is not signed in sets `viewedAt` and emits `invoice.viewed`;
    `HEAD`, `preview`, pages fetched ahead of time and programs that say what they are do not.
    """
    try:
        invoice = open_document(token)
        file_kind = query.get("file")
        if file_kind is None:
            document = read_document(invoice.id)
            answer = document_page(invoice, document, is_preview=query["preview"])
            if not _count(query, invoice):  # then nobody is to wait for the transaction
                db.session.rollback()
            return answer
        if invoice.status == "Void":
            raise InvalidStateError("The document was cancelled.", [("status", "is Void")])
        if file_kind == "einvoice":
            return _answer(data_of(invoice, "ubl"))
        file = pdf_of(invoice)
        _count(query, invoice)
        return _answer(file)
    except ApiError as error:
        return problem_page(error.status, error.message)


def _count(query: dict[str, Any], invoice: Invoice) -> bool:
    """Note the view where it is the first; whether it is."""
    if query["preview"] or invoice.viewed_at is not None or not is_reader(request):
        return False
    return note_view(invoice.id)


def _answer(file: InvoiceFile) -> Response:
    answer = Response(file.content, mimetype=file.media_type)
    answer.headers["Content-Disposition"] = content_disposition("attachment", file.name)
    answer.headers["X-Robots-Tag"] = "noindex, nofollow"
    return answer
