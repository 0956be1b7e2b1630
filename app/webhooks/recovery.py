"""Recovery: what an endpoint missed since a place in the journal is delivered after all."""

from __future__ import annotations

from sqlalchemy import Connection, exists, select, update

from app.clock import utc_now
from app.db import records
from app.db.engines import primary_engine, transaction
from app.db.types import AnyRow
from app.models.event import Event
from app.models.webhook import WebhookDelivery, WebhookEndpoint
from app.webhooks.fan_out import new_delivery, read_audience
from app.webhooks.subscriptions import PAYLOAD

EVENTS_AT_ONCE = 500
_RECOVERING = (WebhookEndpoint.recover_until.is_not(None), WebhookEndpoint.status == "active")


def recover() -> int:
    """One portion of the loop: some events for one endpoint; returns how many were looked at."""
    with primary_engine().connect() as reading:
        if not reading.execute(select(exists().where(*_RECOVERING))).scalar():
            return 0
    with transaction() as session:
        connection = session.connection()
        recovering = (
            select(WebhookEndpoint).where(*_RECOVERING).order_by(WebhookEndpoint.id).limit(1)
            .with_for_update(skip_locked=True)
        )  # fmt: skip
        endpoint = records.find(recovering)
        if endpoint is None:
            return 0
        events = _events(connection, endpoint)
        _deliver(connection, endpoint, events)
        is_last = not events or events[-1].position >= endpoint.recover_until
        records.update(
            WebhookEndpoint,
            endpoint.id,
            {
                "recover_after": None if is_last else events[-1].position,
                "recover_until": None if is_last else endpoint.recover_until,
            },
        )
        return len(events) or 1


def _events(connection: Connection, endpoint: WebhookEndpoint) -> list[AnyRow]:
    return list(
        connection.execute(
            select(
                Event.id, Event.type, Event.position,
                PAYLOAD,
            )
            .where(
                Event.position > endpoint.recover_after,
                Event.position <= endpoint.recover_until,
            )
            .order_by(Event.position)
            .limit(EVENTS_AT_ONCE)
        )
    )  # fmt: skip


def _deliver(connection: Connection, endpoint: WebhookEndpoint, events: list[AnyRow]) -> None:
    """Make the deliveries that there never were, and try again those that were given up."""
    audience = read_audience(connection, endpoint.id)
    if not audience.endpoints:
        return
    known = {
        row.event_id: row.id
        for row in connection.execute(
            select(WebhookDelivery.event_id, WebhookDelivery.id).where(
                WebhookDelivery.endpoint_id == endpoint.id,
                WebhookDelivery.event_id.in_([event.id for event in events]),
            )
        )
    }
    wanted = [event for event in events if audience.wants(endpoint, event)]
    records.insert_all(
        WebhookDelivery,
        [new_delivery(endpoint.id, event.id) for event in wanted if event.id not in known],
    )
    again = [known[event.id] for event in wanted if event.id in known]
    connection.execute(
        update(WebhookDelivery)
        .where(WebhookDelivery.id.in_(again), WebhookDelivery.status.in_(("failed", "canceled")))
        .values(status="pending", attempts=0, next_attempt_at=utc_now(), leased_until=None)
    )
