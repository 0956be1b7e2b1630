"""Invoices and payments as the answers of the operations show them (contract 11.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.db import records
from app.errors import NotFoundError
from app.invoices.service import INVOICES
from app.models.columns import Record
from app.models.invoice import Payment

_INVOICE = {
    "id": "id", "number": "number", "type": "type", "status": "status", "total": "total",
    "amount_paid": "amountPaid", "amount_credited": "amountCredited", "amount_due": "amountDue",
    "sent_at": "sentAt", "paid_at": "paidAt", "voided_at": "voidedAt",
    "void_reason": "voidReason", "credited_invoice_id": "creditedInvoiceId",
}  # fmt: skip
_PAID_INVOICE = ("id", "number", "status", "total", "amountPaid", "amountDue", "paidAt")
_PAYMENT = {
    "id": "id", "invoice_id": "invoiceId", "amount": "amount", "currency": "currency",
    "paid_on": "date", "method": "method", "reference": "reference", "status": "status",
    "created_at": "createdAt",
}  # fmt: skip
_REVERSED = {"reversed_at": "reversedAt", "reversal_reason": "reversalReason"}


def describe_invoice(invoice_id: int) -> dict[str, Any]:
    """The standing of an invoice or credit note."""
    return _named(INVOICES.stored(invoice_id), _INVOICE)


def describe_payment(payment_id: int) -> dict[str, Any]:
    """A payment with the invoice that it is for; when it was reversed, since when and why.

    Raises: NotFoundError.
    """
    payment = records.read(Payment, payment_id)
    if payment is None:
        raise NotFoundError(f"There is no payment {payment_id}.")
    representation = _named(payment, _PAYMENT)
    if payment.status == "Reversed":
        representation |= _named(payment, _REVERSED)
    invoice = describe_invoice(payment.invoice_id)
    return {**representation, "invoice": {name: invoice[name] for name in _PAID_INVOICE}}


def _named(record: Record, names: Mapping[str, str]) -> dict[str, Any]:
    return {name: getattr(record, attribute) for attribute, name in names.items()}
