"""What time does to tasks: one that is past its due time is said to be overdue, once."""

from __future__ import annotations

from sqlalchemy import or_, select

from app.clock import utc_now
from app.db import records
from app.events import emit
from app.jobs.schedule import for_each_due
from app.models.task import Task
from app.projects.tasks import TASKS
from app.writing.transitions import TASK_OPEN


def tell_overdue_tasks() -> int:
    """Emit ``task.overdue`` for each; again only when it got another due time and missed that."""
    overdue = select(Task.id).where(
        Task.status.in_(TASK_OPEN),
        Task.due_at < utc_now(),
        or_(Task.overdue_told_for.is_(None), Task.overdue_told_for != Task.due_at),
    )
    return for_each_due("overdue tasks", overdue, _tell)


def _tell(task_id: int) -> None:
    task = TASKS.stored(task_id)
    records.update(Task, task_id, {"overdue_told_for": task.due_at})
    emit("task.overdue", "Task", task_id, sequence=task.version)
