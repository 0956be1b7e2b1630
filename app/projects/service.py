"""Projects and their tasks: a project counts its open ones, the share done and the hours spent."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from decimal import Decimal

from sqlalchemy import bindparam, case, func, or_, select

from app.clock import utc_now
from app.crm.clients import usual_currency
from app.db import records
from app.errors import InvalidStateError
from app.events import emit
from app.jobs.schedule import for_each_due
from app.models.project import Project, Task
from app.writing.change import Change, History
from app.writing.pipeline import EntityService
from app.writing.rules import EntityRules
from app.writing.transitions import (
    PROJECT as PROJECT_STATES,
    TASK as TASK_STATES,
    TASK_CLOSED,
    TASK_OPEN,
)

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
                f"Tasks of the project are still open ({open_tasks}): finish or cancel them first.",
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


TASK = EntityRules(
    model=Task,
    polymorphic=("related_type", "related_id"),
    assignment="assignee_id",
)


class TaskService(EntityService[Task]):
    """Writes of tasks."""

    rules = TASK
    machine = TASK_STATES

    def defaults(self, change: Change[Task]) -> None:
        """Whoever makes a task does it."""
        change.default("assignee_id", change.user_id)

    def check(self, change: Change[Task]) -> None:
        """No task is a part of itself, and none is due before it starts."""
        change.refuse_ring("parent_task_id", "must not be the task itself or a part of it")
        start, due = change.get("start_at"), change.get("due_at")
        is_reversed = start is not None and due is not None and due < start
        if is_reversed and change.concerns("start_at", "due_at"):
            change.refuse("due_at", "must not be before startAt")

    def currency_of(self, change: Change[Task]) -> str:
        """The price of an hour is in the currency of the project."""
        project = change.related(Project, change.get("project_id"))
        return str(project.currency) if project else super().currency_of(change)

    def enter(self, change: Change[Task], source: str | None, target: str) -> None:
        """Note the end, and say what happened."""
        change.stamp(completed_at=change.now if target in TASK_CLOSED else None)
        if source is not None:
            change.events.append("task.status_changed")
        if target == "Done":
            change.events.append("task.completed")

    def reconcile(self, history: History) -> None:
        """Count the tasks of every project."""
        tasks = defaultdict(list)
        for task in history.of(Task).values():
            tasks[task.get("project_id")].append(task)
        for key, project in history.of(Project).items():
            project.values.update(count_tasks(tasks[key]))

    def written(self, change: Change[Task]) -> None:
        """Count again in the project, and in the one that the task left."""
        if change.changes("project_id", "status", "actual_hours"):
            recount(change.was("project_id"), change.get("project_id"))

    def deleted(self, change: Change[Task]) -> None:
        """One less in the project."""
        recount(change.was("project_id"))


TASKS = TaskService()


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
