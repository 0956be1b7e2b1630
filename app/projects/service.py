"""What a project is, and what it knows of its tasks: open ones, share done, hours spent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal

from sqlalchemy import bindparam, case, func, select

from app.crm.clients import usual_currency
from app.db import records
from app.errors import InvalidStateError
from app.models.project import Project
from app.models.task import Task
from app.writing.change import Change
from app.writing.pipeline import EntityService
from app.writing.rules import EntityRules
from app.writing.transitions import PROJECT as PROJECT_STATES, TASK_OPEN

# Canceled tasks are no part of the work; hours spent on them were spent all the same.
_COUNTS = select(
    func.count(case((Task.status.in_(TASK_OPEN), 1))).label("open"),
    func.count(case((Task.status == "Done", 1))).label("done"),
    func.coalesce(func.sum(Task.actual_hours), 0).label("hours"),
).where(Task.project_id == bindparam("project_id"))
PROJECT = EntityRules(
    model=Project,
    assignment="manager_id",
)


class ProjectService(EntityService[Project]):
    """Writes of projects."""

    rules = PROJECT
    numbered = ("code", "P")
    machine = PROJECT_STATES

    def defaults(self, change: Change[Project]) -> None:
        """Led by whoever makes it; the budget is in the client's currency."""
        change.default("manager_id", change.user_id)
        if "currency" not in change.values:
            change.values["currency"] = usual_currency(change)

    def check(self, change: Change[Project]) -> None:
        """A project does not end before it starts."""
        start, end = change.get("start_date"), change.get("end_date")
        is_reversed = start is not None and end is not None and end < start
        if is_reversed and change.concerns("start_date", "end_date"):
            change.refuse("end_date", "must not be before startDate")

    def enter(self, change: Change[Project], source: str | None, target: str) -> None:
        """Note the end; nothing may be left to do at a completion."""
        open_tasks = change.was("open_task_count")
        if target == "Completed" and open_tasks:
            raise InvalidStateError(
                f"The project has {open_tasks} open tasks: finish or cancel them first.",
                [("openTaskCount", f"is {open_tasks}")],
            )
        change.stamp(completed_at=change.now if target == "Completed" else None)
        if source is not None:
            change.events.append("project.status_changed")
        if target == "Completed":
            change.events.append("project.completed")


PROJECTS = ProjectService()


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
