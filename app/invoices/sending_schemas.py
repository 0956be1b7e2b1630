"""What sending documents looks like on the wire (contract 11.1)."""

from __future__ import annotations

from typing import Any

from marshmallow import ValidationError, post_load

from app.http import schema_bounds as validate, schema_fields as fields
from app.http.schema_fields import Schema
from app.http.schema_parts import Instant, JsonBoolean
from app.invoices.sending import Letter
from app.mail.outbox import MOST_RECIPIENTS
from app.mail.recipients import STATUSES
from app.settings.templates import KINDS

MOST_INVOICES = 100
_KEY = validate.Range(1, 2**63 - 1)


def _recipients(description: str) -> fields.List:
    return fields.List(
        fields.String(validate=validate.Length(1, 254)),
        validate=validate.Length(max=MOST_RECIPIENTS),
        metadata={"description": description, "example": ["billing@acme.example"]},
    )


class SendSchema(Schema):
    """How to send; everything may be left out."""

    to = _recipients("Recipients; the client's address for invoices when left out.")
    cc = _recipients("Copies.")
    subject = fields.String(validate=validate.Length(max=500))
    message = fields.String(validate=validate.Length(max=20_000))
    attach_pdf = JsonBoolean(data_key="attachPdf", metadata={"description": "Default: true."})
    attach_e_invoice = JsonBoolean(
        data_key="attachEInvoice",
        metadata={"description": "Attach the UBL file.", "example": False},
    )
    mark_only = JsonBoolean(
        data_key="markOnly", metadata={"description": "Issue without a mail.", "example": False}
    )

    @post_load
    def make(self, given: dict[str, Any], **_: Any) -> Any:
        """The letter."""
        for name in ("to", "cc"):
            if name in given:
                given[name] = tuple(given[name])
        return Letter(**given)


class LetterSchema(SendSchema):
    """The letter to look at, and which template it follows."""

    kind = fields.String(
        validate=validate.OneOf(KINDS),
        metadata={
            "description": "Template; `invoice` or `creditNote`, as the document is, when left out."
        },
    )


class SendManySchema(SendSchema):
    """Which documents to send, and how."""

    invoice_ids = fields.List(
        fields.Integer(strict=True, validate=_KEY),
        data_key="invoiceIds",
        validate=validate.Length(1, MOST_INVOICES),
        metadata={"example": [1]},
    )
    invoice_id = fields.Integer(
        data_key="invoiceId", strict=True, validate=_KEY, metadata={"example": 1}
    )

    @post_load
    def make(self, given: dict[str, Any], **options: Any) -> Any:
        """The keys, and the letter."""
        keys = [*given.pop("invoice_ids", ())]
        if "invoice_id" in given:
            keys.append(given.pop("invoice_id"))
        if not keys:
            raise ValidationError("is required", "invoiceIds")
        return keys, super().make(given, **options)


class RecipientSchema(Schema):
    """A recipient of a mail, and whether a server took it for him."""

    address = fields.String(metadata={"example": "billing@acme.example"})
    kind = fields.String(validate=validate.OneOf(("to", "cc")))
    status = fields.String(
        validate=validate.OneOf(STATUSES),
        metadata={"description": "`bounced`: a server took it, and it came back."},
    )
    error = fields.String(allow_none=True, metadata={"example": "550 no such mailbox"})
    at = fields.String(allow_none=True, metadata={"format": "date-time"})


class DeliverySchema(Schema):
    """The mail of a document."""

    id = fields.Integer()
    to = fields.List(fields.String())
    cc = fields.List(fields.String())
    subject = fields.String()
    status = fields.String(validate=validate.OneOf(("queued", "sent", "failed")))
    recipients = fields.List(fields.Nested(RecipientSchema))
    attachments = fields.List(fields.String(), metadata={"example": ["INV-2026-00007.pdf"]})
    error = fields.String(allow_none=True)


class BouncedSchema(Schema):
    """A recipient that a mail did not reach, by the report of another server."""

    recipient = fields.String(metadata={"example": "billing@acme.example"})
    status = fields.String(allow_none=True, metadata={"example": "5.1.1"})
    reason = fields.String(allow_none=True, metadata={"example": "550 no such mailbox"})
    at = fields.String(metadata={"format": "date-time"})


class MailedSchema(DeliverySchema):
    """A mail about a document, and what became of it."""

    messageId = fields.String(metadata={"example": "<176-42@acme.example>"})
    attempts = fields.Integer()
    createdAt = Instant()
    sentAt = Instant(allow_none=True)
    nextAttemptAt = Instant(allow_none=True)
    bounces = fields.List(fields.Nested(BouncedSchema))


class PreviewSchema(Schema):
    """A letter as it would be sent."""

    to = fields.List(fields.String())
    cc = fields.List(fields.String())
    subject = fields.String()
    text = fields.String()
    html = fields.String()
    attachments = fields.List(fields.String(), metadata={"example": ["invoice-1.pdf"]})


class SentSchema(Schema):
    """A document that was sent; ``issued`` says whether it was a draft before."""

    id = fields.Integer()
    number = fields.String()
    status = fields.String(metadata={"example": "Sent"})
    sentAt = Instant()
    issued = fields.Boolean()
    delivery = fields.Nested(DeliverySchema, allow_none=True)


class SendErrorSchema(Schema):
    """Why a document was not sent."""

    code = fields.String(metadata={"example": "INVALID_STATE"})
    message = fields.String()


class SendResultSchema(Schema):
    """What became of one document."""

    invoiceId = fields.Integer()
    ok = fields.Boolean()
    number = fields.String(allow_none=True)
    status = fields.String(allow_none=True)
    delivery = fields.Nested(DeliverySchema, allow_none=True)
    error = fields.Nested(SendErrorSchema, allow_none=True)


class SentManySchema(Schema):
    """What became of each document."""

    sent = fields.Integer()
    failed = fields.Integer()
    results = fields.List(fields.Nested(SendResultSchema))
