"""Opening the link to a document: who may, what for, and whether it counts as seen."""

from __future__ import annotations

import re

from flask import Request

from app.clock import utc_now
from app.db import records
from app.http.security import acting_as, visitor
from app.invoices.public.links import not_there, read_token
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
    known = read_token(token)
    if known is None or not organisation().invoicing.public_page:
        raise not_there()
    invoice_id, link_version = known
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
