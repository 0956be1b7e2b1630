"""Sessions of questions, saved reports, exports."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from app.db.types import Identifier, JsonText, UtcDateTime, string

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    create_question_sessions()
    create_saved_reports()
    create_report_exports()


def downgrade() -> None:
    op.drop_table("report_exports")
    op.drop_table("saved_reports")
    op.drop_table("question_sessions")


def create_question_sessions() -> None:
    op.create_table(
        "question_sessions",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("key", string(40), nullable=False),
        sa.Column("user_id", Identifier, nullable=False),
        sa.Column("questions", JsonText(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name="fk_question_sessions_user_id_users"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_question_sessions"),
        sa.UniqueConstraint("key", name="uq_question_sessions_key"),
    )
    op.create_index("ix_question_sessions_updated_at", "question_sessions", ["updated_at"])
    op.create_index("ix_question_sessions_user_id", "question_sessions", ["user_id"])


def create_saved_reports() -> None:
    op.create_table(
        "saved_reports",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("name", string(200), nullable=False),
        sa.Column("description", string(1000)),
        sa.Column("owner_id", Identifier, nullable=False),
        sa.Column("is_shared", sa.Boolean(), nullable=False),
        sa.Column("question", string(1000)),
        sa.Column("definition", JsonText(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.Column("schedule", JsonText()),
        sa.Column("next_run_at", UtcDateTime()),
        sa.Column("last_run_at", UtcDateTime()),
        sa.Column("leased_until", UtcDateTime()),
        sa.ForeignKeyConstraint(["owner_id"], ["users.id"], name="fk_saved_reports_owner_id_users"),
        sa.PrimaryKeyConstraint("id", name="pk_saved_reports"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_saved_reports_next_run_at", "saved_reports", ["next_run_at"])
    op.create_index("ix_saved_reports_owner_id", "saved_reports", ["owner_id"])


def create_report_exports() -> None:
    op.create_table(
        "report_exports",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("key", string(40), nullable=False),
        sa.Column("user_id", Identifier, nullable=False),
        sa.Column("api_key_id", Identifier),
        sa.Column("report", string(20), nullable=False),
        sa.Column("format", string(10), nullable=False),
        sa.Column("filters", JsonText(), nullable=False),
        sa.Column("status", string(20), nullable=False),
        sa.Column("rows_done", Identifier, nullable=False),
        sa.Column("rows_total", Identifier),
        sa.Column("is_truncated", sa.Boolean(), nullable=False),
        sa.Column("file_name", string(255)),
        sa.Column("blob_key", string(100)),
        sa.Column("size", Identifier),
        sa.Column("error", string(1000)),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("finished_at", UtcDateTime()),
        sa.Column("leased_until", UtcDateTime()),
        sa.CheckConstraint(
            "format IN ('xlsx', 'csv', 'pdf', 'json')",
            name=op.f("ck_report_exports_format_allowed"),
        ),
        sa.CheckConstraint(
            "status IN ('queued', 'running', 'done', 'failed')",
            name=op.f("ck_report_exports_status_allowed"),
        ),
        sa.ForeignKeyConstraint(
            ["api_key_id"], ["api_keys.id"], name="fk_report_exports_api_key_id_api_keys"
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_report_exports_user_id_users"),
        sa.PrimaryKeyConstraint("id", name="pk_report_exports"),
        sa.UniqueConstraint("key", name="uq_report_exports_key"),
    )
    op.create_index("ix_report_exports_api_key_id", "report_exports", ["api_key_id"])
    op.create_index("ix_report_exports_status", "report_exports", ["status"])
    op.create_index("ix_report_exports_user_id", "report_exports", ["user_id"])
