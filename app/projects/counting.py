"""What a project knows of its tasks: open ones, share done, hours spent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal

from sqlalchemy import bindparam, case, func, select

from app.db import records
from app.models.project import Project
from app.models.task import Task
from app.projects.service import PROJECTS
from app.writing.change import Change
from app.writing.transitions import TASK_OPEN

# Canceled tasks are no part of the work; hours spent on them were spent all the same.
_COUNTS = select(
    func.count(case((Task.status.in_(TASK_OPEN), 1))).label("open"),
    func.count(case((Task.status == "Done", 1))).label("done"),
    func.coalesce(func.sum(Task.actual_hours), 0).label("hours"),
).where(Task.project_id == bindparam("project_id"))


def recount(*project_ids: int | None) -> None:
    """Bring the counters of these projects up to date; in the order of their keys, once each."""
    for project_id in sorted({key for key in project_ids if key is not None}):
        # The lock comes first: two tasks that end at the same time both see each other then.
        project = records.read(Project, project_id, lock=True)
        if project is not None:
            PROJECTS.roll_up(project, _counts(project_id))


def count_tasks(tasks: Sequence[Change[Task]]) -> dict[str, Decimal | int]:
    """What these tasks mean for their project."""
    states = Counter(task.get("status") for task in tasks)
    hours = sum((task.get("actual_hours") or Decimal(0) for task in tasks), Decimal(0))
    return _counted(sum(states[state] for state in TASK_OPEN), states["Done"], hours)


def _counts(project_id: int) -> dict[str, Decimal | int]:
    row = records.connection().execute(_COUNTS, {"project_id": project_id}).one()
    return _counted(row.open, row.done, row.hours)


def _counted(unfinished: int, done: int, hours: Decimal) -> dict[str, Decimal | int]:
    whole = unfinished + done
    return {
        "open_task_count": unfinished,
        "progress_percent": 100 * done // whole if whole else 0,
        "hours_spent": hours,
    }
