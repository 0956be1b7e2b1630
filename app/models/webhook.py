"""Webhook endpoints, the deliveries owed to them and every attempt made."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Index, UniqueConstraint
from sqlalchemy.orm import Mapped

from app.db.partial_index import partial_index
from app.db.types import Identifier, JsonText, string
from app.models.columns import Record, column, foreign_key

ENDPOINT_STATUSES = ("active", "disabled")
DELIVERY_STATUSES = ("pending", "succeeded", "failed", "canceled")


class WebhookEndpoint(Record):
    """An address that receives events."""

    __tablename__ = "webhook_endpoints"

    url: Mapped[str] = column("Receiver.", string(2048), format="url")
    description: Mapped[str | None] = column("What it is for.", string(500))
    events: Mapped[list[str]] = column("Names, object.* or *.", JsonText())
    status: Mapped[str] = column("State.", default="active", allowed=ENDPOINT_STATUSES)
    # Sealed with a key derived from SECRET_KEY.
    secret: Mapped[str] = column("Signing secret.", string(500))
    previous_secret: Mapped[str | None] = column("Secret before a rotation.", string(500))
    previous_secret_until: Mapped[datetime | None] = column("Both sign until.")
    failing_since: Mapped[datetime | None] = column("First failure in a row.")
    disabled_reason: Mapped[str | None] = column("Why it was disabled.", string(500))
    disabled_at: Mapped[datetime | None] = column("When it was disabled.")
    # Events up to a place in the journal that are to be delivered anew, from a place on.
    recover_after: Mapped[int | None] = column("Recovered up to this position.", Identifier)
    recover_until: Mapped[int | None] = column("Last position to recover.", Identifier)
    created_by_id: Mapped[int | None] = foreign_key("users", "Who made it.")
    updated_at: Mapped[datetime] = column("Last change.")
    version: Mapped[int] = column("Row version.", Identifier, default=1)


class WebhookDelivery(Record):
    """An event owed to an endpoint."""

    __tablename__ = "webhook_deliveries"

    endpoint_id: Mapped[int] = foreign_key(
        "webhook_endpoints", "Endpoint.", ondelete="CASCADE", index=False
    )
    event_id: Mapped[int] = foreign_key("events", "Event.", ondelete="CASCADE")
    # The webhook-id header: the same on every attempt.
    message_id: Mapped[str] = column("Message id, msg_...", string(40), unique=True)
    status: Mapped[str] = column("State.", default="pending", allowed=DELIVERY_STATUSES)
    attempts: Mapped[int] = column("Tries.", default=0)
    next_attempt_at: Mapped[datetime | None] = column("Next try.")
    leased_until: Mapped[datetime | None] = column("Held by a worker until.")
    delivered_at: Mapped[datetime | None] = column("When it was taken.")

    __table_args__ = (
        UniqueConstraint("endpoint_id", "event_id"),
        partial_index(
            "ix_webhook_deliveries_due", "endpoint_id", "next_attempt_at",
            where="status = 'pending'",
        ),
        Index("ix_webhook_deliveries_endpoint_id_id", "endpoint_id", "id"),
        Index("ix_webhook_deliveries_created_at", "created_at"),
    )  # fmt: skip


class WebhookAttempt(Record):
    """One try to deliver, with what the receiver answered."""

    __tablename__ = "webhook_attempts"

    delivery_id: Mapped[int] = foreign_key("webhook_deliveries", "Delivery.", ondelete="CASCADE")
    request_headers: Mapped[Any | None] = column("Headers that were sent.", JsonText())
    status_code: Mapped[int | None] = column("HTTP status; none when nothing came.")
    duration_ms: Mapped[int] = column("Milliseconds.")
    response: Mapped[str | None] = column("First 1 KB of the answer.", string(1024))
    error: Mapped[str | None] = column("What went wrong.", string(500))
