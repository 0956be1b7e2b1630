"""Leads; clients and opportunities refer back to them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from app.db.types import ExactDecimal, Identifier, JsonText, UtcDateTime, string
from app.models.indexes import nulls_first

revision = "0004"
down_revision = "0003"

# SQLite took these keys with their tables: it adds none later, and asks for no order.
LATER_KEYS = (
    ("fk_clients_origin_lead_id_leads", "clients", "leads", "origin_lead_id"),
    ("fk_opportunities_lead_id_leads", "opportunities", "leads", "lead_id"),
)


def upgrade() -> None:
    create_leads()
    if op.get_context().dialect.name != "sqlite":
        for name, source, target, column in LATER_KEYS:
            op.create_foreign_key(name, source, target, [column], ["id"])


def downgrade() -> None:
    for name, source, _, column in LATER_KEYS:
        op.execute(f"UPDATE {source} SET {column} = NULL")
        if op.get_context().dialect.name != "sqlite":
            op.drop_constraint(name, source, type_="foreignkey")
    op.drop_table("leads")


def create_leads() -> None:
    op.create_table(
        "leads",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("version", Identifier, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.Column("external_id", string(100)),
        sa.Column("created_by_id", Identifier),
        sa.Column("updated_by_id", Identifier),
        sa.Column("owner_id", Identifier),
        sa.Column("first_name", string(100)),
        sa.Column("last_name", string(100)),
        sa.Column("company", string(200)),
        sa.Column("job_title", string(100)),
        sa.Column("email", string(254)),
        sa.Column("phone", string(32)),
        sa.Column("tax_id", string(32)),
        sa.Column("industry", string(100)),
        sa.Column("country", string(2)),
        sa.Column("source", string(20), nullable=False),
        sa.Column("status", string(20), nullable=False),
        sa.Column("rating", string(20)),
        sa.Column("score", sa.Integer()),
        sa.Column("estimated_value", ExactDecimal(15, 2)),
        sa.Column("currency", string(3)),
        sa.Column("next_activity_at", UtcDateTime()),
        sa.Column("do_not_contact", sa.Boolean(), nullable=False),
        sa.Column("consent_at", UtcDateTime()),
        sa.Column("disqualify_reason", string(20)),
        sa.Column("converted_at", UtcDateTime()),
        sa.Column("converted_by_id", Identifier),
        sa.Column("converted_client_id", Identifier),
        sa.Column("converted_contact_id", Identifier),
        sa.Column("converted_opportunity_id", Identifier),
        sa.Column("status_changed_at", UtcDateTime(), nullable=False),
        sa.Column("website", string(2048)),
        sa.Column("description", string(10000)),
        sa.Column("disqualify_notes", string(1000)),
        sa.Column("tags", JsonText(), nullable=False),
        sa.Column("custom_fields", JsonText(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_leads"),
        sa.ForeignKeyConstraint(
            ["converted_by_id"], ["users.id"], name="fk_leads_converted_by_id_users"
        ),
        sa.ForeignKeyConstraint(
            ["converted_client_id"], ["clients.id"], name="fk_leads_converted_client_id_clients"
        ),
        sa.ForeignKeyConstraint(
            ["converted_contact_id"], ["contacts.id"], name="fk_leads_converted_contact_id_contacts"
        ),
        sa.ForeignKeyConstraint(
            ["converted_opportunity_id"],
            ["opportunities.id"],
            name="fk_leads_converted_opportunity_id_opportunities",
        ),
        sa.ForeignKeyConstraint(
            ["created_by_id"], ["users.id"], name="fk_leads_created_by_id_users"
        ),
        sa.ForeignKeyConstraint(["owner_id"], ["users.id"], name="fk_leads_owner_id_users"),
        sa.ForeignKeyConstraint(
            ["updated_by_id"], ["users.id"], name="fk_leads_updated_by_id_users"
        ),
        sa.UniqueConstraint("external_id", name="uq_leads_external_id"),
        sa.CheckConstraint(
            "rating IN ('Hot', 'Warm', 'Cold')", name=op.f("ck_leads_rating_allowed")
        ),
        sa.CheckConstraint(
            "source IN ('Web', 'Referral', 'Email', 'Phone', 'Event', 'Partner', "
            "'Campaign', 'ColdCall', 'ExistingCustomer', 'Import', 'Other')",
            name=op.f("ck_leads_source_allowed"),
        ),
        sa.CheckConstraint(
            "last_name IS NOT NULL OR company IS NOT NULL", name=op.f("ck_leads_has_a_name")
        ),
        sa.CheckConstraint("score >= 0 AND score <= 100", name=op.f("ck_leads_score_range")),
        sa.CheckConstraint(
            "disqualify_reason IN ('NoBudget', 'NoFit', 'NoResponse', 'Duplicate', 'Junk', "
            "'Other')",
            name=op.f("ck_leads_disqualify_reason_allowed"),
        ),
        sa.CheckConstraint(
            "status IN ('New', 'Contacted', 'Nurturing', 'Qualified', 'Converted', 'Disqualified')",
            name=op.f("ck_leads_status_allowed"),
        ),
        sa.CheckConstraint("estimated_value >= 0", name=op.f("ck_leads_estimated_value_range")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_leads_company", "leads", [nulls_first("company")])
    op.create_index("ix_leads_converted_client_id", "leads", ["converted_client_id"])
    op.create_index("ix_leads_converted_contact_id", "leads", ["converted_contact_id"])
    op.create_index("ix_leads_converted_opportunity_id", "leads", ["converted_opportunity_id"])
    op.create_index("ix_leads_created_at", "leads", ["created_at"])
    op.create_index("ix_leads_created_by_id", "leads", ["created_by_id"])
    op.create_index("ix_leads_email", "leads", ["email"])
    op.create_index("ix_leads_next_activity_at", "leads", [nulls_first("next_activity_at")])
    op.create_index("ix_leads_owner_id", "leads", ["owner_id"])
    op.create_index("ix_leads_status_created_at", "leads", ["status", "created_at"])
    op.create_index("ix_leads_updated_at", "leads", ["updated_at"])
