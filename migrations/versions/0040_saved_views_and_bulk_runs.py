"""Views of lists that people save, and actions on many records with their results."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from app.db.types import Identifier, JsonText, UtcDateTime, string

revision = "0040"
down_revision = "0039"


def upgrade() -> None:
    op.create_table(
        "saved_views",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("name", string(100), nullable=False),
        sa.Column("set_name", string(50), nullable=False),
        sa.Column("owner_id", Identifier, nullable=False),
        sa.Column("is_shared", sa.Boolean(), nullable=False),
        sa.Column("query", string(4000), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["owner_id"], ["users.id"], name="fk_saved_views_owner_id_users"),
        sa.PrimaryKeyConstraint("id", name="pk_saved_views"),
    )
    op.create_index("ix_saved_views_set_name", "saved_views", ["set_name"])
    op.create_index("ix_saved_views_owner_id", "saved_views", ["owner_id"])
    op.create_table(
        "bulk_runs",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("user_id", Identifier, nullable=False),
        sa.Column("entity", string(50), nullable=False),
        sa.Column("action", JsonText(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("undo_of_id", Identifier),
        sa.Column("finished_at", UtcDateTime()),
        sa.Column("leased_until", UtcDateTime()),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_bulk_runs_user_id_users"),
        sa.ForeignKeyConstraint(
            ["undo_of_id"],
            ["bulk_runs.id"],
            name="fk_bulk_runs_undo_of_id_bulk_runs",
            ondelete="SET NULL",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_bulk_runs"),
    )
    op.create_index("ix_bulk_runs_finished_at", "bulk_runs", ["finished_at"])
    op.create_index("ix_bulk_runs_user_id", "bulk_runs", ["user_id"])
    op.create_index("ix_bulk_runs_undo_of_id", "bulk_runs", ["undo_of_id"])
    op.create_table(
        "bulk_items",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("run_id", Identifier, nullable=False),
        sa.Column("record_id", Identifier, nullable=False),
        sa.Column("status", string(10), nullable=False),
        sa.Column("error", string(500)),
        sa.Column("before", JsonText()),
        sa.Column("after", JsonText()),
        sa.CheckConstraint(
            "status IN ('waiting', 'done', 'unchanged', 'failed')",
            name=op.f("ck_bulk_items_status_allowed"),
        ),
        sa.ForeignKeyConstraint(
            ["run_id"], ["bulk_runs.id"], name="fk_bulk_items_run_id_bulk_runs",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_bulk_items"),
    )  # fmt: skip
    op.create_index("ix_bulk_items_run_id_status", "bulk_items", ["run_id", "status", "id"])


def downgrade() -> None:
    op.drop_table("bulk_items")
    op.drop_table("bulk_runs")
    op.drop_table("saved_views")
