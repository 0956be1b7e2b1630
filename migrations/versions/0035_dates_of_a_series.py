"""The last date of a series of documents is found by an index (docs/adr/0030)."""

from __future__ import annotations

from alembic import op

revision = "0035"
down_revision = "0034"


def upgrade() -> None:
    op.create_index("ix_invoices_series_issue_date", "invoices", ["series", "issue_date"])


def downgrade() -> None:
    op.drop_index("ix_invoices_series_issue_date", "invoices")
