"""Webhook endpoints, deliveries and attempts."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from app.db.types import Identifier, JsonText, UtcDateTime, string

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    create_webhook_endpoints()
    create_webhook_deliveries()
    create_webhook_attempts()


def downgrade() -> None:
    op.drop_table("webhook_attempts")
    op.drop_table("webhook_deliveries")
    op.drop_table("webhook_endpoints")


def create_webhook_endpoints() -> None:
    op.create_table(
        "webhook_endpoints",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("version", Identifier, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.Column("description", string(500)),
        sa.Column("status", string(20), nullable=False),
        sa.Column("secret", string(500), nullable=False),
        sa.Column("previous_secret", string(500)),
        sa.Column("previous_secret_until", UtcDateTime()),
        sa.Column("failing_since", UtcDateTime()),
        sa.Column("disabled_reason", string(500)),
        sa.Column("created_by_id", Identifier),
        sa.Column("url", string(2048), nullable=False),
        sa.Column("events", JsonText(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_webhook_endpoints"),
        sa.ForeignKeyConstraint(
            ["created_by_id"], ["users.id"], name="fk_webhook_endpoints_created_by_id_users"
        ),
        sa.CheckConstraint(
            "status IN ('active', 'disabled')", name=op.f("ck_webhook_endpoints_status_allowed")
        ),
    )
    op.create_index("ix_webhook_endpoints_created_by_id", "webhook_endpoints", ["created_by_id"])


def create_webhook_deliveries() -> None:
    op.create_table(
        "webhook_deliveries",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("endpoint_id", Identifier, nullable=False),
        sa.Column("event_id", Identifier, nullable=False),
        sa.Column("message_id", string(40), nullable=False),
        sa.Column("status", string(20), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("next_attempt_at", UtcDateTime()),
        sa.Column("leased_until", UtcDateTime()),
        sa.Column("delivered_at", UtcDateTime()),
        sa.PrimaryKeyConstraint("id", name="pk_webhook_deliveries"),
        sa.ForeignKeyConstraint(
            ["endpoint_id"],
            ["webhook_endpoints.id"],
            name="fk_webhook_deliveries_endpoint_id_webhook_endpoints",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["event_id"],
            ["events.id"],
            name="fk_webhook_deliveries_event_id_events",
            ondelete="CASCADE",
        ),
        sa.UniqueConstraint(
            "endpoint_id", "event_id", name="uq_webhook_deliveries_endpoint_id_event_id"
        ),
        sa.UniqueConstraint("message_id", name="uq_webhook_deliveries_message_id"),
        sa.CheckConstraint(
            "status IN ('pending', 'succeeded', 'failed', 'canceled')",
            name=op.f("ck_webhook_deliveries_status_allowed"),
        ),
    )
    op.create_index("ix_webhook_deliveries_created_at", "webhook_deliveries", ["created_at"])
    op.create_index(
        "ix_webhook_deliveries_due",
        "webhook_deliveries",
        ["next_attempt_at"],
        sqlite_where=sa.text("status = 'pending'"),
        postgresql_where=sa.text("status = 'pending'"),
    )
    op.create_index(
        "ix_webhook_deliveries_endpoint_id_id", "webhook_deliveries", ["endpoint_id", "id"]
    )
    op.create_index("ix_webhook_deliveries_event_id", "webhook_deliveries", ["event_id"])


def create_webhook_attempts() -> None:
    op.create_table(
        "webhook_attempts",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("delivery_id", Identifier, nullable=False),
        sa.Column("status_code", sa.Integer()),
        sa.Column("duration_ms", sa.Integer(), nullable=False),
        sa.Column("error", string(500)),
        sa.Column("response", string(1024)),
        sa.PrimaryKeyConstraint("id", name="pk_webhook_attempts"),
        sa.ForeignKeyConstraint(
            ["delivery_id"],
            ["webhook_deliveries.id"],
            name="fk_webhook_attempts_delivery_id_webhook_deliveries",
            ondelete="CASCADE",
        ),
    )
    op.create_index("ix_webhook_attempts_delivery_id", "webhook_attempts", ["delivery_id"])
