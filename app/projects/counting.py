"""What a project knows of its tasks: open ones, share done, hours spent."""

from __future__ import annotations

from decimal import Decimal

from sqlalchemy import bindparam, case, func, select

from app import records
from app.models.project import Project
from app.models.task import Task
from app.projects.service import PROJECTS
from app.writing.transitions import TASK_OPEN

_TASKS = Task.__table__.c
# Canceled tasks are no part of the work; hours spent on them were spent all the same.
_COUNTS = select(
    func.count(case((_TASKS.status.in_(TASK_OPEN), 1))).label("open"),
    func.count(case((_TASKS.status == "Done", 1))).label("done"),
    func.coalesce(func.sum(_TASKS.actual_hours), 0).label("hours"),
).where(_TASKS.project_id == bindparam("project_id"))


def recount(*project_ids: int | None) -> None:
    """Bring the counters of these projects up to date; in the order of their keys, once each."""
    for project_id in sorted({key for key in project_ids if key is not None}):
        # The lock comes first: two tasks that end at the same time both see each other then.
        if records.read(Project.__table__, project_id, ("id",), lock=True) is not None:
            PROJECTS.roll_up(project_id, _counts(project_id))


def _counts(project_id: int) -> dict[str, Decimal | int]:
    row = records.connection().execute(_COUNTS, {"project_id": project_id}).one()
    whole = row.open + row.done
    return {
        "open_task_count": row.open,
        "progress_percent": 100 * row.done // whole if whole else 0,
        "hours_spent": row.hours,
    }
