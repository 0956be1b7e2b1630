"""From events to deliveries: each event gets its place in the journal, and a row for each endpoint.

Ids of events are given before their transactions commit, so a smaller one may appear after a larger
one. Places are given here, by one worker at a time, to whatever has been committed by then: they
appear in their order, and none is passed over (docs/adr/0008). What an endpoint missed since a
place is delivered after all where its recovery was asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Update, bindparam, exists, select, update

from app.auth.rights import callers_of
from app.clock import utc_now
from app.db import records
from app.db.engines import primary_engine, transaction
from app.db.types import AnyRow
from app.http.request_context import running_app
from app.http.security import Caller, system_caller
from app.jobs.leases import wake
from app.models.event import Counter, Event
from app.models.webhook import WebhookDelivery, WebhookEndpoint
from app.webhooks.endpoint_state import disable_endpoint
from app.webhooks.messages import new_message_id
from app.webhooks.subscriptions import PAYLOAD, matches, may_see

COUNTER = "events.position"
# What one transaction does at most: writers of SQLite wait for it.
EVENTS_AT_ONCE = 200
DELIVERIES_AT_ONCE = 4000
DELIVERY_LOOP = "webhook-deliveries"
# Beyond all places that were given since any backup.
_LEAP = 10**9


_WAITING = Event.dispatched_at.is_(None)
_PLACED = (
    update(Event)
    .where(Event.id == bindparam("event"))
    .values(position=bindparam("place"), dispatched_at=bindparam("now"))
)


class Audience:
    """The active endpoints with their owners, as they are at this moment."""

    def __init__(self, endpoints: Sequence[WebhookEndpoint], owners: Mapping[int, Caller]) -> None:
        self.endpoints = endpoints
        self._owners = owners

    def owner(self, endpoint: WebhookEndpoint) -> Caller | None:
        """Whose rights the endpoint has; None when that account may not sign in any more."""
        if endpoint.created_by_id is None:  # made by a command
            return system_caller()
        return self._owners.get(endpoint.created_by_id)

    def of(self, event: AnyRow) -> list[WebhookEndpoint]:
        """The endpoints that get ``event``; a ping goes to the endpoint it is for, not here."""
        if event.type == "webhook.ping":
            return []
        return [endpoint for endpoint in self.endpoints if self.wants(endpoint, event)]

    def wants(self, endpoint: WebhookEndpoint, event: AnyRow) -> bool:
        """Whether ``endpoint`` has asked for ``event``, and its owner may see it."""
        if event.type == "webhook.ping" or not matches(endpoint.events, event.type):
            return False
        owner = self.owner(endpoint)
        return owner is not None and may_see(owner, event.type, event.payload)


def leap() -> Update:
    """The statement by which places in the journal go on beyond all that were ever given."""
    return update(Counter).where(Counter.name == COUNTER).values(value=Counter.value + _LEAP)


def fan_out() -> int:
    """One portion of the loop: the next events, in one transaction; returns how many."""
    with primary_engine().connect() as reading:
        if not reading.execute(select(exists().where(_WAITING))).scalar():
            return 0
    with transaction() as session:
        connection = session.connection()
        last = _lock_counter(connection)
        if last is None:  # another worker is doing it
            return 0
        audience = read_audience(connection)
        events = _next_events(connection, audience)
        deliveries = [
            new_delivery(endpoint.id, event.id)
            for event in events
            for endpoint in audience.of(event)
        ]
        records.insert_all(WebhookDelivery, deliveries)
        _give_places(connection, events, last)
    if deliveries:
        wake(running_app(), DELIVERY_LOOP)
    return len(events)


def read_audience(connection: Connection, *endpoint_ids: int) -> Audience:
    """All active endpoints, or those named; endpoints whose owner is gone are disabled."""
    statement = (
        select(WebhookEndpoint)
        .where(WebhookEndpoint.status == "active")
        .order_by(WebhookEndpoint.id)
    )
    if endpoint_ids:
        statement = statement.where(WebhookEndpoint.id.in_(endpoint_ids))
    endpoints = records.read_all(statement, of=connection)
    audience = audience_of(connection, endpoints)
    orphans = [row for row in endpoints if audience.owner(row) is None]
    for orphan in orphans:
        disable_endpoint(orphan.id, "The account that owns it may not sign in any more.")
    if orphans:
        return audience_of(connection, [row for row in endpoints if row not in orphans])
    return audience


def audience_of(connection: Connection, endpoints: Sequence[WebhookEndpoint]) -> Audience:
    """These endpoints with their owners."""
    owners = (row.created_by_id for row in endpoints if row.created_by_id is not None)
    return Audience(endpoints, callers_of(connection, owners))


def new_delivery(endpoint_id: int, event_id: int) -> dict[str, Any]:
    """The row of a delivery that is due now."""
    now = utc_now()
    return {
        "created_at": now,
        "endpoint_id": endpoint_id,
        "event_id": event_id,
        "message_id": new_message_id(),
        "status": "pending",
        "attempts": 0,
        "next_attempt_at": now,
    }


def _next_events(connection: Connection, audience: Audience) -> list[AnyRow]:
    endpoints = len(audience.endpoints)
    at_once = max(1, min(EVENTS_AT_ONCE, DELIVERIES_AT_ONCE // max(1, endpoints)))
    return list(
        connection.execute(
            select(Event.id, Event.type, PAYLOAD).where(_WAITING).order_by(Event.id).limit(at_once)
        )
    )


def _give_places(connection: Connection, events: Iterable[AnyRow], last: int) -> None:
    now = utc_now()
    places = [
        {"event": event.id, "place": number, "now": now}
        for number, event in enumerate(events, start=last + 1)
    ]
    if places:
        connection.execute(_PLACED, places)
        statement = update(Counter).where(Counter.name == COUNTER)
        connection.execute(statement.values(value=places[-1]["place"]))


def _lock_counter(connection: Connection) -> int | None:
    """The last place given, locked; None while another worker holds it."""
    value = select(Counter.value).where(Counter.name == COUNTER)
    last: int | None = connection.execute(value.with_for_update(skip_locked=True)).scalar()
    if last is None and connection.execute(value).scalar() is None:
        # Two workers that begin together: the second waits here for the first, and fails.
        records.insert(Counter, {"name": COUNTER, "value": 0})
        return 0
    return last


RECOVERED_AT_ONCE = 500
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
        events = _missed_events(connection, endpoint)
        _deliver_missed(connection, endpoint, events)
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


def _missed_events(connection: Connection, endpoint: WebhookEndpoint) -> list[AnyRow]:
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
            .limit(RECOVERED_AT_ONCE)
        )
    )  # fmt: skip


def _deliver_missed(
    connection: Connection, endpoint: WebhookEndpoint, events: list[AnyRow]
) -> None:
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
