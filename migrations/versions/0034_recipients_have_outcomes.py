"""What mail servers said of each recipient of a mail (docs/adr/0011)."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from app.db.types import JsonText

revision = "0034"
down_revision = "0033"


def upgrade() -> None:
    op.add_column("outgoing_mail", sa.Column("outcomes", JsonText()))


def downgrade() -> None:
    op.drop_column("outgoing_mail", "outcomes")
