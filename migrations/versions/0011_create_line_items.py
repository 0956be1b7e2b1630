"""Line items of invoices."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from app.db.types import ExactDecimal, Identifier, UtcDateTime, string

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    create_line_items()


def downgrade() -> None:
    op.drop_table("line_items")


def create_line_items() -> None:
    # SQLite keeps hundredths of a percent, as a whole number.
    one_hundred = 100_00 if op.get_context().dialect.name == "sqlite" else 100
    op.create_table(
        "line_items",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("invoice_id", Identifier, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("quantity", ExactDecimal(12, 4), nullable=False),
        sa.Column("unit_price", ExactDecimal(15, 4), nullable=False),
        sa.Column("unit_code", string(3), nullable=False),
        sa.Column("discount_percent", ExactDecimal(5, 2), nullable=False),
        sa.Column("tax_rate", ExactDecimal(5, 2), nullable=False),
        sa.Column("tax_category", string(2), nullable=False),
        sa.Column("tax_exemption_reason", string(255)),
        sa.Column("product_code", string(64)),
        sa.Column("period_start", sa.Date()),
        sa.Column("period_end", sa.Date()),
        sa.Column("task_id", Identifier),
        sa.Column("line_subtotal", ExactDecimal(15, 2), nullable=False),
        sa.Column("discount_amount", ExactDecimal(15, 2), nullable=False),
        sa.Column("line_net", ExactDecimal(15, 2), nullable=False),
        sa.Column("tax_amount", ExactDecimal(15, 2), nullable=False),
        sa.Column("line_total", ExactDecimal(15, 2), nullable=False),
        sa.Column("description", string(1000), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_line_items"),
        sa.ForeignKeyConstraint(
            ["invoice_id"],
            ["invoices.id"],
            name="fk_line_items_invoice_id_invoices",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name="fk_line_items_task_id_tasks"),
        sa.CheckConstraint(
            f"tax_rate >= 0 AND tax_rate <= {one_hundred}",
            name=op.f("ck_line_items_tax_rate_range"),
        ),
        sa.CheckConstraint("quantity > 0", name=op.f("ck_line_items_quantity_positive")),
        sa.CheckConstraint("quantity >= 0", name=op.f("ck_line_items_quantity_range")),
        sa.CheckConstraint(
            "period_start IS NULL OR period_end IS NULL OR period_end >= period_start",
            name=op.f("ck_line_items_period_in_order"),
        ),
        sa.CheckConstraint(
            f"discount_percent >= 0 AND discount_percent <= {one_hundred}",
            name=op.f("ck_line_items_discount_percent_range"),
        ),
        sa.CheckConstraint(
            "tax_category IN ('S', 'Z', 'E', 'AE', 'K', 'G', 'O')",
            name=op.f("ck_line_items_tax_category_allowed"),
        ),
        sa.CheckConstraint("unit_price >= 0", name=op.f("ck_line_items_unit_price_range")),
    )
    op.create_index("ix_line_items_invoice_id", "line_items", ["invoice_id"])
    op.create_index("ix_line_items_invoice_id_position", "line_items", ["invoice_id", "position"])
    op.create_index("ix_line_items_task_id", "line_items", ["task_id"])
