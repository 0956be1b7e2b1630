"""What the operations on tickets look like on the wire."""

from __future__ import annotations

from typing import Any

from marshmallow import ValidationError, validates_schema

from app.http import schema_bounds as validate, schema_fields as fields
from app.http.schema_fields import Schema
from app.http.schema_parts import Instant, JsonBoolean, PostBodySchema
from app.tickets.comments import COMMENT


class MergeTicketsSchema(PostBodySchema):
    """The other ticket, by one of two names that say which of both is closed."""

    source_id = fields.Integer(
        strict=True, validate=validate.RECORD_KEY,
        description="Ticket that goes into this one and is closed.", example=2,
    )  # fmt: skip
    target_id = fields.Integer(
        strict=True, validate=validate.RECORD_KEY,
        description="Ticket that this one goes into; this one is closed.",
    )  # fmt: skip


class TicketStandingSchema(Schema):
    """A ticket in short."""

    id = fields.Integer(
        allow_none=True, description="Key of the ticket; null where a dry run would make it."
    )
    number = fields.String(description="Number of the ticket.", example="T-000001")
    status = fields.String(description="Status now.", example="Closed")
    merged_into_id = fields.Integer(allow_none=True, description="Ticket that it was merged into.")


class MovedFromTicketSchema(Schema):
    """How many records went over."""

    comments = fields.Integer()
    tasks = fields.Integer()
    documents = fields.Integer()


class MergedTicketsSchema(Schema):
    """What a merge of tickets did: `source` is closed, `target` goes on."""

    source = fields.Nested(TicketStandingSchema)
    target = fields.Nested(TicketStandingSchema)
    moved = fields.Nested(MovedFromTicketSchema)


class NewCommentSchema(PostBodySchema):
    """A comment to add."""

    body = COMMENT.field("body", example="It works again.")
    is_internal = COMMENT.field(
        "is_internal", description="A note that customers do not see.", example=False
    )
    by_customer = JsonBoolean(
        description="The customer said it, for instance by telephone.", example=False
    )

    @validates_schema
    def no_note_of_a_customer(self, body: dict[str, Any], **_: Any) -> None:
        """Customers write no internal notes."""
        if body.get("by_customer") and body.get("is_internal"):
            raise ValidationError("must be false for what the customer said", "isInternal")


class CommentSchema(Schema):
    """A comment; `ticket` is the one that it is in: a follow-up where the other was closed.

    ``id`` is null where a dry run would make it, and so are ``ticketId`` and the ``id`` of
    ``ticket`` where it would make a follow-up.
    """

    id = fields.Integer(allow_none=True, description="Key of the comment.")
    ticket_id = fields.Integer(allow_none=True, description="Ticket that it is in.")
    body = fields.String(description="What was said.")
    is_internal = fields.Boolean(description="Whether customers do not see it.")
    author_id = fields.Integer(
        allow_none=True, description="User who wrote it; null for the customer."
    )
    created_at = Instant(description="When it was written.")
    ticket = fields.Nested(TicketStandingSchema, description="How that ticket stands.")
