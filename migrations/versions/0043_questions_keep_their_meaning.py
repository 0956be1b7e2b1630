"""Sessions of questions and conversations keep what was meant."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from app.db.types import JsonText

revision = "0043"
down_revision = "0042"
TABLES = ("question_sessions", "ai_messages")


def upgrade() -> None:
    for table in TABLES:
        op.add_column(table, sa.Column("standing", JsonText()))


def downgrade() -> None:
    for table in TABLES:
        op.drop_column(table, "standing")
