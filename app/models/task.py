"""Tasks: things to do, alone, under another task or in a project."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

from sqlalchemy import Boolean, CheckConstraint, Index, Integer
from sqlalchemy.orm import Mapped

from app.db.types import ExactDecimal, Identifier, UtcDateTime, string
from app.models.columns import Entity, Money, column, entity_args, foreign_key
from app.models.document import ENTITY_TYPES
from app.models.indexes import nulls_first
from app.models.ticket import Priority

TASK_STATUSES = ("Todo", "InProgress", "Blocked", "Done", "Canceled")


class Task(Entity):
    """Something to do. Hours have two decimals; ``hourly_rate`` is in the project's currency."""

    __tablename__ = "tasks"

    title: Mapped[str] = column(string(255), "What to do.", searchable=True)
    description: Mapped[str | None] = column(string(10000), "Description.")
    status: Mapped[str] = column(
        string(20), "State of the task.", default="Todo", allowed=TASK_STATUSES
    )
    priority: Mapped[str] = column(Priority, "Urgency.", default="Normal")
    assignee_id: Mapped[int | None] = foreign_key("users", "Who does it; the caller by default.")
    due_at: Mapped[datetime | None] = column(UtcDateTime(), "When it is due.")
    start_at: Mapped[datetime | None] = column(UtcDateTime(), "When it starts.")
    reminder_at: Mapped[datetime | None] = column(UtcDateTime(), "When to remind.")
    project_id: Mapped[int | None] = foreign_key("projects", "Project.")
    parent_task_id: Mapped[int | None] = foreign_key("tasks", "Task it is a part of.", sparse=True)
    related_type: Mapped[str | None] = column(
        string(20), "Type of the record it is about.", allowed=ENTITY_TYPES
    )
    related_id: Mapped[int | None] = column(Identifier, "Record it is about.")
    estimated_hours: Mapped[Decimal | None] = column(
        ExactDecimal(8, 2), "Estimated hours.", minimum=0
    )
    actual_hours: Mapped[Decimal | None] = column(ExactDecimal(8, 2), "Hours spent.", minimum=0)
    billable: Mapped[bool] = column(Boolean, "Is charged to the client.", default=False)
    hourly_rate: Mapped[Decimal | None] = column(Money, "Price of an hour.", minimum=0)
    position: Mapped[int | None] = column(Integer, "Place in a list.")
    completed_at: Mapped[datetime | None] = column(
        UtcDateTime(), "When it was done.", computed=True
    )
    invoice_id: Mapped[int | None] = foreign_key(
        "invoices", "Invoice that bills it.", sparse=True, computed=True
    )
    overdue_told_for: Mapped[datetime | None] = column(
        UtcDateTime(), "Due time that was told.", computed=True
    )

    __table_args__ = entity_args(
        CheckConstraint("(related_type IS NULL) = (related_id IS NULL)", name="related_whole"),
        Index("ix_tasks_related_type_related_id", "related_type", "related_id"),
        Index("ix_tasks_status_due_at", "status", nulls_first("due_at")),
        Index("ix_tasks_due_at", nulls_first("due_at")),
        Index("ix_tasks_reminder_at", nulls_first("reminder_at")),
    )
