"""Questions as they are typed: names in small letters, service levels, hours, who sold most."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import unquote

import pytest
from flask import Flask

from app.clock import utc_now
from app.db.engines import transaction
from app.http.security import acting_as, system_caller
from app.models.ticket import Ticket
from tests.bi.conftest import Ask
from tests.factories import (
    make_client,
    make_contact,
    make_opportunity,
    make_project,
    make_task,
    make_ticket,
    make_user,
    put_row,
)


def amounts(answer: dict[str, Any]) -> dict[str, Decimal]:
    """The amounts of an answer by their currencies."""
    assert answer["status"] == "answered", answer
    return {row["currency"]: Decimal(str(row["amount"])) for row in answer["rows"]}


@pytest.fixture
def service(app: Flask, business: None) -> None:
    """Five tickets that were solved, one of them too late; one waits, and is late, too."""
    now = utc_now()
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        for level, status in [
            *[("Met", "Solved")] * 4,
            ("Breached", "Solved"),
            ("Breached", "New"),
        ]:
            made = make_ticket(priority="High")
            solved = now if status == "Solved" else None
            put_row(Ticket, made, sla_status=level, status=status, solved_at=solved,
                    created_at=now - timedelta(days=3))  # fmt: skip


@pytest.mark.parametrize(
    "question",
    ["invoices of acme gmbh", "acme gmbh invoices", "show me all invoices from acme",
     "list the invoices for acme gmbh's"],
)  # fmt: skip
def test_names_may_be_written_small(ask: Ask, question: str) -> None:
    answer = ask(question)
    assert "ACME GmbH" in answer["interpretation"], answer
    assert len(answer["rows"]) == 2


def test_a_small_name_that_several_have_is_asked_back(ask: Ask, app: Flask) -> None:
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        make_client(name="ACME Logistics")
    answer = ask("invoices of acme")
    assert answer["status"] == "needsClarification"
    assert sorted(answer["alternatives"]) == [
        'Invoices of "ACME GmbH"?', 'Invoices of "ACME Logistics"?',
    ]  # fmt: skip


def test_a_small_name_is_no_misspelt_word(ask: Ask, app: Flask) -> None:
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        make_client(name="Alster Werft KG")  # not "alter", which is refused
    assert ask("tickets from alster werft kg")["status"] == "answered"


@pytest.mark.parametrize(
    "question",
    ["invoices ACME GmbH has not paid yet", "which invoices has acme gmbh not paid yet?",
     "invoices that acme gmbh still has to pay", "which invoices did ACME not pay"],
)  # fmt: skip
def test_what_somebody_has_not_paid(ask: Ask, question: str) -> None:
    answer = ask(question)
    assert [row["amountDue"] for row in answer["rows"]] == [50.25], answer


def test_what_is_still_to_be_collected(ask: Ask) -> None:
    assert amounts(ask("what do we still have to collect")) == {
        "EUR": Decimal("50.25"),
        "CHF": Decimal(70),
    }


def test_what_is_to_be_collected_from_some(ask: Ask) -> None:
    answer = ask("how much do we still have to collect from Swiss customers?")
    assert amounts(answer) == {"CHF": Decimal(70)}


@pytest.mark.parametrize(
    "question",
    ["percentage of tickets solved within SLA", "SLA compliance"],
)
def test_service_levels_are_of_what_was_solved(ask: Ask, service: None, question: str) -> None:
    answer = ask(question)
    assert [(row["hits"], row["count"]) for row in answer["rows"]] == [(4, 5)], answer


def test_service_levels_by_group(ask: Ask, service: None) -> None:
    assert ask("SLA compliance by priority")["rows"] == [
        {"priority": "High", "hits": 4, "count": 5, "percent": 80}
    ]


@pytest.mark.parametrize(
    ("question", "number"),
    [("breached SLA", 2), ("tickets outside the SLA", 2), ("tickets not solved within SLA", 2)],
)
def test_tickets_by_their_service_level(
    ask: Ask, service: None, question: str, number: int
) -> None:
    assert ask(question)["rowCount"] == number


@pytest.fixture
def worked(app: Flask, business: None) -> None:
    """Six hours of one in a project, two of another in none."""
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        first, second = make_user(), make_user()
        project = make_project(name="Roll-out")
        make_task(project_id=project, actual_hours=Decimal(6), assignee_id=first.user_id)
        make_task(actual_hours=Decimal(2), assignee_id=second.user_id)


def test_hours_by_project_and_by_person(ask: Ask, worked: None) -> None:
    assert ask("hours logged on project tasks")["rows"] == [{"amount": 6}]
    rows_of = ask("hours logged by project")["rows"]
    assert ("Roll-out", 6) in [(row["Project/name"], row["amount"]) for row in rows_of]
    assert [row["amount"] for row in ask("who logged the most hours?")["rows"]] == [6]


def test_who_sold_the_most_is_answered_with_doubt(ask: Ask, app: Flask) -> None:
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        seller = make_user()
        make_opportunity(amount=Decimal(900), owner_id=seller.user_id, stage="ClosedWon")
    answer = ask("who sold the most?")
    assert [row["amount"] for row in answer["rows"]] == [900], answer
    assert "Value of won deals = amounts of opportunities" in answer["interpretation"]
    assert answer["confidence"] < 0.8


def test_values_behind_a_by_are_groups(ask: Ask) -> None:
    answer = ask("number of tickets split by urgent, high and normal")
    found = {row["priority"]: row["count"] for row in answer["rows"]}
    assert found == {"Normal": 3, "Urgent": 1}


def test_of_whom_a_share_is_said(ask: Ask) -> None:
    answer = ask("what percentage of the leads that came by referral has been converted?")
    assert [(row["hits"], row["count"]) for row in answer["rows"]] == [(0, 1)]


def test_a_percentage_is_no_number_of_hours(ask: Ask) -> None:
    address = ask("projects that used more than 80% of their hours")["query"]["odata"]
    assert "hoursSpent%20gt%20budgetHours%20mul%200.8" in address


def test_a_list_with_totals_is_a_list(ask: Ask) -> None:
    answer = ask("open invoices and their totals")
    assert sorted(row["total"] for row in answer["rows"]) == [50.25, 70]


def test_payments_are_listed_with_whom_they_came_from(ask: Ask) -> None:
    answer = ask("the largest payment and from whom")
    assert answer["rows"][0]["Client/name"] == "ACME GmbH"
    assert "internalNotes" not in answer["rows"][0]
    assert "PAY-000001 (ACME GmbH, 100.00 EUR)" in answer["answer"]


def test_what_lies_ahead_is_not_looked_for_in_what_was_made(ask: Ask) -> None:
    query = unquote(ask("tickets in the next 7 days")["query"]["odata"])
    assert "resolutionDueAt ge" in query and "createdAt ge" not in query


def test_contacts_by_what_their_clients_are(ask: Ask, app: Flask) -> None:
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        make_contact(client_id=make_client(industry="Retail"), role="DecisionMaker")
    assert ask("decision makers per industry")["rows"] == [
        {"Client/industry": "Retail", "count": 1}
    ]


def test_figures_of_a_place_are_asked_back(ask: Ask) -> None:
    answer = ask("results in Germany")
    assert answer["status"] == "needsClarification"
    assert answer["alternatives"][1] == "Tickets (country Germany)."


def test_hours_are_of_the_day_that_their_task_was_completed(ask: Ask, worked: None) -> None:
    answer = ask("hours worked per person this month")
    assert "completedAt" in answer["query"]["odata"]


def test_how_long_something_waits_says_what_is_measured(ask: Ask) -> None:
    answer = ask("tickets waiting for the customer for more than a week")
    assert "created more than 1 week ago" in answer["interpretation"]


def test_what_may_be_anything_is_asked_back(ask: Ask) -> None:
    answer = ask("what happened yesterday?")
    assert answer["status"] == "needsClarification" and len(answer["alternatives"]) > 2


def test_what_nothing_is_known_of_is_told_so(ask: Ask) -> None:
    answer = ask("how many printers are in stock?")
    assert answer["status"] == "unsupported"
    assert "“in stock”" in answer["answer"] and "Nothing was changed" not in answer["answer"]


def test_sums_of_drafts_are_no_revenue(ask: Ask) -> None:
    answer = ask("total amount of all draft invoices")
    assert amounts(answer) == {"EUR": Decimal(999)}
    assert "(draft)" in answer["interpretation"]


@pytest.mark.parametrize("question", ["unpaid invoices of C-000001", "open invoices of c-000001"])
def test_a_number_says_whose_record_it_is(ask: Ask, question: str) -> None:
    assert [row["amountDue"] for row in ask(question)["rows"]] == [50.25]


def test_the_days_of_the_week_stay(ask: Ask) -> None:
    assert "by day of the week" in ask("tickets by day of the week")["interpretation"]


def test_what_takes_longest(ask: Ask, service: None) -> None:
    answer = ask("which priority takes the longest to solve?")
    assert [row["priority"] for row in answer["rows"]] == ["High"]
