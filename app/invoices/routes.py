"""``/api/invoices`` and ``/api/payments``: what is done with documents besides writing them."""

from __future__ import annotations

from typing import Any

from app.events import entity_url
from app.http.dry_run import DryRunSchema, undo_if_dry
from app.http.security import requires
from app.invoices import file_views, link_views, mail_views
from app.invoices.area import area, payments_area
from app.invoices.crediting import create_credit_note
from app.invoices.operations import mark_uncollectible, void_invoice
from app.invoices.payments import register_payment, reverse_payment
from app.invoices.schemas import (
    CreditNoteBodySchema,
    PaymentBodySchema,
    PaymentSchema,
    ReasonSchema,
    ReversedPaymentSchema,
    StandingSchema,
)
from app.invoices.shapes import describe_invoice, describe_payment

__all__ = ["area", "file_views", "link_views", "mail_views", "payments_area"]

Made = tuple[dict[str, Any], int, dict[str, str]]


@area.post("/<int:invoice_id>/payments")
@area.arguments(DryRunSchema, location="query")
@area.arguments(PaymentBodySchema)
@area.response(201, PaymentSchema)
@requires("payments:create")
def pay(query: dict[str, Any], body: dict[str, Any], invoice_id: int) -> Made:
    """Register a payment; a draft is issued first, and nothing left to pay makes it `Paid`.

    More than what is left is 409 `OVERPAYMENT`, unless `allowOverpayment` keeps the rest as
    credit of the client.
    """
    allow = body.pop("allow_overpayment")
    payment_id = register_payment(invoice_id, body, allow_overpayment=allow)
    address = f"{entity_url('Invoice', invoice_id)}/Payments({payment_id})"
    return _made(query, describe_payment(payment_id), address)


@area.post("/<int:invoice_id>/void")
@area.arguments(DryRunSchema, location="query")
@area.arguments(ReasonSchema)
@area.response(200, StandingSchema)
@requires("invoices:void")
def void(query: dict[str, Any], body: dict[str, Any], invoice_id: int) -> dict[str, Any]:
    """Take an issued document back; its number stays. Payments must be reversed before."""
    void_invoice(invoice_id, body.get("reason"))
    return _standing(query, invoice_id)


@area.post("/<int:invoice_id>/uncollectible")
@area.arguments(DryRunSchema, location="query")
@area.response(200, StandingSchema)
@requires("invoices:uncollectible")
def write_off(query: dict[str, Any], invoice_id: int) -> dict[str, Any]:
    """Write an invoice off: it leaves the receivables, and can still be paid."""
    mark_uncollectible(invoice_id)
    return _standing(query, invoice_id)


@area.post("/<int:invoice_id>/credit-note")
@area.arguments(DryRunSchema, location="query")
@area.arguments(CreditNoteBodySchema)
@area.response(201, StandingSchema)
@requires("invoices:credit")
def credit(query: dict[str, Any], body: dict[str, Any], invoice_id: int) -> Made:
    """Credit an issued invoice, all of it or the lines given.

    The credit lowers what is left to pay first; the rest becomes credit of the client.
    """
    credit_note_id = create_credit_note(
        invoice_id, body["lineItems"], notes=body.get("notes"), issue=body["issue"]
    )
    address = entity_url("Invoice", credit_note_id)
    return _made(query, describe_invoice(credit_note_id), address)


@payments_area.post("/<int:payment_id>/reverse")
@payments_area.arguments(DryRunSchema, location="query")
@payments_area.arguments(ReasonSchema)
@payments_area.response(200, ReversedPaymentSchema)
@requires("payments:reverse")
def reverse(query: dict[str, Any], body: dict[str, Any], payment_id: int) -> dict[str, Any]:
    """Take a payment back, because it bounced or was a mistake; the invoice is open again."""
    reverse_payment(payment_id, body.get("reason"))
    answer = describe_payment(payment_id)
    undo_if_dry(query)
    return answer


def _standing(query: dict[str, Any], invoice_id: int) -> dict[str, Any]:
    answer = describe_invoice(invoice_id)
    undo_if_dry(query)
    return answer


def _made(query: dict[str, Any], shown: dict[str, Any], address: str) -> Made:
    """201 with the address of what was made, which after a dry run is not there."""
    if undo_if_dry(query):
        return {**shown, "id": None}, 201, {}
    return shown, 201, {"Location": address}
