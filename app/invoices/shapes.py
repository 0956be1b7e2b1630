"""Invoices and payments as the answers of the operations show them (contract 11.1)."""

from __future__ import annotations

from typing import Any

from app.db import records
from app.errors import NotFoundError
from app.http.schema_parts import shown
from app.invoices.schemas import (
    PaidInvoiceSchema,
    PaymentSchema,
    ReversedPaymentSchema,
    StandingSchema,
)
from app.invoices.service import INVOICES
from app.models.invoice import Payment


def describe_invoice(invoice_id: int) -> dict[str, Any]:
    """The standing of an invoice or credit note."""
    return shown(StandingSchema, INVOICES.stored(invoice_id))


def describe_payment(payment_id: int) -> dict[str, Any]:
    """A payment with the invoice that it is for; when it was reversed, since when and why.

    Raises: NotFoundError.
    """
    payment = records.read(Payment, payment_id)
    if payment is None:
        raise NotFoundError(f"There is no payment {payment_id}.")
    schema = ReversedPaymentSchema if payment.status == "Reversed" else PaymentSchema
    invoice = shown(PaidInvoiceSchema, INVOICES.stored(payment.invoice_id))
    return shown(schema, payment, date=payment.paid_on, invoice=invoice)
