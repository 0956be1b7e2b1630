"""Endpoints: registered, changed, tested, removed; their secrets changed without an outage."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import func, select

from app import audit, events
from app.clock import utc_now
from app.db import records
from app.db.types import json_text
from app.errors import InvalidStateError, ValidationError
from app.http.security import current_caller
from app.models.event import Counter, Event
from app.models.webhook import WebhookDelivery, WebhookEndpoint
from app.webhooks.endpoint_state import endpoint_shape, stop
from app.webhooks.fan_out import COUNTER, new_delivery
from app.webhooks.messages import new_secret, sealed_secret
from app.webhooks.subscriptions import check_endpoint, require_readable

# Both secrets sign for so long after a rotation.
OVERLAP = timedelta(hours=24)


def register_endpoint(
    *, url: str, patterns: Sequence[str], description: str | None = None
) -> tuple[int, str]:
    """Add an endpoint of the caller; returns its key and its secret, which is shown this once.

    Raises: ValidationError, the URL may not be called, or an event does not exist;
        ForbiddenError, the caller may not see such events.
    """
    caller = current_caller()
    check_endpoint({"url": url, "events": patterns})
    wanted = _readable_patterns(patterns)
    secret = new_secret()
    now = utc_now()
    endpoint_id = records.insert(
        WebhookEndpoint,
        {
            "created_at": now,
            "updated_at": now,
            "url": url,
            "events": wanted,
            "description": description,
            "secret": sealed_secret(secret),
            "created_by_id": caller.user_id or None,
        },
    )
    audited = {"url": url, "events": wanted, "description": description}
    audit.record("webhook.created", "Webhook", endpoint_id, after=audited)
    return endpoint_id, secret


def change_endpoint(endpoint_id: int, changes: dict[str, Any]) -> None:
    """Change ``url``, ``events``, ``description`` or ``status`` of an endpoint.

    Disabling cancels what is due. Who enables an endpoint again, or says where it leads or what it
    gets, becomes its owner: nobody sends what another may read to an address of his own.
    Raises: NotFoundError; ValidationError; ForbiddenError.
    """
    endpoint = get_endpoint(endpoint_id, lock=True)
    check_endpoint(changes)
    if "events" in changes:
        changes["events"] = _readable_patterns(changes["events"])
    new = {name: value for name, value in changes.items() if getattr(endpoint, name) != value}
    if not new:
        return
    if new.get("status") == "disabled":
        stop(endpoint, "Disabled by hand.")
        endpoint = get_endpoint(endpoint_id, lock=True)
    elif new.get("status") == "active":
        new |= {"disabled_at": None, "disabled_reason": None, "failing_since": None}
    if "url" in new:  # how the old address behaved says nothing about the new one
        new["failing_since"] = None
    if new.get("status") == "active" or "url" in new or "events" in new:
        require_readable(current_caller(), new.get("events", endpoint.events))
        new["created_by_id"] = current_caller().user_id or None
    records.update(
        WebhookEndpoint,
        endpoint_id,
        {**new, "updated_at": utc_now(), "version": endpoint.version + 1},
    )
    audit.record(
        "webhook.updated", "Webhook", endpoint_id,
        before={name: getattr(endpoint, name) for name in changes}, after=changes,
    )  # fmt: skip


def remove_endpoint(endpoint_id: int) -> None:
    """Delete an endpoint with its deliveries.

    Raises: NotFoundError.
    """
    endpoint = get_endpoint(endpoint_id, lock=True)
    records.delete(WebhookEndpoint, endpoint_id)
    before = {"url": endpoint.url, "events": endpoint.events}
    audit.record("webhook.deleted", "Webhook", endpoint_id, before=before)


def rotate_secret(endpoint_id: int) -> tuple[str, datetime]:
    """Give an endpoint a new secret; returns it, and until when the old one signs as well.

    Raises: NotFoundError.
    """
    endpoint = get_endpoint(endpoint_id, lock=True)
    secret = new_secret()
    now = utc_now()
    records.update(
        WebhookEndpoint,
        endpoint_id,
        {
            "secret": sealed_secret(secret),
            "previous_secret": endpoint.secret,
            "previous_secret_until": now + OVERLAP,
            "updated_at": now,
            "version": endpoint.version + 1,
        },
    )
    audit.record("webhook.secret_rotated", "Webhook", endpoint_id)
    return secret, now + OVERLAP


def send_test(endpoint_id: int) -> int:
    """Owe an endpoint a ``webhook.ping``, whatever it subscribes to; returns the delivery's key.

    Raises: NotFoundError; InvalidStateError, it is disabled.
    """
    endpoint = get_endpoint(endpoint_id, lock=True)
    require_active(endpoint)
    event = events.row_of(
        "webhook.ping", "Webhook", endpoint_id,
        sequence=endpoint.version, representation=json_text(endpoint_shape(endpoint)),
    )  # fmt: skip
    event_id = records.insert(Event, event)
    return records.insert(WebhookDelivery, new_delivery(endpoint_id, event_id))


def start_recovery(endpoint_id: int, since: datetime, until: datetime | None) -> int:
    """Deliver what an endpoint did not take of the events from ``since`` on; the worker does it.

    Returns: how many events are looked through.
    Raises: NotFoundError; InvalidStateError, it is disabled; ValidationError, no such period.
    """
    if until is not None and until <= since:
        raise ValidationError([("until", "must be after since")])
    require_active(get_endpoint(endpoint_id, lock=True))
    connection = records.connection()
    period = (Event.created_at >= since) & Event.dispatched_at.is_not(None)
    if until is not None:
        period &= Event.created_at < until
    first, last, count = connection.execute(
        select(func.min(Event.position), func.max(Event.position), func.count()).where(period)
    ).one()
    if until is None:  # what has no place yet is delivered anyhow
        counter = select(Counter.value).where(Counter.name == COUNTER)
        last = connection.execute(counter).scalar()
    if first is None or last is None:
        return 0
    records.update(
        WebhookEndpoint,
        endpoint_id,
        {"recover_after": first - 1, "recover_until": last, "updated_at": utc_now()},
    )
    audit.record(
        "webhook.recovered", "Webhook", endpoint_id, after={"since": since, "until": until}
    )
    return int(count)


def get_endpoint(endpoint_id: int, *, lock: bool = False) -> WebhookEndpoint:
    """The row of an endpoint, in the running transaction.

    Raises: NotFoundError.
    """
    return records.get(
        WebhookEndpoint, endpoint_id, f"There is no webhook {endpoint_id}.", lock=lock
    )


def show_endpoint(endpoint_id: int) -> dict[str, Any]:
    """An endpoint as the API shows it.

    Raises: NotFoundError.
    """
    return endpoint_shape(
        records.look_up(WebhookEndpoint, endpoint_id, f"There is no webhook {endpoint_id}.")
    )


def require_active(endpoint: WebhookEndpoint) -> None:
    """Refuse what a disabled endpoint cannot do.

    Raises: InvalidStateError.
    """
    if endpoint.status != "active":
        raise InvalidStateError(
            "The webhook is disabled: set its status to active first.", [("status", "is disabled")]
        )


def _readable_patterns(patterns: Sequence[str]) -> list[str]:
    require_readable(current_caller(), patterns)
    return list(dict.fromkeys(patterns))
