"""A link of the chain says with which date its document was issued, and when (docs/adr/0030)."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0037"
down_revision = "0036"

COLUMNS = {
    "form": sa.Integer(),
    "issue_date": sa.Date(),
    "issued_on": sa.Date(),
    "backdated_from": sa.Date(),
}


def upgrade() -> None:
    for name, kind in COLUMNS.items():
        op.add_column("issue_records", sa.Column(name, kind))


def downgrade() -> None:
    for name in COLUMNS:
        op.drop_column("issue_records", name)
