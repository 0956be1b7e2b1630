"""Which of an invoice's links works, so that those that were given out can be withdrawn."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    op.add_column("invoices", sa.Column("link_version", sa.Integer()))


def downgrade() -> None:
    op.drop_column("invoices", "link_version")
