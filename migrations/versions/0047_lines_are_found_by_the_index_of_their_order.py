"""Lines of an invoice are found by the index of their order, which begins with the invoice."""

from __future__ import annotations

from alembic import op

revision = "0047"
down_revision = "0046"


def upgrade() -> None:
    op.drop_index("ix_line_items_invoice_id", table_name="line_items")


def downgrade() -> None:
    op.create_index("ix_line_items_invoice_id", "line_items", ["invoice_id"])
