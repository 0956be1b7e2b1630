"""Documents go out by mail: send one or many, look at the letter first, see what became of it."""

from __future__ import annotations

from typing import Any

from flask import request

from app.http.dry_run import DryRunSchema, undo_if_dry
from app.http.lists import Page
from app.http.schema_parts import PageQuerySchema, page_schema
from app.http.security import requires
from app.invoices.area import area
from app.invoices.deliveries import list_deliveries, resend
from app.invoices.sending import Letter, preview
from app.invoices.sending_many import send_invoices
from app.invoices.sending_schemas import (
    LetterSchema,
    MailedSchema,
    PreviewSchema,
    SendManySchema,
    SentManySchema,
)


@area.post("/send")
@area.arguments(DryRunSchema, location="query")
@area.arguments(SendManySchema)
@area.response(200, SentManySchema)
@requires("invoices:send")
def send_many(query: dict[str, Any], wanted: tuple[list[int], Letter]) -> dict[str, Any]:
    """Send many documents, each in a transaction of its own.

    With an `Idempotency-Key`, what a request that was cut off has sent is not sent again.
    """
    invoice_ids, letter = wanted
    key = request.headers.get("Idempotency-Key")
    return send_invoices(invoice_ids, letter, dry_run=query["dry_run"], key=key)


@area.post("/<int:invoice_id>/preview")
@area.arguments(LetterSchema)
@area.response(200, PreviewSchema)
@requires("invoices:send")
def preview_mail(letter: Letter, invoice_id: int) -> dict[str, Any]:
    """The mail that `send` would write, by the templates of the settings; nothing is sent."""
    return preview(invoice_id, letter)


@area.get("/<int:invoice_id>/deliveries")
@area.arguments(PageQuerySchema, location="query")
@area.response(200, page_schema(MailedSchema))
@requires("invoices:read")
def show_deliveries(page: dict[str, int], invoice_id: int) -> Page:
    """The mails about the document, the newest first, and what became of each."""
    return list_deliveries(invoice_id, **page)


@area.post("/<int:invoice_id>/deliveries/<int:delivery_id>/resend")
@area.arguments(DryRunSchema, location="query")
@area.response(200, MailedSchema)
@requires("invoices:send")
def resend_mail(query: dict[str, Any], invoice_id: int, delivery_id: int) -> dict[str, Any]:
    """Send a failed mail again: the same message with the same Message-ID."""
    answer = resend(invoice_id, delivery_id)
    undo_if_dry(query)
    return answer
