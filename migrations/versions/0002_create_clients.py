"""Clients and contacts."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from app.db.types import ExactDecimal, Identifier, JsonText, UtcDateTime, string

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    create_clients()
    create_contacts()


def downgrade() -> None:
    op.drop_table("contacts")
    op.drop_table("clients")


def create_clients() -> None:
    op.create_table(
        "clients",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("version", Identifier, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.Column("external_id", string(100)),
        sa.Column("created_by_id", Identifier),
        sa.Column("updated_by_id", Identifier),
        sa.Column("owner_id", Identifier),
        sa.Column("number", string(40)),
        sa.Column("name", string(200), nullable=False),
        sa.Column("email", string(254)),
        sa.Column("tax_id", string(32)),
        sa.Column("status", string(20), nullable=False),
        sa.Column("revenue", ExactDecimal(15, 2), nullable=False),
        sa.Column("type", string(20), nullable=False),
        sa.Column("legal_name", string(200)),
        sa.Column("phone", string(32)),
        sa.Column("registration_number", string(50)),
        sa.Column("industry", string(100)),
        sa.Column("employee_count", sa.Integer()),
        sa.Column("currency", string(3), nullable=False),
        sa.Column("language", string(10), nullable=False),
        sa.Column("payment_terms_days", sa.Integer(), nullable=False),
        sa.Column("credit_limit", ExactDecimal(15, 2)),
        sa.Column("billing_street", string(255)),
        sa.Column("billing_city", string(100)),
        sa.Column("billing_state", string(100)),
        sa.Column("billing_postal_code", string(20)),
        sa.Column("billing_country", string(2)),
        sa.Column("shipping_street", string(255)),
        sa.Column("shipping_city", string(100)),
        sa.Column("shipping_state", string(100)),
        sa.Column("shipping_postal_code", string(20)),
        sa.Column("shipping_country", string(2)),
        sa.Column("invoice_email", string(254)),
        sa.Column("e_invoice_scheme", string(4)),
        sa.Column("e_invoice_id", string(50)),
        sa.Column("buyer_reference", string(100)),
        sa.Column("source", string(50)),
        sa.Column("do_not_contact", sa.Boolean(), nullable=False),
        sa.Column("invoiced_total", ExactDecimal(15, 2), nullable=False),
        sa.Column("outstanding_balance", ExactDecimal(15, 2), nullable=False),
        sa.Column("credit_balance", ExactDecimal(15, 2), nullable=False),
        sa.Column("origin_lead_id", Identifier),
        sa.Column("last_activity_at", UtcDateTime()),
        sa.Column("website", string(2048)),
        sa.Column("notes", string(10000)),
        sa.Column("tags", JsonText(), nullable=False),
        sa.Column("custom_fields", JsonText(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_clients"),
        sa.ForeignKeyConstraint(
            ["created_by_id"], ["users.id"], name="fk_clients_created_by_id_users"
        ),
        sa.ForeignKeyConstraint(
            ["origin_lead_id"], ["leads.id"], name="fk_clients_origin_lead_id_leads", use_alter=True
        ),
        sa.ForeignKeyConstraint(["owner_id"], ["users.id"], name="fk_clients_owner_id_users"),
        sa.ForeignKeyConstraint(
            ["updated_by_id"], ["users.id"], name="fk_clients_updated_by_id_users"
        ),
        sa.UniqueConstraint("external_id", name="uq_clients_external_id"),
        sa.UniqueConstraint("number", name="uq_clients_number"),
        sa.CheckConstraint(
            "status IN ('Prospect', 'Active', 'Inactive', 'Blocked')",
            name=op.f("ck_clients_status_allowed"),
        ),
        sa.CheckConstraint("employee_count >= 0", name=op.f("ck_clients_employee_count_range")),
        sa.CheckConstraint(
            "type IN ('Company', 'Individual')", name=op.f("ck_clients_type_allowed")
        ),
        sa.CheckConstraint(
            "payment_terms_days >= 0 AND payment_terms_days <= 365",
            name=op.f("ck_clients_payment_terms_days_range"),
        ),
        sa.CheckConstraint("credit_limit >= 0", name=op.f("ck_clients_credit_limit_range")),
        sa.CheckConstraint("revenue >= 0", name=op.f("ck_clients_revenue_range")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_clients_created_at", "clients", ["created_at"])
    op.create_index("ix_clients_created_by_id", "clients", ["created_by_id"])
    op.create_index("ix_clients_email", "clients", ["email"])
    op.create_index("ix_clients_name_id", "clients", ["name", "id"])
    op.create_index("ix_clients_origin_lead_id", "clients", ["origin_lead_id"])
    op.create_index("ix_clients_owner_id", "clients", ["owner_id"])
    op.create_index("ix_clients_revenue", "clients", ["revenue"])
    op.create_index(
        "ix_clients_status_revenue_name",
        "clients",
        ["status", sa.text("revenue DESC"), "name", "id"],
    )
    op.create_index("ix_clients_tax_id", "clients", ["tax_id"])
    op.create_index("ix_clients_updated_at", "clients", ["updated_at"])


def create_contacts() -> None:
    op.create_table(
        "contacts",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("version", Identifier, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.Column("external_id", string(100)),
        sa.Column("created_by_id", Identifier),
        sa.Column("updated_by_id", Identifier),
        sa.Column("owner_id", Identifier),
        sa.Column("first_name", string(100)),
        sa.Column("last_name", string(100), nullable=False),
        sa.Column("client_id", Identifier),
        sa.Column("email", string(254)),
        sa.Column("phone", string(32)),
        sa.Column("mobile", string(32)),
        sa.Column("job_title", string(100)),
        sa.Column("department", string(100)),
        sa.Column("role", string(20)),
        sa.Column("is_primary", sa.Boolean(), nullable=False),
        sa.Column("receives_invoices", sa.Boolean(), nullable=False),
        sa.Column("language", string(10)),
        sa.Column("do_not_contact", sa.Boolean(), nullable=False),
        sa.Column("notes", string(10000)),
        sa.Column("tags", JsonText(), nullable=False),
        sa.Column("custom_fields", JsonText(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_contacts"),
        sa.ForeignKeyConstraint(
            ["client_id"], ["clients.id"], name="fk_contacts_client_id_clients"
        ),
        sa.ForeignKeyConstraint(
            ["created_by_id"], ["users.id"], name="fk_contacts_created_by_id_users"
        ),
        sa.ForeignKeyConstraint(["owner_id"], ["users.id"], name="fk_contacts_owner_id_users"),
        sa.ForeignKeyConstraint(
            ["updated_by_id"], ["users.id"], name="fk_contacts_updated_by_id_users"
        ),
        sa.UniqueConstraint("external_id", name="uq_contacts_external_id"),
        sa.CheckConstraint(
            "role IN ('DecisionMaker', 'Evaluator', 'Influencer', 'Billing', 'Technical', 'Other')",
            name=op.f("ck_contacts_role_allowed"),
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_contacts_client_id", "contacts", ["client_id"])
    op.create_index("ix_contacts_created_at", "contacts", ["created_at"])
    op.create_index("ix_contacts_created_by_id", "contacts", ["created_by_id"])
    op.create_index("ix_contacts_email", "contacts", ["email"])
    op.create_index("ix_contacts_last_name_first_name", "contacts", ["last_name", "first_name"])
    op.create_index("ix_contacts_owner_id", "contacts", ["owner_id"])
    op.create_index("ix_contacts_updated_at", "contacts", ["updated_at"])
    op.create_index(
        "uq_contacts_primary",
        "contacts",
        ["client_id"],
        unique=True,
        sqlite_where=sa.text("is_primary = 1"),
        postgresql_where=sa.text("is_primary"),
    )
