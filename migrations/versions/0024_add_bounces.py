"""Which recipients a mail did not reach after a server had taken it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from app.db.types import JsonText

revision = "0024"
down_revision = "0023"


def upgrade() -> None:
    op.add_column("outgoing_mail", sa.Column("bounces", JsonText()))


def downgrade() -> None:
    op.drop_column("outgoing_mail", "bounces")
