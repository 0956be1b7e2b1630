"""What came of attempts: written down, with the next step and the health of the endpoint."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from flask import current_app
from sqlalchemy import Connection, bindparam, select, update

from app.db import records
from app.models.webhook import WebhookAttempt, WebhookDelivery, WebhookEndpoint
from app.webhooks.endpoint_state import disable_endpoint
from app.webhooks.messages import Outcome, delay_after

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
