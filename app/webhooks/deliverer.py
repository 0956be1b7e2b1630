"""The loop that delivers: takes what is due, lets the pool send it, writes what came of it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import structlog
from flask import current_app
from sqlalchemy import ColumnElement, Connection, RowMapping, and_, bindparam, select, update

from app.clock import utc_now
from app.db import records
from app.db.engines import primary_engine, transaction
from app.db.types import iso_instant
from app.extensions import Extension
from app.jobs import leases
from app.models.event import Event
from app.models.webhook import WebhookAttempt, WebhookDelivery, WebhookEndpoint
from app.outbound.connections import EXCHANGE_SECONDS
from app.sealing import UnsealError, unseal
from app.webhooks.delivery_pool import DeliveryPool
from app.webhooks.endpoint_state import disable_endpoint
from app.webhooks.fan_out import audience_of
from app.webhooks.messages import Message, Outcome, delay_after, envelope, send_message
from app.webhooks.subscriptions import PAYLOAD, data_for

if TYPE_CHECKING:
    from app.outbound.client import Client

log = structlog.get_logger(__name__)

# How long a portion waits for answers, before it looks for work again.
WAIT_SECONDS = 0.25
# Outcomes are gathered so long: one transaction for many.
GATHER_SECONDS = 0.02


class Deliverer:
    """One of a process; ``run`` is a portion of the loop, ``end`` its graceful end."""

    def __init__(self) -> None:
        self._pool: DeliveryPool | None = None
        self._client: Client | None = None
        self._unwritten: list[Outcome] = []

    def run(self) -> int:
        """Write what came of attempts, take what is due; returns how much there was to do."""
        pool = self._delivery_pool()
        outcomes = self._collect(pool)
        wanted = due_endpoints(pool)
        if outcomes or wanted:
            with transaction() as session:
                connection = session.connection()
                write_outcomes(connection, outcomes)
                messages = take_messages(connection, wanted)
            self._unwritten = []
            pool.add(messages)
            return len(outcomes) + len(messages)
        return int(pool.is_busy)

    def end(self) -> None:
        """Let what is on its way come back, and give back what was not sent."""
        if self._pool is None or self._client is None:
            return
        outcomes = self._unwritten + self._pool.stop(EXCHANGE_SECONDS + 2)
        self._client.close()
        self._pool = self._client = None
        with transaction() as session:
            write_outcomes(session.connection(), outcomes)

    def _delivery_pool(self) -> DeliveryPool:
        if self._pool is None:
            from app.outbound.client import outbound_client  # large: loaded by who sends

            self._client = outbound_client.current(
                allow_private=current_app.config["WEBHOOK_ALLOW_PRIVATE"],
                https_only=current_app.config["PRODUCTION"],
            )
            self._pool = DeliveryPool(partial(send_message, self._client))
        return self._pool

    def _collect(self, pool: DeliveryPool) -> list[Outcome]:
        """Outcomes, with those that an earlier portion failed to write."""
        outcomes = pool.collect(WAIT_SECONDS)
        if outcomes and pool.is_busy:
            time.sleep(GATHER_SECONDS)
            outcomes += pool.collect(0)
        self._unwritten += outcomes
        return self._unwritten


deliverer = Extension("webhook-deliverer", Deliverer)


def due_endpoints(pool: DeliveryPool) -> list[tuple[WebhookEndpoint, int]]:
    """The endpoints for which something is due, and how much of it the pool has capacity for."""
    now = utc_now()
    due = select(WebhookDelivery.id).where(
        WebhookDelivery.endpoint_id == WebhookEndpoint.id,
        is_due(now),
        leases.is_free(WebhookDelivery.__table__, now),
    )
    statement = (
        select(WebhookEndpoint)
        .where(WebhookEndpoint.status == "active", due.exists())
        .order_by(WebhookEndpoint.id)
    )
    with primary_engine().connect() as reading:
        endpoints = records.read_all(statement, of=reading)
    capacities = [(row, pool.capacity(row.id, row.failing_since is not None)) for row in endpoints]
    return [(row, capacity) for row, capacity in capacities if capacity > 0]


def is_due(now: datetime) -> ColumnElement[bool]:
    """The condition that a delivery is to be tried now; its index finds it."""
    return and_(WebhookDelivery.status == "pending", WebhookDelivery.next_attempt_at <= now)


def take_messages(
    connection: Connection, wanted: Sequence[tuple[WebhookEndpoint, int]]
) -> list[Message]:
    """Lease what is due for these endpoints, as much as there is capacity for each."""
    now = utc_now()
    messages = []
    for endpoint, capacity in wanted:
        taken = leases.take_within(
            connection,
            WebhookDelivery.__table__,
            (WebhookDelivery.endpoint_id == endpoint.id) & is_due(now),
            limit=capacity,
            order=(WebhookDelivery.next_attempt_at, WebhookDelivery.id),
            columns=("event_id", "message_id", "attempts"),
        )
        if taken:
            messages += _messages(connection, endpoint, taken)
    return messages


def _messages(
    connection: Connection, endpoint: WebhookEndpoint, taken: Sequence[RowMapping]
) -> list[Message]:
    statement = select(
        Event.id, Event.type, Event.created_at,
        PAYLOAD,
    ).where(Event.id.in_([row["event_id"] for row in taken]))  # fmt: skip
    owner = audience_of(connection, (endpoint,)).owner(endpoint)
    bodies = {
        event.id: envelope(
            event.type,
            iso_instant(event.created_at),
            data_for(owner, event.type, event.payload),
        )
        for event in connection.execute(statement)
    }
    secrets = open_secrets(endpoint)
    return [
        Message(
            delivery_id=row["id"],
            leased_until=row["leased_until"],
            endpoint_id=endpoint.id,
            url=endpoint.url,
            secrets=secrets,
            message_id=row["message_id"],
            body=bodies[row["event_id"]],
            attempts=row["attempts"],
            is_failing=endpoint.failing_since is not None,
        )
        for row in taken
    ]


def open_secrets(endpoint: WebhookEndpoint) -> tuple[str, ...]:
    """The secrets that sign now: the newest, and the one before it while they overlap."""
    sealed = [endpoint.secret]
    until = endpoint.previous_secret_until
    if endpoint.previous_secret and until is not None and until > utc_now():
        sealed.append(endpoint.previous_secret)
    try:
        return tuple(unseal(text).decode() for text in sealed)
    except UnsealError:
        log.error("the secret of a webhook cannot be opened", endpoint=endpoint.id)
        return ()


# An endpoint that failed for so long, without a success between, is disabled.
GIVEN_UP_AFTER = timedelta(days=5)


_HELD = (
    WebhookDelivery.id == bindparam("delivery"),
    WebhookDelivery.leased_until == bindparam("lease"),
)
_GIVEN_BACK = update(WebhookDelivery).where(*_HELD).values(leased_until=None)
_FINISHED = (
    update(WebhookDelivery)
    .where(*_HELD)
    .values(
        leased_until=None,
        status=bindparam("new_status"),
        attempts=bindparam("new_attempts"),
        next_attempt_at=bindparam("new_next"),
        delivered_at=bindparam("new_delivered"),
    )
)


def write_outcomes(connection: Connection, outcomes: Sequence[Outcome]) -> None:
    """Write ``outcomes`` in the running transaction.

    A delivery whose lease was lost keeps the state that its new holder gives it; the attempt is
    written all the same, because it was made.
    """
    unsent = [_proof(outcome) for outcome in outcomes if not outcome.was_sent]
    if unsent:
        connection.execute(_GIVEN_BACK, unsent)
    sent = [outcome for outcome in outcomes if outcome.was_sent]
    if not sent:
        return
    # Endpoints before deliveries, as everybody locks them.
    given_up = _write_health(connection, sent)
    there = _lock_deliveries(connection, sent)
    sent = [outcome for outcome in sent if outcome.message.delivery_id in there]
    if sent:
        records.insert_all(WebhookAttempt, [_attempt(outcome) for outcome in sent])
        connection.execute(_FINISHED, [_next_step(outcome) for outcome in sent])
    for endpoint_id, reason in given_up.items():
        disable_endpoint(endpoint_id, reason)


def _write_health(connection: Connection, sent: Sequence[Outcome]) -> dict[int, str]:
    """Write since when endpoints have only failed; returns those to disable, and why."""
    by_endpoint: dict[int, list[Outcome]] = {}
    for outcome in sent:
        by_endpoint.setdefault(outcome.message.endpoint_id, []).append(outcome)
    changed = {
        endpoint_id: outcomes
        for endpoint_id, outcomes in by_endpoint.items()
        if any(not outcome.is_success or outcome.message.is_failing for outcome in outcomes)
    }
    if not changed:
        return {}
    endpoints = connection.execute(
        select(WebhookEndpoint.id, WebhookEndpoint.failing_since)
        .where(WebhookEndpoint.id.in_(changed))
        .order_by(WebhookEndpoint.id)
        .with_for_update()
    ).all()
    given_up = {}
    for endpoint in endpoints:
        outcomes = changed[endpoint.id]
        since = _failing_since(endpoint.failing_since, outcomes)
        if since != endpoint.failing_since:
            records.update(WebhookEndpoint, endpoint.id, {"failing_since": since})
        if any(outcome.is_gone for outcome in outcomes):
            given_up[endpoint.id] = "The receiver answered 410: it wants no more events."
        elif since is not None and outcomes[-1].at - since >= GIVEN_UP_AFTER:
            given_up[endpoint.id] = "Every attempt of the last five days failed."
    return given_up


def _failing_since(since: datetime | None, outcomes: Iterable[Outcome]) -> datetime | None:
    for outcome in outcomes:
        since = None if outcome.is_success else since or outcome.at
    return since


def _lock_deliveries(connection: Connection, sent: Sequence[Outcome]) -> set[int]:
    """The deliveries that are still there: an endpoint may have been deleted meanwhile."""
    ids = [outcome.message.delivery_id for outcome in sent]
    statement = (
        select(WebhookDelivery.id)
        .where(WebhookDelivery.id.in_(ids))
        .order_by(WebhookDelivery.id)
        .with_for_update(key_share=True)
    )
    return set(connection.execute(statement).scalars())


def _attempt(outcome: Outcome) -> dict[str, Any]:
    return {
        "created_at": outcome.at,
        "delivery_id": outcome.message.delivery_id,
        "request_headers": dict(outcome.headers),
        "status_code": outcome.status,
        "duration_ms": round(outcome.duration_seconds * 1000),
        "response": outcome.response,
        "error": outcome.error,
    }


def _next_step(outcome: Outcome) -> dict[str, Any]:
    """The delivery after this attempt: done, due again, or given up."""
    attempts = outcome.message.attempts + 1
    schedule = current_app.config["WEBHOOK_RETRY_SCHEDULE"]
    delay = None if outcome.is_success or outcome.is_gone else delay_after(attempts, schedule)
    status = "succeeded" if outcome.is_success else "failed" if delay is None else "pending"
    ended = outcome.at + timedelta(seconds=outcome.duration_seconds)
    return {
        **_proof(outcome),
        "new_status": status,
        "new_attempts": attempts,
        "new_next": None if delay is None else ended + max(delay, outcome.retry_after),
        "new_delivered": ended if outcome.is_success else None,
    }


def _proof(outcome: Outcome) -> dict[str, Any]:
    return {
        "delivery": outcome.message.delivery_id,
        "lease": outcome.message.leased_until,
    }
