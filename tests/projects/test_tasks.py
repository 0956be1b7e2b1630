"""Tasks: who does them, what they are a part of, and what they count for."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any

import pytest
from flask import Flask

from app.db.engines import transaction
from app.errors import ValidationError
from app.http.security import Caller, acting_as, system_caller
from app.writing.services import SERVICES
from tests.business import bind_services
from tests.factories import event_names, make_project, make_task, stored, update


def counts(project: int) -> tuple[int, int, Decimal]:
    row = stored("Project", project)
    return row["open_task_count"], row["progress_percent"], row["hours_spent"]


def test_whoever_makes_a_task_does_it(admin: Caller) -> None:
    assert stored("Task", make_task())["assignee_id"] == admin.user_id
    assert stored("Task", make_task(assignee_id=None))["assignee_id"] is None


def test_the_end_is_noted_and_forgotten(admin: Caller) -> None:
    key = make_task()
    update("Task", key, status="Done")
    assert stored("Task", key)["completed_at"] is not None
    assert event_names("Task", key)[1:] == [
        "task.status_changed", "task.completed", "task.updated",
    ]  # fmt: skip
    update("Task", key, status="Todo")
    assert stored("Task", key)["completed_at"] is None
    assert stored("Task", make_task(status="Done"))["completed_at"] is not None


def test_a_task_is_no_part_of_itself(admin: Caller) -> None:
    top = make_task()
    middle = make_task(parent_task_id=top)
    bottom = make_task(parent_task_id=middle)
    for parent in (top, middle, bottom):
        with pytest.raises(ValidationError) as refused:
            update("Task", top, parent_task_id=parent)
        assert refused.value.details[0].field == "parentTaskId"
    update("Task", bottom, parent_task_id=top)


def test_a_chain_of_parts_ends_somewhere(admin: Caller) -> None:
    key = make_task()
    with pytest.raises(ValidationError):
        for _ in range(60):
            key = make_task(parent_task_id=key)


def test_a_task_is_not_due_before_it_starts(admin: Caller) -> None:
    with pytest.raises(ValidationError) as refused:
        make_task(start_at="2026-02-01T00:00:00Z", due_at="2026-01-01T00:00:00Z")
    assert refused.value.details[0].field == "dueAt"


def test_a_project_counts_its_tasks(admin: Caller) -> None:
    project, other = make_project(), make_project()
    tasks = [make_task(project_id=project, actual_hours=Decimal("1.25")) for _ in range(4)]
    assert counts(project) == (4, 0, 5)
    update("Task", tasks[0], status="Done")
    update("Task", tasks[1], status="Canceled")
    assert counts(project) == (2, 33, 5)
    update("Task", tasks[2], project_id=other)
    assert (counts(project), counts(other)) == ((1, 50, Decimal("3.75")), (1, 0, Decimal("1.25")))
    SERVICES["Task"].delete(tasks[3])
    assert counts(project) == (0, 100, Decimal("2.50"))


def test_counting_is_no_event_but_a_new_version(admin: Caller) -> None:
    project = make_project()
    make_task(project_id=project)
    assert event_names("Project", project) == ["project.created"]
    assert stored("Project", project)["version"] == 2


@pytest.mark.parametrize("values", [{"estimated_hours": -1}, {"hourly_rate": Decimal("-0.01")}])
def test_hours_and_rates_are_not_negative(admin: Caller, values: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        make_task(**values)


def test_tasks_that_end_at_the_same_time_are_all_counted(app: Flask) -> None:
    bind_services(app)
    begin = threading.Barrier(4)
    with app.app_context(), acting_as(system_caller()), transaction():
        project = make_project()
        tasks = [make_task(project_id=project) for _ in range(12)]

    def finish(worker: int) -> None:
        begin.wait()
        for key in tasks[worker::4]:
            with app.app_context(), acting_as(system_caller()), transaction():
                update("Task", key, status="Done")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(finish, range(4)))
    with app.app_context(), transaction():
        assert counts(project) == (0, 100, 0)
