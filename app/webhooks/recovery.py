"""Recovery: what an endpoint missed since a place in the journal is delivered after all."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Row, Text, exists, select, type_coerce, update

from app.clock import utc_now
from app.db import records
from app.db.engines import primary_engine, transaction
from app.webhooks.fan_out import DELIVERIES, ENDPOINTS, EVENTS, new_delivery, read_audience

EVENTS_AT_ONCE = 500
_RECOVERING = (ENDPOINTS.c.recover_until.is_not(None), ENDPOINTS.c.status == "active")


def recover() -> int:
    """One portion of the loop: some events for one endpoint; returns how many were looked at."""
    with primary_engine().connect() as reading:
        if not reading.execute(select(exists().where(*_RECOVERING))).scalar():
            return 0
    with transaction() as session:
        connection = session.connection()
        endpoint = connection.execute(
            select(ENDPOINTS).where(*_RECOVERING).order_by(ENDPOINTS.c.id).limit(1)
            .with_for_update(skip_locked=True)
        ).first()  # fmt: skip
        if endpoint is None:
            return 0
        events = _events(connection, endpoint)
        _deliver(connection, endpoint, events)
        is_last = not events or events[-1].position >= endpoint.recover_until
        records.update(
            ENDPOINTS,
            endpoint.id,
            {
                "recover_after": None if is_last else events[-1].position,
                "recover_until": None if is_last else endpoint.recover_until,
            },
        )
        return len(events) or 1


def _events(connection: Connection, endpoint: Row[Any]) -> list[Row[Any]]:
    return list(
        connection.execute(
            select(
                EVENTS.c.id, EVENTS.c.type, EVENTS.c.position,
                type_coerce(EVENTS.c.payload, Text).label("payload"),
            )
            .where(
                EVENTS.c.position > endpoint.recover_after,
                EVENTS.c.position <= endpoint.recover_until,
            )
            .order_by(EVENTS.c.position)
            .limit(EVENTS_AT_ONCE)
        )
    )  # fmt: skip


def _deliver(connection: Connection, endpoint: Row[Any], events: list[Row[Any]]) -> None:
    """Make the deliveries that there never were, and try again those that were given up."""
    audience = read_audience(connection, endpoint.id)
    if not audience.endpoints:
        return
    known = {
        row.event_id: row.id
        for row in connection.execute(
            select(DELIVERIES.c.event_id, DELIVERIES.c.id).where(
                DELIVERIES.c.endpoint_id == endpoint.id,
                DELIVERIES.c.event_id.in_([event.id for event in events]),
            )
        )
    }
    wanted = [event for event in events if audience.wants(endpoint, event)]
    records.insert_all(
        DELIVERIES,
        [new_delivery(endpoint.id, event.id) for event in wanted if event.id not in known],
    )
    again = [known[event.id] for event in wanted if event.id in known]
    connection.execute(
        update(DELIVERIES)
        .where(DELIVERIES.c.id.in_(again), DELIVERIES.c.status.in_(("failed", "canceled")))
        .values(status="pending", attempts=0, next_attempt_at=utc_now(), leased_until=None)
    )
