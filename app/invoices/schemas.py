"""What the operations on invoices and payments look like on the wire (contract 11.1)."""

from __future__ import annotations

from typing import Any

from marshmallow import INCLUDE, ValidationError, post_load

from app.errors import refuse_any
from app.http import schema_bounds as validate, schema_fields as fields
from app.http.schema_fields import Schema
from app.http.schema_parts import CheckedSchema, Instant, JsonBoolean, OpenObject, PostBodySchema
from app.invoices.letters import LONGEST_SUBJECT, Letter
from app.invoices.payments import PAYMENT, PAYMENTS, REASON
from app.invoices.service import INVOICE
from app.invoices.steps import REASON as VOID_REASON, check_credit
from app.mail.outbox import MOST_RECIPIENTS
from app.mail.recipients import STATUSES
from app.models.invoice import PAYMENT_METHODS
from app.settings.templates import KINDS


class PaymentBodySchema(CheckedSchema, PostBodySchema):
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


class ReasonSchema(PostBodySchema):
    """Why."""

    reason = REASON.field("reversal_reason", example="Entered twice")


class VoidSchema(PostBodySchema):
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


class CreditNoteBodySchema(CheckedSchema, PostBodySchema):
    """Lines to credit; without any the whole invoice."""

    checked_by = check_credit

    lines = fields.List(
        OpenObject(CreditedLineSchema),
        data_key="lineItems",
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


MOST_INVOICES = 100


def _recipients(description: str, least: int = 0) -> fields.List:
    return fields.List(
        fields.String(validate=validate.Length(1, 254)),
        validate=validate.Length(least, MOST_RECIPIENTS),
        description=description,
        example=["billing@acme.example"],
    )


class SendSchema(PostBodySchema):
    """How to send; everything may be left out."""

    to = _recipients("Recipients; the client's address for invoices when left out.", least=1)
    cc = _recipients("Copies.")
    subject = fields.String(
        validate=validate.Length(max=LONGEST_SUBJECT, lines=False),
        description="Subject, one line; made up when left out.",
    )
    message = fields.String(
        validate=validate.Length(max=20_000), description="Text; made up when left out."
    )
    attach_pdf = JsonBoolean(description="Default: true.")
    attach_e_invoice = JsonBoolean(
        description="Attach the UBL file. Default: false.", example=False
    )
    mark_only = JsonBoolean(description="Issue without a mail. Default: false.", example=False)

    @post_load
    def make(self, values: dict[str, Any], **_: Any) -> Any:
        """The letter."""
        for name in ("to", "cc"):
            if name in values:
                values[name] = tuple(values[name])
        return Letter(**values)


class LetterSchema(SendSchema):
    """The letter to look at, and which template it follows."""

    kind = fields.String(
        validate=validate.OneOf(KINDS),
        description="Template; `invoice` or `creditNote`, as the document is, when left out.",
    )


class SendManySchema(SendSchema):
    """Which documents to send, and how."""

    invoice_ids = fields.List(
        fields.Integer(strict=True, validate=validate.RECORD_KEY),
        validate=validate.Length(1, MOST_INVOICES),
        description="Documents to send.",
        example=[1],
    )
    invoice_id = fields.Integer(
        strict=True, validate=validate.RECORD_KEY, description="Or one alone.", example=1
    )

    @post_load
    def make(self, values: dict[str, Any], **options: Any) -> Any:
        """``invoice_ids``, ``invoiceId`` among them, and ``letter`` of the other fields."""
        keys = [*values.pop("invoice_ids", ())]
        if "invoice_id" in values:
            keys.append(values.pop("invoice_id"))
        if not keys:
            raise ValidationError("is required", "invoiceIds")
        return {"invoice_ids": keys, "letter": super().make(values, **options)}


class RecipientSchema(Schema):
    """A recipient of a message."""

    type_name = "MailRecipient"

    address = fields.String(description="Address.", example="billing@acme.example")
    kind = fields.String(
        validate=validate.OneOf(("to", "cc")), description="Whether named in To or in Cc."
    )
    status = fields.String(
        validate=validate.OneOf(STATUSES),
        description="Whether a server took it for him; `bounced`: one did, and it came back.",
    )
    error = fields.String(
        allow_none=True, description="Why it did not reach him.", example="550 no such mailbox"
    )
    at = fields.String(
        allow_none=True, metadata={"description": "When that was known.", "format": "date-time"}
    )


class DeliverySchema(Schema):
    """A message in the outbox."""

    type_name = "MailDelivery"

    id = fields.Integer(description="Key of the message.")
    to = fields.List(fields.String(), description="Recipients.")
    cc = fields.List(fields.String(), description="Recipients of copies.")
    subject = fields.String(description="Subject.")
    status = fields.String(
        validate=validate.OneOf(("queued", "sent", "failed")), description="State of the delivery."
    )
    recipients = fields.List(
        fields.Nested(RecipientSchema), description="What became of it for each."
    )
    attachments = fields.List(
        fields.String(), description="Names of the files attached.", example=["INV-2026-00007.pdf"]
    )
    error = fields.String(allow_none=True, description="Why it was not delivered.")


class BouncedSchema(Schema):
    """A recipient that a mail did not reach, by the report of another server."""

    recipient = fields.String(example="billing@acme.example")
    status = fields.String(allow_none=True, example="5.1.1")
    reason = fields.String(allow_none=True, example="550 no such mailbox")
    at = fields.String(metadata={"format": "date-time"})


class MailedSchema(DeliverySchema):
    """A mail about a document, and what became of it."""

    message_id = fields.String(example="<176-42@acme.example>")
    attempts = fields.Integer()
    created_at = Instant()
    sent_at = Instant(allow_none=True)
    next_attempt_at = Instant(allow_none=True)
    bounces = fields.List(fields.Nested(BouncedSchema))


class PreviewSchema(Schema):
    """A letter as it would be sent."""

    to = fields.List(fields.String())
    cc = fields.List(fields.String())
    subject = fields.String()
    text = fields.String()
    html = fields.String()
    attachments = fields.List(fields.String(), example=["invoice-1.pdf"])


class SentSchema(Schema):
    """A document that was sent."""

    type_name = "SentInvoice"

    id = fields.Integer(description="Key of the document.")
    number = fields.String(description="Number of the document.")
    status = fields.String(description="Status now.", example="Sent")
    sent_at = Instant(description="When it was sent first.")
    issued = fields.Boolean(description="Whether it was a draft until now.")
    delivery = fields.Nested(
        DeliverySchema, allow_none=True, description="The message; null where none was sent."
    )


class SendErrorSchema(Schema):
    """Why a document was not sent."""

    code = fields.String(description="Code of the error.", example="INVALID_STATE")
    message = fields.String(description="What is wrong.")


class SendResultSchema(Schema):
    """What became of one document."""

    invoice_id = fields.Integer(description="Key of the document.")
    ok = fields.Boolean(description="Whether it was sent.")
    number = fields.String(allow_none=True, description="Number of the document.")
    status = fields.String(allow_none=True, description="Status now.")
    delivery = fields.Nested(
        DeliverySchema, allow_none=True, description="The message; null where none was sent."
    )
    error = fields.Nested(
        SendErrorSchema, allow_none=True, description="Why it was not sent; null where it was."
    )


class SentManySchema(Schema):
    """What became of each document."""

    sent = fields.Integer(description="How many were sent.")
    failed = fields.Integer(description="How many were not.")
    results = fields.List(
        fields.Nested(SendResultSchema), description="One for each, in the order given."
    )


class BrokenRuleSchema(Schema):
    """A rule of EN 16931 that an e-invoice would break."""

    rule = fields.String(description="Name of the rule.", example="BR-11")
    field = fields.String(description="What it is about.", example="buyer.address.country")
    message = fields.String(description="What is missing or wrong.")


class PreflightSchema(Schema):
    """Whether an e-invoice can be made, and what keeps it."""

    id = fields.Integer(description="Key of the document.")
    number = fields.String(allow_none=True, description="Number; null before it is issued.")
    status = fields.String(description="Status.", example="Draft")
    e_invoice_format = fields.String(description="Format that is asked for.", example="Auto")
    ready = fields.Boolean(description="Whether an e-invoice can be made.")
    problems = fields.List(
        fields.Nested(BrokenRuleSchema), description="Rules that it would break."
    )
