"""Projects."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from app.db.types import ExactDecimal, Identifier, JsonText, UtcDateTime, string
from app.models.indexes import nulls_first

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    create_projects()


def downgrade() -> None:
    op.drop_table("projects")


def create_projects() -> None:
    op.create_table(
        "projects",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("version", Identifier, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.Column("external_id", string(100)),
        sa.Column("created_by_id", Identifier),
        sa.Column("updated_by_id", Identifier),
        sa.Column("owner_id", Identifier),
        sa.Column("code", string(40)),
        sa.Column("name", string(200), nullable=False),
        sa.Column("client_id", Identifier),
        sa.Column("opportunity_id", Identifier),
        sa.Column("status", string(20), nullable=False),
        sa.Column("start_date", sa.Date()),
        sa.Column("end_date", sa.Date()),
        sa.Column("manager_id", Identifier),
        sa.Column("budget_amount", ExactDecimal(15, 2)),
        sa.Column("budget_hours", ExactDecimal(10, 2)),
        sa.Column("currency", string(3), nullable=False),
        sa.Column("billing_type", string(20), nullable=False),
        sa.Column("hourly_rate", ExactDecimal(15, 2)),
        sa.Column("progress_percent", sa.Integer(), nullable=False),
        sa.Column("hours_spent", ExactDecimal(10, 2), nullable=False),
        sa.Column("open_task_count", sa.Integer(), nullable=False),
        sa.Column("completed_at", UtcDateTime()),
        sa.Column("description", string(10000)),
        sa.Column("tags", JsonText(), nullable=False),
        sa.Column("custom_fields", JsonText(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_projects"),
        sa.ForeignKeyConstraint(
            ["client_id"], ["clients.id"], name="fk_projects_client_id_clients"
        ),
        sa.ForeignKeyConstraint(
            ["created_by_id"], ["users.id"], name="fk_projects_created_by_id_users"
        ),
        sa.ForeignKeyConstraint(["manager_id"], ["users.id"], name="fk_projects_manager_id_users"),
        sa.ForeignKeyConstraint(
            ["opportunity_id"],
            ["opportunities.id"],
            name="fk_projects_opportunity_id_opportunities",
        ),
        sa.ForeignKeyConstraint(["owner_id"], ["users.id"], name="fk_projects_owner_id_users"),
        sa.ForeignKeyConstraint(
            ["updated_by_id"], ["users.id"], name="fk_projects_updated_by_id_users"
        ),
        sa.UniqueConstraint("code", name="uq_projects_code"),
        sa.UniqueConstraint("external_id", name="uq_projects_external_id"),
        sa.CheckConstraint("budget_hours >= 0", name=op.f("ck_projects_budget_hours_range")),
        sa.CheckConstraint("budget_amount >= 0", name=op.f("ck_projects_budget_amount_range")),
        sa.CheckConstraint("hourly_rate >= 0", name=op.f("ck_projects_hourly_rate_range")),
        sa.CheckConstraint(
            "end_date IS NULL OR start_date IS NULL OR end_date >= start_date",
            name=op.f("ck_projects_end_after_start"),
        ),
        sa.CheckConstraint(
            "status IN ('Planned', 'Active', 'OnHold', 'Completed', 'Canceled')",
            name=op.f("ck_projects_status_allowed"),
        ),
        sa.CheckConstraint(
            "billing_type IN ('Fixed', 'TimeAndMaterial', 'NonBillable')",
            name=op.f("ck_projects_billing_type_allowed"),
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_projects_client_id", "projects", ["client_id"])
    op.create_index("ix_projects_created_at", "projects", ["created_at"])
    op.create_index("ix_projects_created_by_id", "projects", ["created_by_id"])
    op.create_index("ix_projects_end_date", "projects", [nulls_first("end_date")])
    op.create_index("ix_projects_manager_id", "projects", ["manager_id"])
    op.create_index("ix_projects_name", "projects", ["name"])
    op.create_index("ix_projects_opportunity_id", "projects", ["opportunity_id"])
    op.create_index("ix_projects_owner_id", "projects", ["owner_id"])
    op.create_index("ix_projects_status_end_date", "projects", ["status", nulls_first("end_date")])
    op.create_index("ix_projects_updated_at", "projects", ["updated_at"])
