"""What the operations on invoices and payments look like on the wire (contract 11.1)."""

from __future__ import annotations

from typing import Any

from marshmallow import INCLUDE

from app.errors import refuse_any
from app.http import schema_bounds as validate, schema_fields as fields
from app.http.schema_fields import Schema
from app.http.schema_parts import CheckedSchema, Instant, JsonBoolean, OpenObject
from app.invoices.crediting import check_credit
from app.invoices.payments import PAYMENT, PAYMENTS, REASON
from app.invoices.service import INVOICE
from app.invoices.steps import REASON as VOID_REASON
from app.models.invoice import PAYMENT_METHODS


class PaymentBodySchema(CheckedSchema):
    """A payment to register."""

    def check(self, body: dict[str, Any]) -> None:
        """As a payment is checked."""
        refuse_any(PAYMENTS.problems(body, partial=True))

    amount = PAYMENT.field("amount", example=10)
    paid_on = PAYMENT.field("paid_on", metadata={"label": "Day", "example": "2026-01-31"})
    method = PAYMENT.field(
        "method",
        metadata={
            "description": f"One of {', '.join(PAYMENT_METHODS)}; in any case.",
            "example": "transfer",
        },
    )
    reference = PAYMENT.field("reference", example="SEPA 4711")
    notes = PAYMENT.field("notes")
    allow_overpayment = JsonBoolean(
        load_default=False,
        metadata={
            "description": "Keep what is paid too much as credit of the client.",
            "label": "Keep what is too much as credit",
        },
    )


class PaidInvoiceSchema(Schema):
    """How the invoice stands after a payment."""

    id = fields.Integer()
    number = fields.String()
    status = fields.String(example="Paid")
    total = fields.Decimal()
    amount_paid = fields.Decimal()
    amount_due = fields.Decimal()
    paid_at = Instant(allow_none=True)


class PaymentSchema(Schema):
    """A payment; ``id`` is null where a dry run would make it."""

    id = fields.Integer(allow_none=True)
    invoice_id = fields.Integer()
    amount = fields.Decimal()
    currency = fields.String(example="EUR")
    date = fields.Date()
    method = fields.String(example="transfer")
    reference = fields.String(allow_none=True)
    status = fields.String(example="Completed")
    created_at = Instant()
    invoice = fields.Nested(PaidInvoiceSchema)


class ReversedPaymentSchema(PaymentSchema):
    """A payment that was taken back."""

    reversed_at = Instant()
    reversal_reason = fields.String(allow_none=True)


class ReasonSchema(Schema):
    """Why."""

    reason = REASON.field("reversal_reason", example="Entered twice")


class VoidSchema(Schema):
    """Why."""

    reason = VOID_REASON.field("void_reason", required=True, example="Entered twice")


class CreditedLineSchema(Schema):
    """A line of a credit note, as a line of an invoice."""

    description = fields.String(description="What is credited.")
    quantity = fields.Decimal(metadata={"description": "How many.", "scale": 4})
    unit_price = fields.Decimal(metadata={"description": "Price of one.", "scale": 4})
    tax_rate = fields.Decimal(description="Tax in percent.")

    class Meta:
        unknown = INCLUDE


class CreditNoteBodySchema(CheckedSchema):
    """What to credit."""

    checked_by = check_credit

    lines = fields.List(
        OpenObject(CreditedLineSchema),
        data_key="lineItems",
        allow_none=True,
        load_default=None,
        description="Line items as of an invoice; all of the invoice when left out.",
        example=[{"description": "Training", "unitPrice": 5, "taxRate": 19}],
    )
    notes = INVOICE.field("notes", example="Returned")
    issue = JsonBoolean(load_default=True, description="Issue it at once; else it is a draft.")


class StandingSchema(Schema):
    """How an invoice or a credit note stands; ``id`` is null where a dry run would make it."""

    id = fields.Integer(allow_none=True)
    number = fields.String(allow_none=True)
    type = fields.String(validate=validate.OneOf(("Invoice", "CreditNote")))
    status = fields.String(example="Sent")
    total = fields.Decimal()
    amount_paid = fields.Decimal()
    amount_credited = fields.Decimal()
    amount_due = fields.Decimal()
    sent_at = Instant(allow_none=True)
    paid_at = Instant(allow_none=True)
    voided_at = Instant(allow_none=True)
    void_reason = fields.String(allow_none=True)
    credited_invoice_id = fields.Integer(allow_none=True)
