"""Tasks."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from app.db.types import ExactDecimal, Identifier, JsonText, UtcDateTime, string
from app.models.indexes import nulls_first

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    create_tasks()


def downgrade() -> None:
    op.drop_table("tasks")


def create_tasks() -> None:
    op.create_table(
        "tasks",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("version", Identifier, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.Column("external_id", string(100)),
        sa.Column("created_by_id", Identifier),
        sa.Column("updated_by_id", Identifier),
        sa.Column("owner_id", Identifier),
        sa.Column("title", string(255), nullable=False),
        sa.Column("status", string(20), nullable=False),
        sa.Column("priority", sa.SmallInteger(), nullable=False),
        sa.Column("assignee_id", Identifier),
        sa.Column("due_at", UtcDateTime()),
        sa.Column("start_at", UtcDateTime()),
        sa.Column("reminder_at", UtcDateTime()),
        sa.Column("project_id", Identifier),
        sa.Column("parent_task_id", Identifier),
        sa.Column("related_type", string(20)),
        sa.Column("related_id", Identifier),
        sa.Column("estimated_hours", ExactDecimal(8, 2)),
        sa.Column("actual_hours", ExactDecimal(8, 2)),
        sa.Column("billable", sa.Boolean(), nullable=False),
        sa.Column("hourly_rate", ExactDecimal(15, 2)),
        sa.Column("position", sa.Integer()),
        sa.Column("completed_at", UtcDateTime()),
        sa.Column("invoice_id", Identifier),
        sa.Column("description", string(10000)),
        sa.Column("tags", JsonText(), nullable=False),
        sa.Column("custom_fields", JsonText(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_tasks"),
        sa.ForeignKeyConstraint(["assignee_id"], ["users.id"], name="fk_tasks_assignee_id_users"),
        sa.ForeignKeyConstraint(
            ["created_by_id"], ["users.id"], name="fk_tasks_created_by_id_users"
        ),
        sa.ForeignKeyConstraint(
            ["invoice_id"], ["invoices.id"], name="fk_tasks_invoice_id_invoices"
        ),
        sa.ForeignKeyConstraint(["owner_id"], ["users.id"], name="fk_tasks_owner_id_users"),
        sa.ForeignKeyConstraint(
            ["parent_task_id"], ["tasks.id"], name="fk_tasks_parent_task_id_tasks"
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name="fk_tasks_project_id_projects"
        ),
        sa.ForeignKeyConstraint(
            ["updated_by_id"], ["users.id"], name="fk_tasks_updated_by_id_users"
        ),
        sa.UniqueConstraint("external_id", name="uq_tasks_external_id"),
        sa.CheckConstraint(
            "related_type IN ('Client', 'Contact', 'Lead', 'Opportunity', 'Ticket', "
            "'Invoice', 'KbArticle', 'Document', 'Task', 'Project')",
            name=op.f("ck_tasks_related_type_allowed"),
        ),
        sa.CheckConstraint(
            "(related_type IS NULL) = (related_id IS NULL)", name=op.f("ck_tasks_related_whole")
        ),
        sa.CheckConstraint(
            "status IN ('Todo', 'InProgress', 'Blocked', 'Done', 'Canceled')",
            name=op.f("ck_tasks_status_allowed"),
        ),
        sa.CheckConstraint("estimated_hours >= 0", name=op.f("ck_tasks_estimated_hours_range")),
        sa.CheckConstraint("actual_hours >= 0", name=op.f("ck_tasks_actual_hours_range")),
        sa.CheckConstraint("hourly_rate >= 0", name=op.f("ck_tasks_hourly_rate_range")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_tasks_assignee_id", "tasks", ["assignee_id"])
    op.create_index("ix_tasks_created_at", "tasks", ["created_at"])
    op.create_index("ix_tasks_created_by_id", "tasks", ["created_by_id"])
    op.create_index("ix_tasks_due_at", "tasks", [nulls_first("due_at")])
    op.create_index("ix_tasks_invoice_id", "tasks", ["invoice_id"])
    op.create_index("ix_tasks_owner_id", "tasks", ["owner_id"])
    op.create_index("ix_tasks_parent_task_id", "tasks", ["parent_task_id"])
    op.create_index("ix_tasks_project_id", "tasks", ["project_id"])
    op.create_index("ix_tasks_related_type_related_id", "tasks", ["related_type", "related_id"])
    op.create_index("ix_tasks_reminder_at", "tasks", [nulls_first("reminder_at")])
    op.create_index("ix_tasks_status_due_at", "tasks", ["status", nulls_first("due_at")])
    op.create_index("ix_tasks_updated_at", "tasks", ["updated_at"])
