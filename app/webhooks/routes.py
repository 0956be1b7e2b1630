"""``/api/webhooks`` and ``/api/events``."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select

from app.http.areas import Area
from app.http.lists import Page, each_of, read_page
from app.http.schema_parts import page_schema
from app.http.security import requires
from app.models.webhook import WebhookEndpoint
from app.webhooks import deliveries, endpoints, journal
from app.webhooks.endpoint_state import endpoint_shape
from app.webhooks.schemas import (
    JournalQuerySchema,
    JournalSchema,
    MadeWebhookSchema,
    NewWebhookSchema,
    WebhookChangesSchema,
    WebhookDeliveryQuerySchema,
    WebhookDeliverySchema,
    WebhookQuerySchema,
    WebhookRecoveringSchema,
    WebhookRecoverySchema,
    WebhookSchema,
    WebhookSecretSchema,
)
from app.webhooks.subscriptions import check_patterns

area = Area("webhooks", __name__, description="Receivers of events, and what was delivered")
events_area = Area("events", __name__, description="The journal of events")


@area.post("")
@area.arguments(NewWebhookSchema)
@area.response(201, MadeWebhookSchema)
@requires("webhooks:create")
def register_endpoint(wanted: dict[str, Any]) -> tuple[dict[str, Any], int, dict[str, str]]:
    """Register a receiver; `secret` is shown this once and signs what is delivered."""
    endpoint_id, secret = endpoints.register_endpoint(
        url=wanted["url"], patterns=wanted["events"], description=wanted["description"]
    )
    body = {**endpoints.show_endpoint(endpoint_id), "secret": secret}
    return body, 201, {"Location": f"/api/v1/webhooks/{endpoint_id}"}


@area.get("")
@area.arguments(WebhookQuerySchema, location="query")
@area.response(200, page_schema(WebhookSchema))
@requires("webhooks:read")
def list_webhooks(query: dict[str, Any]) -> Page:
    """All receivers, the newest first."""
    statement = select(WebhookEndpoint).order_by(WebhookEndpoint.id.desc())
    if status := query.get("status"):
        statement = statement.where(WebhookEndpoint.status == status)
    shape = each_of(WebhookEndpoint, endpoint_shape)
    return read_page(statement, shape, limit=query["limit"], offset=query["offset"])


@area.get("/<int:webhook_id>")
@area.response(200, WebhookSchema)
@requires("webhooks:read")
def show_endpoint(webhook_id: int) -> dict[str, Any]:
    """One receiver."""
    return endpoints.show_endpoint(webhook_id)


@area.patch("/<int:webhook_id>")
@area.arguments(WebhookChangesSchema)
@area.response(200, WebhookSchema)
@requires("webhooks:update")
def change_endpoint(changes: dict[str, Any], webhook_id: int) -> dict[str, Any]:
    """Change a receiver; who changes its URL or events, or enables it again, becomes its owner."""
    endpoints.change_endpoint(webhook_id, changes)
    return endpoints.show_endpoint(webhook_id)


@area.delete("/<int:webhook_id>")
@area.response(204)
@requires("webhooks:delete")
def remove_endpoint(webhook_id: int) -> None:
    """Remove a receiver with all its deliveries."""
    endpoints.remove_endpoint(webhook_id)


@area.post("/<int:webhook_id>/test")
@area.response(202, WebhookDeliverySchema)
@requires("webhooks:update")
def send_test(webhook_id: int) -> dict[str, Any]:
    """Send a `webhook.ping`, whatever the receiver subscribes to."""
    delivery_id = endpoints.send_test(webhook_id)
    return deliveries.show_delivery(webhook_id, delivery_id)


@area.post("/<int:webhook_id>/rotate-secret")
@area.response(200, WebhookSecretSchema)
@requires("webhooks:update")
def rotate_secret(webhook_id: int) -> dict[str, Any]:
    """Make a new secret, shown this once; for 24 hours the old one signs as well."""
    secret, until = endpoints.rotate_secret(webhook_id)
    return {"id": webhook_id, "secret": secret, "previousSecretUntil": until}


@area.get("/<int:webhook_id>/deliveries")
@area.arguments(WebhookDeliveryQuerySchema, location="query")
@area.response(200, page_schema(WebhookDeliverySchema))
@requires("webhooks:read")
def list_deliveries(query: dict[str, Any], webhook_id: int) -> Page:
    """What was delivered and what is due, the newest first, with every attempt."""
    return deliveries.list_deliveries(webhook_id, query)


@area.get("/<int:webhook_id>/deliveries/<int:delivery_id>")
@area.response(200, WebhookDeliverySchema)
@requires("webhooks:read")
def show_delivery(webhook_id: int, delivery_id: int) -> dict[str, Any]:
    """One delivery with every attempt."""
    return deliveries.show_delivery(webhook_id, delivery_id)


@area.post("/<int:webhook_id>/deliveries/<int:delivery_id>/resend")
@area.response(202, WebhookDeliverySchema)
@requires("webhooks:update")
def resend(webhook_id: int, delivery_id: int) -> dict[str, Any]:
    """Deliver a message again now, under the same `webhook-id`."""
    deliveries.resend(webhook_id, delivery_id)
    return deliveries.show_delivery(webhook_id, delivery_id)


@area.post("/<int:webhook_id>/recover")
@area.arguments(WebhookRecoverySchema)
@area.response(202, WebhookRecoveringSchema)
@requires("webhooks:update")
def start_recovery(wanted: dict[str, Any], webhook_id: int) -> dict[str, Any]:
    """Deliver all events of a period that the receiver has not taken yet."""
    events = endpoints.start_recovery(webhook_id, wanted["since"], wanted["until"])
    return {"id": webhook_id, "since": wanted["since"], "until": wanted["until"], "events": events}


@events_area.get("")
@events_area.arguments(JournalQuerySchema, location="query")
@events_area.response(200, JournalSchema)
@requires("events:read")
def read_journal(query: dict[str, Any]) -> dict[str, Any]:
    """Events in the order in which they were committed; none is ever passed over.

    Ask again with `after` set to `next`. An event appears within a second or so of its change,
    once the worker has given it its place.
    """
    check_patterns(query["types"], "types")
    return journal.read_journal(query["after"], query["types"], query["limit"])
