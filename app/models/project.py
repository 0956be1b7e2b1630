"""Projects: work for a client with a budget."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

from sqlalchemy import CheckConstraint, Date, Index, Integer
from sqlalchemy.orm import Mapped

from app.db.types import ExactDecimal, UtcDateTime, string
from app.models.columns import Entity, Money, column, entity_args, foreign_key
from app.models.indexes import nulls_first

PROJECT_STATUSES = ("Planned", "Active", "OnHold", "Completed", "Canceled")
BILLING_TYPES = ("Fixed", "TimeAndMaterial", "NonBillable")


class Project(Entity):
    """A project. The counts of its tasks are kept here when a task changes."""

    __tablename__ = "projects"

    code: Mapped[str | None] = column(
        string(40), 'Running number, "P-000001".', unique=True, searchable=True, computed=True
    )
    name: Mapped[str] = column(string(200), "Name.", searchable=True)
    client_id: Mapped[int | None] = foreign_key("clients", "Client.")
    opportunity_id: Mapped[int | None] = foreign_key("opportunities", "Opportunity it came from.")
    status: Mapped[str] = column(
        string(20), "State of the project.", default="Planned", allowed=PROJECT_STATUSES
    )
    description: Mapped[str | None] = column(string(10000), "Description.")
    start_date: Mapped[date | None] = column(Date, "First day.")
    end_date: Mapped[date | None] = column(Date, "Last day.")
    manager_id: Mapped[int | None] = foreign_key("users", "Who leads it; the caller by default.")
    budget_amount: Mapped[Decimal | None] = column(Money, "Budget.", minimum=0)
    budget_hours: Mapped[Decimal | None] = column(ExactDecimal(10, 2), "Budget hours.", minimum=0)
    currency: Mapped[str] = column(
        string(3), "Currency of the budget.", default="EUR", format="currency"
    )
    billing_type: Mapped[str] = column(
        string(20), "How it is billed.", default="TimeAndMaterial", allowed=BILLING_TYPES
    )
    hourly_rate: Mapped[Decimal | None] = column(Money, "Price of an hour.", minimum=0)
    progress_percent: Mapped[int] = column(
        Integer, "Share of tasks that are done, percent.", default=0, computed=True
    )
    hours_spent: Mapped[Decimal] = column(
        ExactDecimal(10, 2), "Hours spent on its tasks.", default=Decimal(0), computed=True
    )
    open_task_count: Mapped[int] = column(Integer, "Open tasks.", default=0, computed=True)
    completed_at: Mapped[datetime | None] = column(
        UtcDateTime(), "When it was completed.", computed=True
    )

    __table_args__ = entity_args(
        CheckConstraint(
            "end_date IS NULL OR start_date IS NULL OR end_date >= start_date",
            name="end_after_start",
        ),
        Index("ix_projects_status_end_date", "status", nulls_first("end_date")),
        Index("ix_projects_name", "name"),
        Index("ix_projects_end_date", nulls_first("end_date")),
    )
