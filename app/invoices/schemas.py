"""What the operations on invoices and payments look like on the wire (contract 11.1)."""

from __future__ import annotations

from datetime import MAXYEAR
from typing import Any

from app import wire_bounds as validate, wire_fields as fields
from app.invoices.crediting import check_credit
from app.invoices.payments import check_payment, check_reason
from app.models.invoice import PAYMENT_METHODS
from app.wire import CheckedSchema, Instant, JsonBoolean
from app.wire_fields import Schema
from app.writing.fields import EARLIEST_YEAR

_DAY = {
    "type": "string",
    "format": "date",
    "description": f"A day of the years {EARLIEST_YEAR} to {MAXYEAR}.",
}


class PaymentBodySchema(CheckedSchema):
    """A payment to register; the service checks the values and names what is wrong with them."""

    def check(self, given: dict[str, Any]) -> None:
        """As a payment is checked."""
        check_payment(given)

    amount = fields.Raw(required=True, metadata={"type": "number", "example": 10})
    date = fields.Raw(required=True, metadata={**_DAY, "example": "2026-01-31"})
    method = fields.Raw(
        required=True,
        metadata={
            "type": "string",
            "description": f"One of {', '.join(PAYMENT_METHODS)}; in any case.",
            "example": "transfer",
        },
    )
    reference = fields.Raw(metadata={"type": ["string", "null"], "example": "SEPA 4711"})
    notes = fields.Raw(metadata={"type": ["string", "null"]})
    allowOverpayment = JsonBoolean(
        load_default=False,
        metadata={"description": "Keep what is paid too much as credit of the client."},
    )


class PaidInvoiceSchema(Schema):
    """How the invoice stands after a payment."""

    id = fields.Integer()
    number = fields.String()
    status = fields.String(metadata={"example": "Paid"})
    total = fields.Decimal()
    amountPaid = fields.Decimal()
    amountDue = fields.Decimal()
    paidAt = Instant(allow_none=True)


class PaymentSchema(Schema):
    """A payment; ``id`` is null where a dry run would make it."""

    id = fields.Integer(allow_none=True)
    invoiceId = fields.Integer()
    amount = fields.Decimal()
    currency = fields.String(metadata={"example": "EUR"})
    date = fields.Date()
    method = fields.String(metadata={"example": "transfer"})
    reference = fields.String(allow_none=True)
    status = fields.String(metadata={"example": "Completed"})
    createdAt = Instant()
    invoice = fields.Nested(PaidInvoiceSchema)


class ReversedPaymentSchema(PaymentSchema):
    """A payment that was taken back."""

    reversedAt = Instant()
    reversalReason = fields.String(allow_none=True)


class ReasonSchema(CheckedSchema):
    """Why."""

    def check(self, given: dict[str, Any]) -> None:
        """As the reason of a reversal is checked."""
        check_reason(given)

    reason = fields.Raw(metadata={"type": ["string", "null"], "example": "Entered twice"})


class CreditNoteBodySchema(CheckedSchema):
    """What to credit."""

    def check(self, given: dict[str, Any]) -> None:
        """As a credit note is checked."""
        check_credit(given)

    lineItems = fields.List(
        fields.Dict(keys=fields.String(), metadata={"additionalProperties": True}),
        allow_none=True,
        load_default=None,
        metadata={
            "description": "Line items as of an invoice; all of the invoice when left out.",
            "example": [{"description": "Training", "unitPrice": 5, "taxRate": 19}],
        },
    )
    notes = fields.Raw(metadata={"type": ["string", "null"], "example": "Returned"})
    issue = JsonBoolean(
        load_default=True, metadata={"description": "Issue it at once; else it is a draft."}
    )


class StandingSchema(Schema):
    """How an invoice or a credit note stands; ``id`` is null where a dry run would make it."""

    id = fields.Integer(allow_none=True)
    number = fields.String(allow_none=True)
    type = fields.String(validate=validate.OneOf(("Invoice", "CreditNote")))
    status = fields.String(metadata={"example": "Sent"})
    total = fields.Decimal()
    amountPaid = fields.Decimal()
    amountCredited = fields.Decimal()
    amountDue = fields.Decimal()
    sentAt = Instant(allow_none=True)
    paidAt = Instant(allow_none=True)
    voidedAt = Instant(allow_none=True)
    voidReason = fields.String(allow_none=True)
    creditedInvoiceId = fields.Integer(allow_none=True)
