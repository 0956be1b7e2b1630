"""Tasks: things to do; each change counts in its project."""

from __future__ import annotations

from collections import defaultdict

from app.models.project import Project
from app.models.task import Task
from app.projects.service import count_tasks, recount
from app.writing.change import Change, History
from app.writing.cycles import refuse_ring
from app.writing.pipeline import EntityService
from app.writing.rules import EntityRules
from app.writing.transitions import TASK as TASK_STATES, TASK_CLOSED

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
        refuse_ring(change, "parent_task_id", "must not be the task itself or a part of it")
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
