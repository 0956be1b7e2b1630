"""Events, audit log, counters, keyed requests, outgoing mail, settings."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from app.db.types import Identifier, JsonText, UtcDateTime, string, text

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    create_events()
    create_audit_records()
    create_counters()
    create_idempotency_records()
    create_outgoing_mail()
    create_settings()


def downgrade() -> None:
    op.drop_table("settings")
    op.drop_table("outgoing_mail")
    op.drop_table("idempotency_records")
    op.drop_table("counters")
    op.drop_table("audit_records")
    op.drop_table("events")


def create_events() -> None:
    op.create_table(
        "events",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("key", string(40), nullable=False),
        sa.Column("type", string(60), nullable=False),
        sa.Column("entity", string(20), nullable=False),
        sa.Column("entity_id", Identifier, nullable=False),
        sa.Column("sequence", Identifier, nullable=False),
        sa.Column("request_id", string(64)),
        sa.Column("dispatched_at", UtcDateTime()),
        sa.Column("payload", JsonText(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_events"),
        sa.UniqueConstraint("key", name="uq_events_key"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_events_created_at", "events", ["created_at"])
    op.create_index("ix_events_entity_entity_id", "events", ["entity", "entity_id"])
    op.create_index("ix_events_type", "events", ["type"])
    op.create_index(
        "ix_events_undispatched",
        "events",
        ["id"],
        sqlite_where=sa.text("dispatched_at IS NULL"),
        postgresql_where=sa.text("dispatched_at IS NULL"),
    )


def create_audit_records() -> None:
    op.create_table(
        "audit_records",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("actor_id", Identifier),
        sa.Column("via", string(20), nullable=False),
        sa.Column("action", string(60), nullable=False),
        sa.Column("entity", string(20)),
        sa.Column("entity_id", Identifier),
        sa.Column("ip", string(45)),
        sa.Column("request_id", string(64)),
        sa.Column("before", JsonText()),
        sa.Column("after", JsonText()),
        sa.PrimaryKeyConstraint("id", name="pk_audit_records"),
        sa.ForeignKeyConstraint(["actor_id"], ["users.id"], name="fk_audit_records_actor_id_users"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_audit_records_action", "audit_records", ["action"])
    op.create_index("ix_audit_records_actor_id", "audit_records", ["actor_id"])
    op.create_index("ix_audit_records_created_at", "audit_records", ["created_at"])
    op.create_index("ix_audit_records_entity_entity_id", "audit_records", ["entity", "entity_id"])


def create_counters() -> None:
    op.create_table(
        "counters",
        sa.Column("name", string(60), nullable=False),
        sa.Column("value", Identifier, nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_counters"),
    )


def create_idempotency_records() -> None:
    op.create_table(
        "idempotency_records",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("principal", string(60), nullable=False),
        sa.Column("key", string(255), nullable=False),
        sa.Column("fingerprint", string(64), nullable=False),
        sa.Column("status", sa.Integer()),
        sa.Column("expires_at", UtcDateTime(), nullable=False),
        sa.Column("headers", JsonText()),
        sa.Column("body", text()),
        sa.PrimaryKeyConstraint("id", name="pk_idempotency_records"),
        sa.UniqueConstraint("principal", "key", name="uq_idempotency_records_principal_key"),
    )
    op.create_index("ix_idempotency_records_expires_at", "idempotency_records", ["expires_at"])


def create_outgoing_mail() -> None:
    op.create_table(
        "outgoing_mail",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("message_id", string(255), nullable=False),
        sa.Column("subject", string(998), nullable=False),
        sa.Column("entity", string(20)),
        sa.Column("entity_id", Identifier),
        sa.Column("status", string(20), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("next_attempt_at", UtcDateTime(), nullable=False),
        sa.Column("leased_until", UtcDateTime()),
        sa.Column("sent_at", UtcDateTime()),
        sa.Column("to", JsonText(), nullable=False),
        sa.Column("cc", JsonText(), nullable=False),
        sa.Column("text_body", text(), nullable=False),
        sa.Column("html_body", text()),
        sa.Column("attachments", JsonText(), nullable=False),
        sa.Column("error", string(1000)),
        sa.PrimaryKeyConstraint("id", name="pk_outgoing_mail"),
        sa.UniqueConstraint("message_id", name="uq_outgoing_mail_message_id"),
        sa.CheckConstraint(
            "status IN ('queued', 'sending', 'sent', 'failed')",
            name=op.f("ck_outgoing_mail_status_allowed"),
        ),
    )
    op.create_index("ix_outgoing_mail_entity_entity_id", "outgoing_mail", ["entity", "entity_id"])
    op.create_index(
        "ix_outgoing_mail_status_next_attempt_at", "outgoing_mail", ["status", "next_attempt_at"]
    )


def create_settings() -> None:
    op.create_table(
        "settings",
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.Column("updated_by_id", Identifier),
        sa.Column("name", string(60), nullable=False),
        sa.Column("value", JsonText(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_settings"),
        sa.ForeignKeyConstraint(
            ["updated_by_id"], ["users.id"], name="fk_settings_updated_by_id_users"
        ),
    )
