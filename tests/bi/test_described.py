"""Whose a description is: of what is counted, of those who have it, or of what is ranked."""

from __future__ import annotations

from functools import partial
from typing import Any
from urllib.parse import unquote

import pytest
from flask import Flask

from app.db.engines import transaction
from app.http.security import acting_as, system_caller
from bench.nlq import HIGH
from tests.bi.conftest import Ask
from tests.conftest import Once
from tests.factories import (
    make_client,
    make_contact,
    make_invoice,
    make_opportunity,
    make_project,
    make_task,
    make_ticket,
)


def _address(answer: dict[str, Any]) -> str:
    assert answer["status"] == "answered", answer["answer"]
    text: str = unquote(answer["query"]["odata"])
    return text


@pytest.fixture
def sellers(app: Flask, ask: Ask, once: Once) -> Ask:
    """Clients of two industries, one of them blocked; each has a deal, ticket or project or not."""
    once("clients of two industries", partial(_make_records, app))
    return ask


def _make_records(app: Flask) -> None:
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        busy = make_client(name="Busy Soft", industry="Software", status="Active")
        make_client(name="Idle Soft", industry="Software", status="Active", employee_count=50)
        other = make_client(name="Idle Farm", industry="Agriculture", status="Blocked")
        make_opportunity(client_id=busy, name="Licences")
        for _ in range(6):
            make_ticket(client_id=other)
        make_ticket(client_id=busy, contact_id=make_contact(client_id=busy, last_name="Asker"))
        make_contact(client_id=busy, last_name="Silent")
        running = make_project(client_id=busy, name="Runs", status="Active")
        waiting = make_project(client_id=busy, name="Waits", status="OnHold")
        make_task(project_id=running)
        for _ in range(2):
            make_task(project_id=waiting)
        make_invoice(client_id=busy, project_id=running)


@pytest.mark.parametrize(
    "question",
    ["customers without an open deal in the software industry",
     "clients in the software industry that have no open deals"],
)  # fmt: skip
def test_what_is_missing_says_nothing_of_whose_it_is(sellers: Ask, question: str) -> None:
    assert [row["name"] for row in sellers(question)["rows"]] == ["Idle Soft"]


@pytest.mark.parametrize(
    "question",
    ["clients with no tickets since January that are active",
     "clients with tickets that are active"],
)  # fmt: skip
def test_a_state_that_both_may_have_is_that_of_what_is_asked_for(ask: Ask, question: str) -> None:
    assert _address(ask(question)).partition("&")[0].endswith(") and status eq 'Active'")


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("which client has the most tickets", "Idle Farm"),
        ("top 1 active clients by number of tickets", "ACME GmbH"),
        ("which project has the most open tasks", "Waits"),
        ("which active project has the most open tasks", "Runs"),
    ],
)
def test_a_state_before_what_is_ranked_is_its_own(sellers: Ask, question: str, name: str) -> None:
    rows = sellers(question)["rows"]
    assert len(rows) == 1 and name in rows[0].values()


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("projects without invoices", {"Waits"}),
        ("projects with invoices", {"Runs"}),
        ("contacts without tickets", {"Silent"}),
        ("contacts with tickets", {"Asker"}),
    ],
)
def test_relations_that_people_ask_for(sellers: Ask, question: str, names: set[str]) -> None:
    said = str(sellers(question)["rows"])
    assert {name for name in ("Waits", "Runs", "Silent", "Asker") if name in said} == names


@pytest.mark.parametrize(
    ("question", "part"),
    [
        ("deals without projects", "not (Projects/any())"),
        ("tickets without articles", "not (KbArticles/any())"),
        ("invoices without credit notes", "not (CreditNotes/any(a:a/type eq 'CreditNote'))"),
        ("leads with open tasks", "Tasks/any("),
        ("clients with 50 employees", "employeeCount eq 50"),
        ("how many invoices got 3 reminders", "remindersSent eq 3"),
        ("projects that used up over 80% of their hours", "hoursSpent gt budgetHours mul 0.8"),
        ("tasks completed within 2 days", "(completedAt sub createdAt) div 86400) le 2"),
        ("more tickets in May or in June?", "as previousValue"),
        ("revenue growth Q1 to Q2", "as previousValue"),
        ("number of invoices per client, at least 5", "/filter(count ge 5)"),
        ("payments without a reference", "payment/reference eq null"),
        ("invoices from 3 May 2025 onwards", "issueDate ge 2025-05-03"),
        ("share of invoices paid within 14 days", "filter(type eq 'Invoice' and status in ('Sent'"),
    ],
)
def test_what_a_question_asks_for(ask: Ask, question: str, part: str) -> None:
    answer = ask(question)
    assert part in _address(answer)


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("invoices over 500 and under 100", "total over 500 and total under 100 at once"),
        ("deals over 50k and at most 50k", "amount over 50,000 and amount at most 50,000"),
        ("tickets that do not have to be answered", "what does not have to be done"),
        ("invoices that don't have to be paid", "what does not have to be done"),
    ],
)
def test_what_cannot_be_or_is_not_known_is_sent_back(ask: Ask, question: str, reason: str) -> None:
    answer = ask(question)
    assert answer["status"] == "unsupported" and reason in answer["answer"]


def test_a_state_of_one_kind_of_record_says_which_less_surely(ask: Ask) -> None:
    answer = ask("what's in negotiation right now?")
    assert "Opportunities?$filter=stage eq 'Negotiation'" in _address(answer)
    assert answer["confidence"] < HIGH


def test_from_a_day_is_of_that_day_less_surely(ask: Ask) -> None:
    answer = ask("invoices from the 3rd of May 2025")
    assert "issueDate lt 2025-05-04" in _address(answer) and answer["confidence"] < HIGH


def test_an_amount_of_nothing_is_a_choice(ask: Ask) -> None:
    assert ask("total value?")["status"] == "needsClarification"


@pytest.mark.parametrize("question", ["weighted pipeline by month", "outstanding by month"])
def test_what_waits_may_be_of_two_months(ask: Ask, question: str) -> None:
    assert ask(question)["confidence"] < HIGH


def test_a_part_of_what_was_said(ask: Ask) -> None:
    first = ask("unpaid invoices")
    address = _address(ask("only the overdue part", sessionId=first["sessionId"]))
    assert "isOverdue" in address and "Invoices?" in address
