"""Tasks: things to do, alone, under another task or in a project."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

from sqlalchemy import CheckConstraint, Index
from sqlalchemy.orm import Mapped

from app.db.types import ExactDecimal, Identifier, string
from app.models.columns import Entity, Money, column, entity_args, foreign_key
from app.models.document import ENTITY_TYPES
from app.models.indexes import nulls_first
from app.models.ticket import Priority

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
