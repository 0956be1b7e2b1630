"""What one question asks for at once: figures beside each other, and conditions that agree."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

import pytest
from flask import Flask

from app.auth.users import create_user
from app.db.engines import transaction
from app.http.security import acting_as, system_caller
from tests.bi.conftest import Ask
from tests.contract.conftest import PASSWORD
from tests.factories import make_client, make_project, make_task


def _address(answer: dict[str, Any]) -> str:
    assert answer["status"] == "answered", answer["answer"]
    text: str = unquote(answer["query"]["odata"])
    return text


def test_a_figure_of_other_records_counts_none(ask: Ask, business: None) -> None:
    assert "$count" not in _address(ask("revenue and tax by country"))


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("paid invoices that are overdue", "paid and overdue"),
        ("tasks that are overdue and not overdue", "overdue and not overdue"),
        ("done tasks that are overdue", "done and overdue"),
        ("completed projects that are overdue", "completed and overdue"),
        ("outstanding amount of paid invoices", "open and paid"),
    ],
)
def test_what_contradicts_itself_is_sent_back(
    ask: Ask, business: None, question: str, words: str
) -> None:
    answer = ask(question)
    assert answer["status"] == "unsupported"
    assert f"how something is {words} at once" in answer["answer"]


def test_two_that_no_record_is_at_once_are_two_questions(ask: Ask, business: None) -> None:
    answer = ask("how many open invoices are overdue and how many not yet due")
    assert answer["status"] == "needsClarification"


@pytest.fixture
def work(app: Flask, ask: Ask) -> Ask:
    """Two projects with a task each, one of them done; one client is blocked."""
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        one, two = make_client(name="One GmbH"), make_client(name="Two GmbH", status="Blocked")
        ready = make_project(client_id=one, name="Ready")
        busy = make_project(client_id=two, name="Busy")
        make_task(project_id=ready, status="Done")
        make_task(project_id=busy)
    return ask


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("projects with no open tasks that are not completed", {"Ready"}),
        ("projects with open tasks that are not completed", {"Busy"}),
    ],
)
def test_a_denial_behind_related_records_is_about_them_unless_that_is_said(
    work: Ask, question: str, names: set[str]
) -> None:
    found = {row["name"] for row in work(question)["rows"]}
    assert found & {"Ready", "Busy"} == names


def test_a_state_that_related_records_cannot_have_is_of_the_records(work: Ask) -> None:
    found = {row["name"] for row in work("clients with no open deals who are not blocked")["rows"]}
    assert "One GmbH" in found and "Two GmbH" not in found


@pytest.mark.parametrize(
    ("question", "part"),
    [
        ("blocked tasks in Karin Vogt's projects", "Project/managerId eq"),
        ("tasks on projects assigned to Karin Vogt", " assigneeId eq"),
    ],
)
def test_whose_the_projects_and_clients_are(app: Flask, ask: Ask, question: str, part: str) -> None:
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        create_user(
            username="karin", email=None, display_name="Karin Vogt", password=PASSWORD,
            roles=["Sales"],
        )  # fmt: skip
    assert part in _address(ask(question))
