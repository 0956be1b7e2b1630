"""Imports that run in the worker."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from app.db.types import Identifier, JsonText, UtcDateTime, string

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    op.create_table(
        "import_jobs",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("user_id", Identifier, nullable=False),
        sa.Column("type", string(20), nullable=False),
        sa.Column("file_name", string(255)),
        sa.Column("file_key", string(100)),
        sa.Column("options", JsonText(), nullable=False),
        sa.Column("status", string(20), nullable=False),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("outcome", JsonText()),
        sa.Column("message", string(500)),
        sa.Column("finished_at", UtcDateTime()),
        sa.Column("leased_until", UtcDateTime()),
        sa.CheckConstraint(
            "status IN ('Queued', 'Checking', 'Writing', 'Completed', 'Failed')",
            name=op.f("ck_import_jobs_status_allowed"),
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_import_jobs_user_id_users"),
        sa.PrimaryKeyConstraint("id", name="pk_import_jobs"),
    )
    op.create_index("ix_import_jobs_status", "import_jobs", ["status", "id"])
    op.create_index("ix_import_jobs_user_id", "import_jobs", ["user_id"])


def downgrade() -> None:
    op.drop_table("import_jobs")
