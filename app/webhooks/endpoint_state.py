"""The end of an endpoint that does not answer: disabled, with an event and a mail."""

from __future__ import annotations

from typing import Any

import structlog
from flask import current_app
from sqlalchemy import select, update

from app import audit, events
from app.clock import utc_now
from app.db import records
from app.db.types import json_text
from app.http.schema_parts import answer_body
from app.mail.outbox import queue_mail
from app.models.user import Role, User, UserRole
from app.models.webhook import WebhookDelivery, WebhookEndpoint
from app.webhooks.schemas import WebhookSchema

log = structlog.get_logger(__name__)


def disable_endpoint(endpoint_id: int, reason: str) -> None:
    """Stop an endpoint in the running transaction: what was due is canceled, the owner told.

    An endpoint that is gone or disabled already stays as it is.
    """
    endpoint = records.read(WebhookEndpoint, endpoint_id, lock=True)
    if endpoint is None or endpoint.status != "active":
        return
    stop(endpoint, reason)
    representation = endpoint_shape(records.get(WebhookEndpoint, endpoint_id))
    audit.record(
        "webhook.disabled", "Webhook", endpoint_id, before={"status": "active"},
        after={"status": "disabled", "disabledReason": reason},
    )  # fmt: skip
    events.emit(
        "webhook.disabled", "Webhook", endpoint_id,
        sequence=endpoint.version + 1, representation=json_text(representation),
    )  # fmt: skip
    _write_mail(endpoint, reason)
    log.warning("webhook endpoint disabled", endpoint=endpoint_id, reason=reason)


def stop(endpoint: WebhookEndpoint, reason: str) -> None:
    """Disable an endpoint, and cancel what it was still owed; ``recover`` brings that back."""
    now = utc_now()
    records.update(
        WebhookEndpoint,
        endpoint.id,
        {
            "status": "disabled",
            "disabled_at": now,
            "disabled_reason": reason,
            "updated_at": now,
            "version": endpoint.version + 1,
        },
    )
    records.connection().execute(
        update(WebhookDelivery)
        .where(WebhookDelivery.endpoint_id == endpoint.id, WebhookDelivery.status == "pending")
        .values(status="canceled", next_attempt_at=None, leased_until=None)
    )


def endpoint_shape(row: WebhookEndpoint) -> dict[str, Any]:
    """An endpoint as the API shows it: everything but the secret."""
    overlap = row.previous_secret_until
    return answer_body(
        WebhookSchema, row,
        previous_secret_until=overlap if overlap and overlap > utc_now() else None,
        is_recovering=row.recover_until is not None,
    )  # fmt: skip


def _write_mail(endpoint: WebhookEndpoint, reason: str) -> None:
    recipients = _recipients(endpoint.created_by_id)
    if not recipients:
        return
    base = current_app.config["BASE_URL"] or "http://localhost"
    text = (
        f"The webhook endpoint {endpoint.id} was disabled.\n\n"
        f"Address: {endpoint.url}\nReason: {reason}\n\n"
        "It gets no events until somebody enables it again, with PATCH"
        f" {base}/api/v1/webhooks/{endpoint.id} and the status active. What it missed is then"
        f" delivered by POST {base}/api/v1/webhooks/{endpoint.id}/recover.\n"
    )
    queue_mail(
        to=recipients, subject=f"Webhook endpoint {endpoint.id} was disabled", text=text,
        entity="Webhook", entity_id=endpoint.id,
    )  # fmt: skip


def _recipients(owner_id: int | None) -> list[str]:
    """The owner, if that is a person with an address; else the administrators."""
    connection = records.connection()
    people = select(User.email).where(
        User.kind == "person", User.status == "active", User.email.is_not(None)
    )
    owner = [str(email) for email in connection.scalars(people.where(User.id == owner_id))]
    if owner:
        return owner
    administrators = (
        people.join(UserRole, UserRole.user_id == User.id)
        .join(Role, Role.id == UserRole.role_id)
        .where(Role.name == "Admin", Role.is_builtin)
        .order_by(User.id)
        .limit(20)
    )
    return [str(email) for email in connection.scalars(administrators)]
