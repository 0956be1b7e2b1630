"""Projects: work for a client with a budget."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

from sqlalchemy import CheckConstraint, Index
from sqlalchemy.orm import Mapped

from app.db.types import ExactDecimal, string
from app.models.columns import Entity, Money, column, entity_args, foreign_key
from app.models.indexes import nulls_first

PROJECT_STATUSES = ("Planned", "Active", "OnHold", "Completed", "Canceled")
BILLING_TYPES = ("Fixed", "TimeAndMaterial", "NonBillable")


class Project(Entity):
    """A project. The counts of its tasks are kept here when a task changes."""

    __tablename__ = "projects"

    code: Mapped[str | None] = column(
        'Running number, "P-000001".', string(40), unique=True, searchable=True, computed=True
    )
    name: Mapped[str] = column("Name.", string(200), searchable=True)
    client_id: Mapped[int | None] = foreign_key("clients", "Client.")
    opportunity_id: Mapped[int | None] = foreign_key("opportunities", "Opportunity it came from.")
    status: Mapped[str] = column(
        "State of the project.", default="Planned", allowed=PROJECT_STATUSES
    )
    description: Mapped[str | None] = column("Description.", string(10000))
    start_date: Mapped[date | None] = column("First day.")
    end_date: Mapped[date | None] = column("Last day.")
    manager_id: Mapped[int | None] = foreign_key("users", "Who leads it; the caller by default.")
    budget_amount: Mapped[Decimal | None] = column("Budget.", Money, minimum=0)
    budget_hours: Mapped[Decimal | None] = column("Budget hours.", ExactDecimal(10, 2), minimum=0)
    currency: Mapped[str] = column(
        "Currency of the budget.", string(3), default="EUR", format="currency"
    )
    billing_type: Mapped[str] = column(
        "How it is billed.", default="TimeAndMaterial", allowed=BILLING_TYPES
    )
    hourly_rate: Mapped[Decimal | None] = column("Price of an hour.", Money, minimum=0)
    progress_percent: Mapped[int] = column(
        "Share of tasks that are done, percent.", default=0, computed=True
    )
    hours_spent: Mapped[Decimal] = column(
        "Hours spent on its tasks.", ExactDecimal(10, 2), default=Decimal(0), computed=True
    )
    open_task_count: Mapped[int] = column("Open tasks.", default=0, computed=True)
    completed_at: Mapped[datetime | None] = column("When it was completed.", computed=True)

    __table_args__ = entity_args(
        CheckConstraint(
            "end_date IS NULL OR start_date IS NULL OR end_date >= start_date",
            name="end_after_start",
        ),
        Index("ix_projects_status_end_date", "status", nulls_first("end_date")),
        Index("ix_projects_name", "name"),
        Index("ix_projects_end_date", nulls_first("end_date")),
    )
