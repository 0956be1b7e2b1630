"""Deliveries as they are looked at: each with its request and every attempt; and sent again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, select

from app import audit
from app.clock import utc_now
from app.db import records
from app.db.types import AnyRow, iso_instant
from app.errors import NotFoundError
from app.http.lists import Page, read_page
from app.http.schema_parts import answer_body
from app.http.security import current_caller
from app.models.event import Event
from app.models.webhook import WebhookAttempt, WebhookDelivery, WebhookEndpoint
from app.webhooks.endpoints import get_endpoint, require_active, show_endpoint
from app.webhooks.messages import envelope
from app.webhooks.schemas import WebhookAttemptSchema, WebhookDeliverySchema
from app.webhooks.subscriptions import PAYLOAD, data_for, may_see, names_of


def list_deliveries(endpoint_id: int, query: Mapping[str, Any]) -> Page:
    """The deliveries of an endpoint, the newest first.

    Args:
        query: ``limit``, ``offset`` and, optional, ``status``, ``type``, ``since``, ``until``.
    Raises: NotFoundError.
    """
    show_endpoint(endpoint_id)
    statement = _statement().where(WebhookDelivery.endpoint_id == endpoint_id)
    if status := query.get("status"):
        statement = statement.where(WebhookDelivery.status == status)
    if name := query.get("type"):
        statement = statement.where(Event.type.in_(sorted(names_of((name,)))))
    statement = _between(statement, query.get("since"), query.get("until"))
    return read_page(
        statement.order_by(WebhookDelivery.id.desc()), _shapes,
        limit=query["limit"], offset=query["offset"],
    )  # fmt: skip


def show_delivery(endpoint_id: int, delivery_id: int) -> dict[str, Any]:
    """One delivery as it is now.

    Raises: NotFoundError.
    """
    this = (WebhookDelivery.id == delivery_id) & (WebhookDelivery.endpoint_id == endpoint_id)
    with records.looking() as connection:
        row = connection.execute(_statement().where(this)).first()
        if row is None:
            raise NotFoundError(f"There is no delivery {delivery_id} of webhook {endpoint_id}.")
        return _shapes(connection, (row,))[0]


def resend(endpoint_id: int, delivery_id: int) -> None:
    """Try a delivery again now, with the whole schedule before it, whatever its state.

    The message keeps its id: a receiver that has it already knows it again. One that is being sent
    at this moment is sent once more when its lease has run out, unless that attempt succeeds.
    Raises: NotFoundError; InvalidStateError, the endpoint is disabled.
    """
    endpoint = get_endpoint(endpoint_id, lock=True)
    delivery = records.read(WebhookDelivery, delivery_id, lock=True)
    if delivery is None or delivery.endpoint_id != endpoint_id:
        raise NotFoundError(f"There is no delivery {delivery_id} of webhook {endpoint_id}.")
    require_active(endpoint)
    changes = {"status": "pending", "attempts": 0, "next_attempt_at": utc_now()}
    records.update(WebhookDelivery, delivery_id, changes)
    audit.record("webhook.resent", "Webhook", endpoint_id, after={"messageId": delivery.message_id})


def _statement() -> Select[Any]:
    return (
        select(
            WebhookDelivery.__table__, WebhookEndpoint.url, Event.key, Event.type,
            Event.created_at.label("happened_at"),
            PAYLOAD,
        )
        .join(WebhookEndpoint, WebhookEndpoint.id == WebhookDelivery.endpoint_id)
        .join(Event, Event.id == WebhookDelivery.event_id)
    )  # fmt: skip


def _between(statement: Select[Any], since: datetime | None, until: datetime | None) -> Select[Any]:
    if since is not None:
        statement = statement.where(WebhookDelivery.created_at >= since)
    if until is not None:
        statement = statement.where(WebhookDelivery.created_at < until)
    return statement


def _shapes(connection: Connection, rows: Iterable[AnyRow]) -> list[dict[str, Any]]:
    deliveries = list(rows)
    attempts: dict[int, list[dict[str, Any]]] = {row.id: [] for row in deliveries}
    statement = (
        select(WebhookAttempt.__table__)
        .where(WebhookAttempt.delivery_id.in_(attempts))
        .order_by(WebhookAttempt.id)
    )
    for attempt in connection.execute(statement):
        body = answer_body(
            WebhookAttemptSchema, attempt, at=attempt.created_at,
            request_headers=attempt.request_headers or {},
        )  # fmt: skip
        attempts[attempt.delivery_id].append(body)
    return [_shape(row, attempts[row.id]) for row in deliveries]


def _shape(row: AnyRow, attempts: list[dict[str, Any]]) -> dict[str, Any]:
    return answer_body(
        WebhookDeliverySchema, row, event_id=row.key, event_type=row.type, attempts=attempts,
        request={"method": "POST", "url": row.url, "body": _body(row)},
    )  # fmt: skip


def _body(row: AnyRow) -> str | None:
    """What is sent; None where the caller may not read the record that it shows."""
    caller = current_caller()
    if not may_see(caller, row.type, row.payload):
        return None
    data = data_for(caller, row.type, row.payload)
    return envelope(row.type, iso_instant(row.happened_at), data)
