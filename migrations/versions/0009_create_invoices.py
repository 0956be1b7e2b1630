"""Invoices, payments and the chain of issued documents."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from app.db.types import ExactDecimal, Identifier, JsonText, UtcDateTime, string
from app.models.indexes import nulls_first

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    create_invoices()
    create_payments()
    create_issue_records()


def downgrade() -> None:
    op.drop_table("issue_records")
    op.drop_table("payments")
    op.drop_table("invoices")


def create_invoices() -> None:
    # SQLite keeps hundredths of a percent, as a whole number.
    one_hundred = 100_00 if op.get_context().dialect.name == "sqlite" else 100
    op.create_table(
        "invoices",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("version", Identifier, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.Column("external_id", string(100)),
        sa.Column("created_by_id", Identifier),
        sa.Column("updated_by_id", Identifier),
        sa.Column("owner_id", Identifier),
        sa.Column("client_id", Identifier, nullable=False),
        sa.Column("type", string(20), nullable=False),
        sa.Column("contact_id", Identifier),
        sa.Column("issue_date", sa.Date()),
        sa.Column("due_date", sa.Date()),
        sa.Column("service_date", sa.Date()),
        sa.Column("currency", string(3), nullable=False),
        sa.Column("reference", string(100)),
        sa.Column("purchase_order", string(50)),
        sa.Column("buyer_reference", string(100)),
        sa.Column("prices_include_tax", sa.Boolean(), nullable=False),
        sa.Column("discount_percent", ExactDecimal(5, 2), nullable=False),
        sa.Column("series", string(10), nullable=False),
        sa.Column("credited_invoice_id", Identifier),
        sa.Column("opportunity_id", Identifier),
        sa.Column("project_id", Identifier),
        sa.Column("e_invoice_format", string(20), nullable=False),
        sa.Column("number", string(40)),
        sa.Column("status", string(20), nullable=False),
        sa.Column("subtotal", ExactDecimal(15, 2), nullable=False),
        sa.Column("discount_total", ExactDecimal(15, 2), nullable=False),
        sa.Column("tax_total", ExactDecimal(15, 2), nullable=False),
        sa.Column("total", ExactDecimal(15, 2), nullable=False),
        sa.Column("amount_paid", ExactDecimal(15, 2), nullable=False),
        sa.Column("amount_credited", ExactDecimal(15, 2), nullable=False),
        sa.Column("amount_due", ExactDecimal(15, 2), nullable=False),
        sa.Column("exchange_rate", ExactDecimal(18, 8), nullable=False),
        sa.Column("base_total", ExactDecimal(15, 2), nullable=False),
        sa.Column("sent_at", UtcDateTime()),
        sa.Column("viewed_at", UtcDateTime()),
        sa.Column("paid_at", UtcDateTime()),
        sa.Column("voided_at", UtcDateTime()),
        sa.Column("void_reason", string(500)),
        sa.Column("reminders_sent", sa.Integer(), nullable=False),
        sa.Column("last_reminder_at", UtcDateTime()),
        sa.Column("pdf_sha256", string(64)),
        sa.Column("notes", string(2000)),
        sa.Column("terms", string(2000)),
        sa.Column("internal_notes", string(10000)),
        sa.Column("tax_breakdown", JsonText(), nullable=False),
        sa.Column("seller", JsonText()),
        sa.Column("buyer", JsonText()),
        sa.Column("tags", JsonText(), nullable=False),
        sa.Column("custom_fields", JsonText(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_invoices"),
        sa.ForeignKeyConstraint(
            ["client_id"], ["clients.id"], name="fk_invoices_client_id_clients"
        ),
        sa.ForeignKeyConstraint(
            ["contact_id"], ["contacts.id"], name="fk_invoices_contact_id_contacts"
        ),
        sa.ForeignKeyConstraint(
            ["created_by_id"], ["users.id"], name="fk_invoices_created_by_id_users"
        ),
        sa.ForeignKeyConstraint(
            ["credited_invoice_id"],
            ["invoices.id"],
            name="fk_invoices_credited_invoice_id_invoices",
        ),
        sa.ForeignKeyConstraint(
            ["opportunity_id"],
            ["opportunities.id"],
            name="fk_invoices_opportunity_id_opportunities",
        ),
        sa.ForeignKeyConstraint(["owner_id"], ["users.id"], name="fk_invoices_owner_id_users"),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name="fk_invoices_project_id_projects"
        ),
        sa.ForeignKeyConstraint(
            ["updated_by_id"], ["users.id"], name="fk_invoices_updated_by_id_users"
        ),
        sa.UniqueConstraint("number", name="uq_invoices_number"),
        sa.UniqueConstraint("external_id", name="uq_invoices_external_id"),
        sa.CheckConstraint(
            "status IN ('Draft', 'Sent', 'PartiallyPaid', 'Paid', 'Void', 'Uncollectible')",
            name=op.f("ck_invoices_status_allowed"),
        ),
        sa.CheckConstraint(
            "status = 'Draft' OR number IS NOT NULL", name=op.f("ck_invoices_issued_has_number")
        ),
        sa.CheckConstraint(
            "type IN ('Invoice', 'CreditNote')", name=op.f("ck_invoices_type_allowed")
        ),
        sa.CheckConstraint("amount_paid >= 0", name=op.f("ck_invoices_amount_paid_range")),
        sa.CheckConstraint(
            "due_date IS NULL OR issue_date IS NULL OR due_date >= issue_date",
            name=op.f("ck_invoices_due_after_issue"),
        ),
        sa.CheckConstraint(
            "e_invoice_format IN ('Auto', 'None', 'FacturX', 'Ubl')",
            name=op.f("ck_invoices_e_invoice_format_allowed"),
        ),
        sa.CheckConstraint(
            "type = 'Invoice' OR credited_invoice_id IS NOT NULL",
            name=op.f("ck_invoices_credit_note_names_invoice"),
        ),
        sa.CheckConstraint(
            f"discount_percent >= 0 AND discount_percent <= {one_hundred}",
            name=op.f("ck_invoices_discount_percent_range"),
        ),
        sa.CheckConstraint("total >= 0", name=op.f("ck_invoices_total_range")),
        sa.CheckConstraint("amount_credited >= 0", name=op.f("ck_invoices_amount_credited_range")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_invoices_amount_due", "invoices", ["amount_due"])
    op.create_index("ix_invoices_client_id", "invoices", ["client_id"])
    op.create_index("ix_invoices_contact_id", "invoices", ["contact_id"])
    op.create_index("ix_invoices_created_at", "invoices", ["created_at"])
    op.create_index("ix_invoices_created_by_id", "invoices", ["created_by_id"])
    op.create_index("ix_invoices_credited_invoice_id", "invoices", ["credited_invoice_id"])
    op.create_index("ix_invoices_due_date", "invoices", [nulls_first("due_date")])
    op.create_index("ix_invoices_issue_date", "invoices", [nulls_first("issue_date")])
    op.create_index("ix_invoices_opportunity_id", "invoices", ["opportunity_id"])
    op.create_index("ix_invoices_owner_id", "invoices", ["owner_id"])
    op.create_index("ix_invoices_paid_at", "invoices", [nulls_first("paid_at")])
    op.create_index("ix_invoices_project_id", "invoices", ["project_id"])
    op.create_index("ix_invoices_status_due_date", "invoices", ["status", nulls_first("due_date")])
    op.create_index("ix_invoices_total", "invoices", ["total"])
    op.create_index("ix_invoices_updated_at", "invoices", ["updated_at"])


def create_payments() -> None:
    op.create_table(
        "payments",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("version", Identifier, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("number", string(40), nullable=False),
        sa.Column("invoice_id", Identifier, nullable=False),
        sa.Column("client_id", Identifier, nullable=False),
        sa.Column("amount", ExactDecimal(15, 2), nullable=False),
        sa.Column("currency", string(3), nullable=False),
        sa.Column("paid_on", sa.Date(), nullable=False),
        sa.Column("method", string(20), nullable=False),
        sa.Column("reference", string(100)),
        sa.Column("notes", string(500)),
        sa.Column("status", string(20), nullable=False),
        sa.Column("created_by_id", Identifier),
        sa.Column("reversed_at", UtcDateTime()),
        sa.Column("reversal_reason", string(500)),
        sa.PrimaryKeyConstraint("id", name="pk_payments"),
        sa.ForeignKeyConstraint(
            ["client_id"], ["clients.id"], name="fk_payments_client_id_clients"
        ),
        sa.ForeignKeyConstraint(
            ["created_by_id"], ["users.id"], name="fk_payments_created_by_id_users"
        ),
        sa.ForeignKeyConstraint(
            ["invoice_id"], ["invoices.id"], name="fk_payments_invoice_id_invoices"
        ),
        sa.UniqueConstraint("number", name="uq_payments_number"),
        sa.CheckConstraint(
            "status IN ('Completed', 'Reversed')", name=op.f("ck_payments_status_allowed")
        ),
        sa.CheckConstraint(
            "method IN ('transfer', 'card', 'cash', 'cheque', 'directDebit', 'paypal', "
            "'credit', 'other')",
            name=op.f("ck_payments_method_allowed"),
        ),
        sa.CheckConstraint("amount > 0", name=op.f("ck_payments_amount_positive")),
    )
    op.create_index("ix_payments_client_id", "payments", ["client_id"])
    op.create_index("ix_payments_invoice_id", "payments", ["invoice_id"])
    op.create_index("ix_payments_paid_on", "payments", ["paid_on"])
    op.create_index("ix_payments_status", "payments", ["status"])


def create_issue_records() -> None:
    op.create_table(
        "issue_records",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("invoice_id", Identifier, nullable=False),
        sa.Column("number", string(40), nullable=False),
        sa.Column("total", ExactDecimal(15, 2), nullable=False),
        sa.Column("currency", string(3), nullable=False),
        sa.Column("pdf_sha256", string(64)),
        sa.Column("content_sha256", string(64), nullable=False),
        sa.Column("previous_hash", string(64), nullable=False),
        sa.Column("hash", string(64), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_issue_records"),
        sa.ForeignKeyConstraint(
            ["invoice_id"], ["invoices.id"], name="fk_issue_records_invoice_id_invoices"
        ),
        sa.UniqueConstraint("invoice_id", name="uq_issue_records_invoice_id"),
        sa.UniqueConstraint("hash", name="uq_issue_records_hash"),
    )
