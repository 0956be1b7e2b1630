"""``/api/invoices`` and ``/api/payments``: what is done with documents besides writing them."""

from __future__ import annotations

from typing import Any

from flask import Response, request

from app.http import schema_bounds as validate, schema_fields as fields
from app.http.areas import Area
from app.http.dispositions import content_disposition
from app.http.dry_run import DryRunSchema, tried
from app.http.lists import Page
from app.http.schema_fields import Schema
from app.http.schema_parts import Instant, PageQuerySchema, page_schema
from app.http.security import requires
from app.invoices import sending
from app.invoices.downloads import E_INVOICE_FORMS, InvoiceFile, data_of, pdf_of
from app.invoices.letters import Letter
from app.invoices.operations import OPERATIONS
from app.invoices.public import links
from app.invoices.schemas import LetterSchema, MailedSchema, PreviewSchema
from app.invoices.steps import readable
from app.operations.rest import publish

area = Area("invoices", __name__, description="Invoices: payments, credit notes, files, mail")
payments_area = Area("payments", __name__, description="Payments: reversal")

publish(area, *(each for each in OPERATIONS if each.bound_to != "Payment"))
publish(payments_area, *(each for each in OPERATIONS if each.bound_to == "Payment"))


@area.post("/<int:invoice_id>/preview")
@area.arguments(LetterSchema)
@area.response(200, PreviewSchema)
@requires("invoices:send")
def preview(letter: Letter, invoice_id: int) -> dict[str, Any]:
    """The mail that `send` would write, by the templates of the settings; nothing is sent."""
    return sending.preview(invoice_id, letter)


@area.get("/<int:invoice_id>/deliveries")
@area.arguments(PageQuerySchema, location="query")
@area.response(200, page_schema(MailedSchema))
@requires("invoices:read")
def list_deliveries(page: dict[str, int], invoice_id: int) -> Page:
    """The mails about the document, the newest first, and what became of each."""
    return sending.list_deliveries(invoice_id, **page)


@area.post("/<int:invoice_id>/deliveries/<int:delivery_id>/resend")
@area.arguments(DryRunSchema, location="query")
@area.response(200, MailedSchema)
@requires("invoices:send")
def resend(query: dict[str, Any], invoice_id: int, delivery_id: int) -> dict[str, Any]:
    """Send a failed mail again: the same message with the same Message-ID."""
    with tried(query["dry_run"]):
        return sending.resend(invoice_id, delivery_id)


class LinkSchema(Schema):
    """Where the client finds the document."""

    id = fields.Integer()
    url = fields.String(example="https://platform.example.com/s/i/17-0-KxYnb3q0QmZ1c2VkIGlkcw")
    viewed_at = Instant(allow_none=True)


@area.get("/<int:invoice_id>/link")
@area.response(200, LinkSchema)
@area.alt_response(409, response="Error409")
@requires("invoices:send")
def show_link(invoice_id: int) -> dict[str, Any]:
    """The address of the document's page for the client: it needs no account.

    It is the one in the mail, the same at every request, and works until it is withdrawn.
    """
    return links.show_link(invoice_id)


@area.delete("/<int:invoice_id>/link")
@area.response(204)
@requires("invoices:send")
def withdraw_link(invoice_id: int) -> None:
    """End every link to the document that was given out; the next one is another."""
    links.withdraw_link(invoice_id)


_FILE = {"type": "string", "format": "binary"}


class PdfQuerySchema(Schema):
    """Which PDF, and how it is delivered."""

    download = fields.Boolean(
        load_default=False, description="To be saved, instead of shown.", example=True
    )
    current = fields.Boolean(
        load_default=False,
        description="A copy as the document stands now, with payments and its mark; else"
        " the file frozen at issue.",
        example=False,
    )


class EInvoiceQuerySchema(Schema):
    """In which form."""

    format = fields.String(
        required=True,
        validate=validate.OneOf(E_INVOICE_FORMS),
        description="`ubl` (UBL 2.1), `facturx` (PDF/A-3 with CII inside) or `cii`.",
        example="ubl",
    )


@area.get("/<int:invoice_id>/pdf")
@area.arguments(PdfQuerySchema, location="query")
@area.response(200, _FILE, content_type="application/pdf")
@area.alt_response(304, description="It is as you know it.", success=True)
@requires("invoices:read")
def invoice_pdf(query: dict[str, Any], invoice_id: int) -> Response:
    """The document as a PDF, shown or (`download=1`) saved.

    Issue freezes it: the same bytes ever after, whose SHA-256 is `pdfSha256` and the ETag. It is a
    PDF/A-3 with the Factur-X data inside, where the data of both parties allow that. A draft, and
    with `current=1` any document, is drawn as it stands.
    """
    file = pdf_of(readable(invoice_id), current=query["current"])
    return _answer(file, "attachment" if query["download"] else "inline")


@area.get("/<int:invoice_id>/einvoice")
@area.arguments(EInvoiceQuerySchema, location="query")
@area.response(200, _FILE, content_type="application/xml")
@area.doc(responses={200: {"content": {"application/pdf": {"schema": _FILE}}}})
@area.alt_response(409, response="Error409")
@area.alt_response(304, description="It is as you know it.", success=True)
@requires("invoices:read")
def e_invoice(query: dict[str, Any], invoice_id: int) -> Response:
    """An issued document as data of EN 16931, to be saved; `facturx` is a PDF.

    Where the data do not allow it, 400 names each field with the id of the rule.
    """
    return _answer(data_of(readable(invoice_id), query["format"]), "attachment")


def _answer(file: InvoiceFile, kind: str) -> Response:
    answer = Response(file.content, mimetype=file.media_type)
    answer.headers["Content-Disposition"] = content_disposition(kind, file.name)
    answer.set_etag(file.sha256)
    answer.make_conditional(request)
    return answer
