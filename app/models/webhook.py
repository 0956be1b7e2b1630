"""Webhook endpoints, the deliveries owed to them and every attempt made."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Index, Integer, UniqueConstraint
from sqlalchemy.orm import Mapped

from app.db.partial_index import partial_index
from app.db.types import Identifier, JsonText, UtcDateTime, string
from app.models.columns import Record, column, foreign_key

ENDPOINT_STATUSES = ("active", "disabled")
DELIVERY_STATUSES = ("pending", "succeeded", "failed", "canceled")


class WebhookEndpoint(Record):
    """An address that receives events."""

    __tablename__ = "webhook_endpoints"

    url: Mapped[str] = column(string(2048), "Receiver.", format="url")
    description: Mapped[str | None] = column(string(500), "What it is for.")
    events: Mapped[list[str]] = column(JsonText(), "Names, object.* or *.")
    status: Mapped[str] = column(string(20), "State.", default="active", allowed=ENDPOINT_STATUSES)
    # Sealed with a key derived from SECRET_KEY.
    secret: Mapped[str] = column(string(500), "Signing secret.")
    previous_secret: Mapped[str | None] = column(string(500), "Secret before a rotation.")
    previous_secret_until: Mapped[datetime | None] = column(UtcDateTime(), "Both sign until.")
    failing_since: Mapped[datetime | None] = column(UtcDateTime(), "First failure in a row.")
    disabled_reason: Mapped[str | None] = column(string(500), "Why it was disabled.")
    disabled_at: Mapped[datetime | None] = column(UtcDateTime(), "When it was disabled.")
    # Events up to a place in the journal that are to be delivered anew, from a place on.
    recover_after: Mapped[int | None] = column(Identifier, "Recovered up to this position.")
    recover_until: Mapped[int | None] = column(Identifier, "Last position to recover.")
    created_by_id: Mapped[int | None] = foreign_key("users", "Who made it.")
    updated_at: Mapped[datetime] = column(UtcDateTime(), "Last change.")
    version: Mapped[int] = column(Identifier, "Row version.", default=1)


class WebhookDelivery(Record):
    """An event owed to an endpoint."""

    __tablename__ = "webhook_deliveries"

    endpoint_id: Mapped[int] = foreign_key(
        "webhook_endpoints", "Endpoint.", ondelete="CASCADE", index=False
    )
    event_id: Mapped[int] = foreign_key("events", "Event.", ondelete="CASCADE")
    # The webhook-id header: the same on every attempt.
    message_id: Mapped[str] = column(string(40), "Message id, msg_...", unique=True)
    status: Mapped[str] = column(string(20), "State.", default="pending", allowed=DELIVERY_STATUSES)
    attempts: Mapped[int] = column(Integer, "Tries.", default=0)
    next_attempt_at: Mapped[datetime | None] = column(UtcDateTime(), "Next try.")
    leased_until: Mapped[datetime | None] = column(UtcDateTime(), "Held by a worker until.")
    delivered_at: Mapped[datetime | None] = column(UtcDateTime(), "When it was taken.")

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
    request_headers: Mapped[Any | None] = column(JsonText(), "Headers that were sent.")
    status_code: Mapped[int | None] = column(Integer, "HTTP status; none when nothing came.")
    duration_ms: Mapped[int] = column(Integer, "Milliseconds.")
    response: Mapped[str | None] = column(string(1024), "First 1 KB of the answer.")
    error: Mapped[str | None] = column(string(500), "What went wrong.")
