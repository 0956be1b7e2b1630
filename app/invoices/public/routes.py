"""``/s/i/<token>``: a document for the client who got the link to it, as a page and its files.

Who opens a link may be a program that looks ahead: whether it counts as seen is decided here.
"""

from __future__ import annotations

import re
from typing import Any

from flask import Request, Response, request

from app.clock import utc_now
from app.db import records
from app.errors import ApiError, InvalidStateError
from app.extensions import db
from app.http import schema_bounds as validate, schema_fields as fields
from app.http.areas import Area, LinkQuery, mailed
from app.http.dispositions import content_disposition
from app.http.security import acting_as, public, visitor
from app.invoices.downloads import InvoiceFile, data_of, pdf_of
from app.invoices.public.links import not_there, read_token
from app.invoices.public.page import document_page, problem_page
from app.invoices.reading import read_document
from app.invoices.service import INVOICES
from app.models.invoice import Invoice
from app.settings import organisation

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
            return _answer(data_of(invoice.id, invoice, "ubl"))
        file = pdf_of(invoice.id, invoice)
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
