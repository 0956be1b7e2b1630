"""Opportunities and the history of their stages."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from app.db.types import ExactDecimal, Identifier, JsonText, UtcDateTime, string
from app.models.indexes import nulls_first

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    create_opportunities()
    create_stage_changes()


def downgrade() -> None:
    op.drop_table("stage_changes")
    op.drop_table("opportunities")


def create_opportunities() -> None:
    op.create_table(
        "opportunities",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("version", Identifier, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.Column("external_id", string(100)),
        sa.Column("created_by_id", Identifier),
        sa.Column("updated_by_id", Identifier),
        sa.Column("owner_id", Identifier),
        sa.Column("name", string(200), nullable=False),
        sa.Column("client_id", Identifier, nullable=False),
        sa.Column("contact_id", Identifier),
        sa.Column("amount", ExactDecimal(15, 2), nullable=False),
        sa.Column("currency", string(3), nullable=False),
        sa.Column("stage", string(20), nullable=False),
        sa.Column("pipeline", string(50), nullable=False),
        sa.Column("probability", sa.Integer(), nullable=False),
        sa.Column("close_date", sa.Date()),
        sa.Column("type", string(20), nullable=False),
        sa.Column("source", string(50)),
        sa.Column("next_step", string(255)),
        sa.Column("competitor", string(200)),
        sa.Column("lost_reason", string(20)),
        sa.Column("status", string(20), nullable=False),
        sa.Column("weighted_amount", ExactDecimal(15, 2), nullable=False),
        sa.Column("exchange_rate", ExactDecimal(18, 8), nullable=False),
        sa.Column("base_amount", ExactDecimal(15, 2), nullable=False),
        sa.Column("lead_id", Identifier),
        sa.Column("stage_changed_at", UtcDateTime(), nullable=False),
        sa.Column("previous_stage", string(20)),
        sa.Column("closed_at", UtcDateTime()),
        sa.Column("lost_notes", string(1000)),
        sa.Column("description", string(10000)),
        sa.Column("tags", JsonText(), nullable=False),
        sa.Column("custom_fields", JsonText(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_opportunities"),
        sa.ForeignKeyConstraint(
            ["client_id"], ["clients.id"], name="fk_opportunities_client_id_clients"
        ),
        sa.ForeignKeyConstraint(
            ["contact_id"], ["contacts.id"], name="fk_opportunities_contact_id_contacts"
        ),
        sa.ForeignKeyConstraint(
            ["created_by_id"], ["users.id"], name="fk_opportunities_created_by_id_users"
        ),
        sa.ForeignKeyConstraint(
            ["lead_id"], ["leads.id"], name="fk_opportunities_lead_id_leads", use_alter=True
        ),
        sa.ForeignKeyConstraint(["owner_id"], ["users.id"], name="fk_opportunities_owner_id_users"),
        sa.ForeignKeyConstraint(
            ["updated_by_id"], ["users.id"], name="fk_opportunities_updated_by_id_users"
        ),
        sa.UniqueConstraint("external_id", name="uq_opportunities_external_id"),
        sa.CheckConstraint(
            "type IN ('NewBusiness', 'Expansion', 'Renewal')",
            name=op.f("ck_opportunities_type_allowed"),
        ),
        sa.CheckConstraint(
            "previous_stage IN ('Prospecting', 'Qualification', 'Proposal', 'Negotiation', "
            "'ClosedWon', 'ClosedLost')",
            name=op.f("ck_opportunities_previous_stage_allowed"),
        ),
        sa.CheckConstraint("amount >= 0", name=op.f("ck_opportunities_amount_range")),
        sa.CheckConstraint(
            "lost_reason IN ('Price', 'Competitor', 'Timing', 'NoBudget', 'NoDecision', "
            "'ProductFit', 'Other')",
            name=op.f("ck_opportunities_lost_reason_allowed"),
        ),
        sa.CheckConstraint(
            "status IN ('Open', 'Won', 'Lost')", name=op.f("ck_opportunities_status_allowed")
        ),
        sa.CheckConstraint(
            "probability >= 0 AND probability <= 100",
            name=op.f("ck_opportunities_probability_range"),
        ),
        sa.CheckConstraint(
            "stage IN ('Prospecting', 'Qualification', 'Proposal', 'Negotiation', "
            "'ClosedWon', 'ClosedLost')",
            name=op.f("ck_opportunities_stage_allowed"),
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_opportunities_amount", "opportunities", ["amount"])
    op.create_index("ix_opportunities_client_id", "opportunities", ["client_id"])
    op.create_index("ix_opportunities_close_date", "opportunities", [nulls_first("close_date")])
    op.create_index("ix_opportunities_contact_id", "opportunities", ["contact_id"])
    op.create_index("ix_opportunities_created_at", "opportunities", ["created_at"])
    op.create_index("ix_opportunities_created_by_id", "opportunities", ["created_by_id"])
    op.create_index("ix_opportunities_lead_id", "opportunities", ["lead_id"])
    op.create_index("ix_opportunities_owner_id", "opportunities", ["owner_id"])
    op.create_index(
        "ix_opportunities_stage_close_date", "opportunities", ["stage", nulls_first("close_date")]
    )
    op.create_index(
        "ix_opportunities_status_closed_at", "opportunities", ["status", nulls_first("closed_at")]
    )
    op.create_index("ix_opportunities_updated_at", "opportunities", ["updated_at"])


def create_stage_changes() -> None:
    op.create_table(
        "stage_changes",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("opportunity_id", Identifier, nullable=False),
        sa.Column("from_stage", string(20)),
        sa.Column("to_stage", string(20), nullable=False),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.Column("by_id", Identifier),
        sa.Column("seconds", sa.Integer()),
        sa.PrimaryKeyConstraint("id", name="pk_stage_changes"),
        sa.ForeignKeyConstraint(["by_id"], ["users.id"], name="fk_stage_changes_by_id_users"),
        sa.ForeignKeyConstraint(
            ["opportunity_id"],
            ["opportunities.id"],
            name="fk_stage_changes_opportunity_id_opportunities",
            ondelete="CASCADE",
        ),
        sa.CheckConstraint(
            "to_stage IN ('Prospecting', 'Qualification', 'Proposal', 'Negotiation', "
            "'ClosedWon', 'ClosedLost')",
            name=op.f("ck_stage_changes_to_stage_allowed"),
        ),
        sa.CheckConstraint(
            "from_stage IN ('Prospecting', 'Qualification', 'Proposal', 'Negotiation', "
            "'ClosedWon', 'ClosedLost')",
            name=op.f("ck_stage_changes_from_stage_allowed"),
        ),
    )
    op.create_index("ix_stage_changes_opportunity_id", "stage_changes", ["opportunity_id"])
