"""Projects: work for a client, with a budget and tasks."""

from __future__ import annotations

from app.crm.clients import usual_currency
from app.errors import InvalidStateError
from app.models.project import Project
from app.writing.change import Change
from app.writing.pipeline import EntityService
from app.writing.rules import EntityRules
from app.writing.transitions import PROJECT as PROJECT_STATES

PROJECT = EntityRules(
    name="Project",
    title="project",
    model=Project,
    resource="projects",
    event="project",
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
