"""For which due date an invoice or a task was said to be overdue, so that it is said once."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from app.db.types import UtcDateTime

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    op.add_column("invoices", sa.Column("overdue_told_for", sa.Date()))
    op.add_column("tasks", sa.Column("overdue_told_for", UtcDateTime()))


def downgrade() -> None:
    op.drop_column("tasks", "overdue_told_for")
    op.drop_column("invoices", "overdue_told_for")
