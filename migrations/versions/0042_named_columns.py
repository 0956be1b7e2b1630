"""What people said of the columns of files that they import."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from app.db.types import Identifier, JsonText, UtcDateTime, string

revision = "0042"
down_revision = "0041"


def upgrade() -> None:
    op.create_table(
        "named_columns",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("type", string(20), nullable=False),
        sa.Column("headings", string(64), nullable=False),
        sa.Column("mapping", JsonText(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_named_columns"),
    )
    op.create_index(
        "ix_named_columns_type_headings", "named_columns", ["type", "headings"], unique=True
    )


def downgrade() -> None:
    op.drop_table("named_columns")
