"""What callers use of the model provider, and what became of asking it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from app.db.types import Identifier, JsonText, UtcDateTime, string

revision = "0023"
down_revision = "0022"


def upgrade() -> None:
    op.add_column("ai_messages", sa.Column("provider", JsonText()))
    op.create_table(
        "ai_usage",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("principal", string(60), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("input_tokens", Identifier, nullable=False),
        sa.Column("output_tokens", Identifier, nullable=False),
        sa.Column("exchanges", Identifier, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_ai_usage"),
        sa.UniqueConstraint("principal", "day", name="uq_ai_usage_principal_day"),
    )


def downgrade() -> None:
    op.drop_table("ai_usage")
    op.drop_column("ai_messages", "provider")
