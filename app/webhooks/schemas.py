"""What webhooks and the journal look like on the wire (contract 11.1, 11.2, 12)."""

from __future__ import annotations

from typing import Any

from app.http import schema_bounds as validate, schema_fields as fields
from app.http.page_sizes import JOURNAL
from app.http.schema_fields import Schema
from app.http.schema_parts import (
    CheckedSchema,
    Instant,
    PageQuerySchema,
    PostBodySchema,
    limit_field,
)
from app.models.webhook import DELIVERY_STATUSES, ENDPOINT_STATUSES
from app.outbound.addresses import MAXIMUM_URL
from app.webhooks.subscriptions import check_endpoint

_URL = {"description": "Receiver: https, a public address.", "example": "https://acme.example/hook"}
Event = {
    "description": "Exact names, all of an object (`invoice.*`), or `*`.",
    "example": ["invoice.paid", "client.*"],
}
_SECRET = {"example": "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"}
_PATTERNS = validate.Length(1, 100)
_NAME = validate.Length(1, 60)


class NewWebhookSchema(CheckedSchema, PostBodySchema):
    """An endpoint to register."""

    checked_by = check_endpoint

    url = fields.String(required=True, validate=validate.Length(1, MAXIMUM_URL), metadata=_URL)
    events = fields.List(
        fields.String(validate=_NAME), required=True, validate=_PATTERNS, metadata=Event
    )
    description = fields.String(
        load_default=None, validate=validate.Length(max=500), example="Bookkeeping"
    )


class WebhookChangesSchema(CheckedSchema):
    """What to change of an endpoint; what is left out stays."""

    checked_by = check_endpoint

    url = fields.String(validate=validate.Length(1, MAXIMUM_URL), metadata=_URL)
    events = fields.List(fields.String(validate=_NAME), validate=_PATTERNS, metadata=Event)
    description = fields.String(allow_none=True, validate=validate.Length(max=500))
    status = fields.String(
        validate=validate.OneOf(ENDPOINT_STATUSES), description="`disabled` cancels what is due."
    )


class WebhookSchema(Schema):
    """An endpoint."""

    id = fields.Integer()
    url = fields.String(example="https://acme.example/hook")
    events = fields.List(fields.String(example="invoice.paid"))
    description = fields.String(allow_none=True)
    status = fields.String(validate=validate.OneOf(ENDPOINT_STATUSES))
    failing_since = Instant(allow_none=True, description="Since when every attempt has failed.")
    disabled_at = Instant(allow_none=True)
    disabled_reason = fields.String(allow_none=True)
    previous_secret_until = Instant(
        allow_none=True, description="Until then the secret before signs as well."
    )
    is_recovering = fields.Boolean(description="A recovery is under way.")
    created_by_id = fields.Integer(allow_none=True, description="Its owner.")
    created_at = Instant()
    updated_at = Instant()


class MadeWebhookSchema(WebhookSchema):
    """The new endpoint; ``secret`` is shown this once."""

    secret = fields.String(metadata=_SECRET)


class WebhookSecretSchema(Schema):
    """The new secret, shown this once; until ``previousSecretUntil`` the old one signs as well."""

    id = fields.Integer()
    secret = fields.String(metadata=_SECRET)
    previous_secret_until = Instant()


class WebhookQuerySchema(PageQuerySchema):
    """Which endpoints."""

    status = fields.String(validate=validate.OneOf(ENDPOINT_STATUSES))


class WebhookDeliveryQuerySchema(PageQuerySchema):
    """Which deliveries of an endpoint."""

    status = fields.String(validate=validate.OneOf(DELIVERY_STATUSES))
    type = fields.String(validate=_NAME, description="`invoice.paid`, or `invoice.*`.")
    since = Instant(description="Made from this instant on.")
    until = Instant(description="Made before this instant.")


class WebhookRequestSchema(Schema):
    """What is sent; the headers are those of each attempt."""

    method = fields.String(example="POST")
    url = fields.String()
    body = fields.String(
        allow_none=True,
        description="The exact text that is signed; none where you may not read it.",
    )


class WebhookAttemptSchema(Schema):
    """One try, with what the receiver answered."""

    at = Instant()
    request_headers = fields.Dict(fields.String(), fields.String())
    status_code = fields.Integer(allow_none=True, description="None when no answer came.")
    duration_ms = fields.Integer()
    response = fields.String(allow_none=True, description="First 1 KB of the answer's body.")
    error = fields.String(allow_none=True, description="Why no answer counted.")


class WebhookDeliverySchema(Schema):
    """An event owed to an endpoint, with every attempt."""

    id = fields.Integer()
    endpoint_id = fields.Integer()
    message_id = fields.String(description="The `webhook-id` of every attempt.")
    event_id = fields.String()
    event_type = fields.String()
    status = fields.String(validate=validate.OneOf(DELIVERY_STATUSES))
    created_at = Instant()
    delivered_at = Instant(allow_none=True)
    next_attempt_at = Instant(allow_none=True)
    request = fields.Nested(WebhookRequestSchema)
    attempts = fields.List(fields.Nested(WebhookAttemptSchema))


class WebhookRecoverySchema(PostBodySchema):
    """Which events to deliver after all."""

    since = Instant(required=True, description="Events from this instant on.")
    until = Instant(load_default=None)


class WebhookRecoveringSchema(Schema):
    """What a recovery looks through."""

    id = fields.Integer()
    since = Instant()
    until = Instant(allow_none=True)
    events = fields.Integer(description="Events of the period, of all types.")


class CommaSeparated(fields.String):
    """``a,b`` as a list."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        text = super()._deserialize(value, attr, data, **kwargs)
        return [part.strip() for part in (text or "").split(",") if part.strip()]


class JournalQuerySchema(Schema):
    """From where on, which events and how many."""

    after = fields.String(
        load_default=None,
        validate=validate.Length(1, 64),
        description="`next` of the last answer, or the id of an event.",
    )
    types = CommaSeparated(
        load_default=list, description="Names with commas between; `invoice.*` and `*` too."
    )
    limit = limit_field(JOURNAL, "At most so many events.")


class EventSchema(Schema):
    """An event: what webhooks deliver, and its place in the journal."""

    id = fields.String(example="evt_0f4c0f4c0f4c0f4c0f4c0f4c0f4c0f4c")
    cursor = fields.String(description="Its place: `after` this event.")
    type = fields.String(example="invoice.paid")
    timestamp = Instant()
    entity = fields.String(example="Invoice")
    entity_id = fields.Integer()
    request_id = fields.String(allow_none=True)
    data = fields.Raw(
        metadata={
            "type": "object",
            "description": "`{object, previous, actor, sequence}` as webhooks deliver it; "
            "`delivery` too where a mail did not arrive.",
        }
    )


class JournalSchema(Schema):
    """Events in the order in which they were committed."""

    items = fields.List(fields.Nested(EventSchema))
    next = fields.String(description="`after` of the next request.")
    has_more = fields.Boolean()
    gap = fields.Boolean(description="Events right behind `after` are not there any more.")
