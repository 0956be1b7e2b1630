"""Projects, work for a client with a budget, and tasks, things to do."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

from sqlalchemy import CheckConstraint, Index
from sqlalchemy.orm import Mapped

from app.db.types import ExactDecimal, Identifier, string
from app.models.columns import Entity, Money, column, entity_args, foreign_key
from app.models.document import ENTITY_TYPES
from app.models.indexes import nulls_first
from app.models.ticket import Priority

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


TASK_STATUSES = ("Todo", "InProgress", "Blocked", "Done", "Canceled")


class Task(Entity):
    """Something to do. Hours have two decimals; ``hourly_rate`` is in the project's currency."""

    __tablename__ = "tasks"

    title: Mapped[str] = column("What to do.", string(255), searchable=True)
    description: Mapped[str | None] = column("Description.", string(10000))
    status: Mapped[str] = column("State of the task.", default="Todo", allowed=TASK_STATUSES)
    priority: Mapped[str] = column("Urgency.", Priority, default="Normal")
    assignee_id: Mapped[int | None] = foreign_key("users", "Who does it; the caller by default.")
    due_at: Mapped[datetime | None] = column("When it is due.")
    start_at: Mapped[datetime | None] = column("When it starts.")
    reminder_at: Mapped[datetime | None] = column("When to remind.")
    project_id: Mapped[int | None] = foreign_key("projects", "Project.")
    parent_task_id: Mapped[int | None] = foreign_key("tasks", "Task it is a part of.", sparse=True)
    related_type: Mapped[str | None] = column(
        "Type of the record it is about.", allowed=ENTITY_TYPES
    )
    related_id: Mapped[int | None] = column("Record it is about.", Identifier)
    estimated_hours: Mapped[Decimal | None] = column(
        "Estimated hours.", ExactDecimal(8, 2), minimum=0
    )
    actual_hours: Mapped[Decimal | None] = column("Hours spent.", ExactDecimal(8, 2), minimum=0)
    billable: Mapped[bool] = column("Is charged to the client.", default=False)
    hourly_rate: Mapped[Decimal | None] = column("Price of an hour.", Money, minimum=0)
    position: Mapped[int | None] = column("Place in a list.")
    completed_at: Mapped[datetime | None] = column("When it was done.", computed=True)
    invoice_id: Mapped[int | None] = foreign_key(
        "invoices", "Invoice that bills it.", sparse=True, computed=True
    )
    overdue_told_for: Mapped[datetime | None] = column("Due time that was told.", computed=True)

    __table_args__ = entity_args(
        CheckConstraint("(related_type IS NULL) = (related_id IS NULL)", name="related_whole"),
        Index("ix_tasks_related_type_related_id", "related_type", "related_id"),
        Index("ix_tasks_status_due_at", "status", nulls_first("due_at")),
        Index("ix_tasks_due_at", nulls_first("due_at")),
        Index("ix_tasks_reminder_at", nulls_first("reminder_at")),
    )
