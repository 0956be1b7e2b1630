"""Projects: codes, dates, and their end."""

from __future__ import annotations

import pytest

from app.errors import ForbiddenError, InvalidStateError, ValidationError
from app.http.security import Caller, acting_as, make_caller
from app.permissions import ROLES
from tests.factories import (
    event_names,
    make_client,
    make_project,
    make_task,
    make_user,
    put,
    stored,
    update,
)


def test_defaults(admin: Caller) -> None:
    row = stored("Project", make_project(client_id=make_client(currency="USD")))
    assert (row["code"], row["currency"], row["manager_id"], row["status"]) == (
        "P-000001", "USD", admin.user_id, "Planned",
    )  # fmt: skip


def test_a_project_does_not_end_before_it_starts(admin: Caller) -> None:
    key = make_project(start_date="2026-02-01")
    with pytest.raises(ValidationError) as refused:
        update("Project", key, end_date="2026-01-31")
    assert refused.value.details[0].field == "endDate"
    update("Project", key, end_date="2026-02-01")


def test_nothing_is_left_to_do_at_the_end(admin: Caller) -> None:
    key = make_project(status="Active")
    task = make_task(project_id=key)
    with pytest.raises(InvalidStateError, match=r"still open \(1\)") as refused:
        update("Project", key, status="Completed")
    assert refused.value.details[0].field == "openTaskCount"
    update("Task", task, status="Canceled")
    update("Project", key, status="Completed")
    assert stored("Project", key)["completed_at"] is not None
    assert event_names("Project", key)[1:] == [
        "project.status_changed", "project.completed", "project.updated",
    ]  # fmt: skip
    update("Project", key, status="Active")
    assert stored("Project", key)["completed_at"] is None


def test_only_managers_reopen(admin: Caller) -> None:
    """Whoever may change own projects only is no manager (contract section 10)."""
    person = make_user("Sales")
    own = make_caller(person.user_id, "own", "jwt", {**ROLES["Sales"], "projects:update": "own"})
    key = make_project(manager_id=person.user_id)
    put("Project", key, status="Completed")
    with acting_as(own):
        update("Project", key, description="Done well")
        with pytest.raises(ForbiddenError):
            update("Project", key, status="Active")
