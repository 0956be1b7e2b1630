"""Tickets and their comments."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from app.db.types import Identifier, JsonText, UtcDateTime, string
from app.models.indexes import nulls_first

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    create_tickets()
    create_ticket_comments()


def downgrade() -> None:
    op.drop_table("ticket_comments")
    op.drop_table("tickets")


def create_tickets() -> None:
    op.create_table(
        "tickets",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("version", Identifier, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.Column("external_id", string(100)),
        sa.Column("created_by_id", Identifier),
        sa.Column("updated_by_id", Identifier),
        sa.Column("owner_id", Identifier),
        sa.Column("number", string(40)),
        sa.Column("subject", string(255), nullable=False),
        sa.Column("status", string(20), nullable=False),
        sa.Column("priority", sa.SmallInteger(), nullable=False),
        sa.Column("type", string(20), nullable=False),
        sa.Column("channel", string(20), nullable=False),
        sa.Column("client_id", Identifier),
        sa.Column("contact_id", Identifier),
        sa.Column("requester_email", string(254)),
        sa.Column("assignee_id", Identifier),
        sa.Column("category", string(100)),
        sa.Column("language", string(10)),
        sa.Column("pending_until", UtcDateTime()),
        sa.Column("satisfaction_rating", sa.Integer()),
        sa.Column("first_response_due_at", UtcDateTime()),
        sa.Column("first_responded_at", UtcDateTime()),
        sa.Column("resolution_due_at", UtcDateTime()),
        sa.Column("sla_status", string(20), nullable=False),
        sa.Column("sla_paused_at", UtcDateTime()),
        sa.Column("solved_at", UtcDateTime()),
        sa.Column("closed_at", UtcDateTime()),
        sa.Column("reopen_count", sa.Integer(), nullable=False),
        sa.Column("merged_into_id", Identifier),
        sa.Column("last_customer_reply_at", UtcDateTime()),
        sa.Column("last_agent_reply_at", UtcDateTime()),
        sa.Column("description", string(20000)),
        sa.Column("resolution", string(10000)),
        sa.Column("tags", JsonText(), nullable=False),
        sa.Column("custom_fields", JsonText(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_tickets"),
        sa.ForeignKeyConstraint(["assignee_id"], ["users.id"], name="fk_tickets_assignee_id_users"),
        sa.ForeignKeyConstraint(["client_id"], ["clients.id"], name="fk_tickets_client_id_clients"),
        sa.ForeignKeyConstraint(
            ["contact_id"], ["contacts.id"], name="fk_tickets_contact_id_contacts"
        ),
        sa.ForeignKeyConstraint(
            ["created_by_id"], ["users.id"], name="fk_tickets_created_by_id_users"
        ),
        sa.ForeignKeyConstraint(
            ["merged_into_id"], ["tickets.id"], name="fk_tickets_merged_into_id_tickets"
        ),
        sa.ForeignKeyConstraint(["owner_id"], ["users.id"], name="fk_tickets_owner_id_users"),
        sa.ForeignKeyConstraint(
            ["updated_by_id"], ["users.id"], name="fk_tickets_updated_by_id_users"
        ),
        sa.UniqueConstraint("external_id", name="uq_tickets_external_id"),
        sa.UniqueConstraint("number", name="uq_tickets_number"),
        sa.CheckConstraint(
            "status IN ('New', 'Open', 'Pending', 'OnHold', 'Solved', 'Closed')",
            name=op.f("ck_tickets_status_allowed"),
        ),
        sa.CheckConstraint(
            "sla_status IN ('OnTrack', 'AtRisk', 'Breached', 'Paused', 'Met')",
            name=op.f("ck_tickets_sla_status_allowed"),
        ),
        sa.CheckConstraint(
            "type IN ('Question', 'Incident', 'Problem', 'Request')",
            name=op.f("ck_tickets_type_allowed"),
        ),
        sa.CheckConstraint(
            "channel IN ('Email', 'Web', 'Phone', 'Chat', 'Api')",
            name=op.f("ck_tickets_channel_allowed"),
        ),
        sa.CheckConstraint(
            "satisfaction_rating >= 1 AND satisfaction_rating <= 5",
            name=op.f("ck_tickets_satisfaction_rating_range"),
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_tickets_assignee_id", "tickets", ["assignee_id"])
    op.create_index("ix_tickets_client_id", "tickets", ["client_id"])
    op.create_index("ix_tickets_contact_id", "tickets", ["contact_id"])
    op.create_index("ix_tickets_created_at", "tickets", ["created_at"])
    op.create_index("ix_tickets_created_by_id", "tickets", ["created_by_id"])
    op.create_index(
        "ix_tickets_first_response_due_at", "tickets", [nulls_first("first_response_due_at")]
    )
    op.create_index("ix_tickets_merged_into_id", "tickets", ["merged_into_id"])
    op.create_index("ix_tickets_owner_id", "tickets", ["owner_id"])
    op.create_index("ix_tickets_pending_until", "tickets", [nulls_first("pending_until")])
    op.create_index("ix_tickets_requester_email", "tickets", ["requester_email"])
    op.create_index("ix_tickets_resolution_due_at", "tickets", [nulls_first("resolution_due_at")])
    op.create_index("ix_tickets_status_priority", "tickets", ["status", "priority"])
    op.create_index("ix_tickets_status_solved_at", "tickets", ["status", nulls_first("solved_at")])
    op.create_index("ix_tickets_updated_at", "tickets", ["updated_at"])


def create_ticket_comments() -> None:
    op.create_table(
        "ticket_comments",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("ticket_id", Identifier, nullable=False),
        sa.Column("is_internal", sa.Boolean(), nullable=False),
        sa.Column("author_id", Identifier),
        sa.Column("body", string(20000), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_ticket_comments"),
        sa.ForeignKeyConstraint(
            ["author_id"], ["users.id"], name="fk_ticket_comments_author_id_users"
        ),
        sa.ForeignKeyConstraint(
            ["ticket_id"],
            ["tickets.id"],
            name="fk_ticket_comments_ticket_id_tickets",
            ondelete="CASCADE",
        ),
    )
    op.create_index("ix_ticket_comments_author_id", "ticket_comments", ["author_id"])
    op.create_index("ix_ticket_comments_ticket_id", "ticket_comments", ["ticket_id"])
