"""What could be read wrongly with confidence: read rightly, asked back, or told with doubt."""

from __future__ import annotations

from datetime import timedelta

import pytest
from flask import Flask

from app.clock import today
from app.database import transaction
from app.security import acting_as, system_caller
from tests.bi.conftest import Ask
from tests.factories import make_client, make_contact, make_project, make_ticket

HIGH = 0.8


@pytest.mark.parametrize(
    "question",
    ["deals not closing this month", "which agents have no urgent tickets",
     "all but the largest deal", "running total of invoices", "what will revenue be in December",
     "big deals won this month"],
)  # fmt: skip
def test_what_no_query_says_is_refused(ask: Ask, business: None, question: str) -> None:
    assert ask(question)["status"] == "unsupported"


def test_what_is_not_yet_due_is_unpaid_and_still_to_come(ask: Ask, business: None) -> None:
    address = ask("invoices not yet due")["query"]["odata"].replace("%20", " ")
    assert "status in ('Sent','PartiallyPaid')" in address
    assert f"dueDate ge {today()}" in address
    assert "not (" not in address


def test_one_is_exactly_one(ask: Ask, app: Flask, business: None) -> None:
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        one, two = make_client(name="One GmbH"), make_client(name="Two GmbH")
        for client in (one, two, two):
            make_contact(client_id=client)
    for question in ("clients with one contact", "clients that have only one contact"):
        names = {row["name"] for row in ask(question)["rows"]}
        assert "One GmbH" in names and "Two GmbH" not in names


def test_from_yesterday_is_of_that_day(ask: Ask, business: None) -> None:
    address = ask("tickets from yesterday")["query"]["odata"]
    assert f"ge%20{today() - timedelta(days=1)}" in address
    assert f"lt%20{today()}" in address


def test_from_a_day_may_be_since_then(ask: Ask, business: None) -> None:
    assert ask("invoices from 05.05.2026")["confidence"] < HIGH


def test_a_day_that_may_be_a_month_is_asked_back(ask: Ask, business: None) -> None:
    answer = ask("deals won on 04/05/2026")
    assert answer["status"] == "needsClarification"
    assert answer["alternatives"] == ["deals won on 2026-05-04", "deals won on 2026-04-05"]
    assert "2026-05-25" in ask("deals won on 25/05/2026")["interpretation"]


def test_a_rating_of_groups_is_an_average(ask: Ask, business: None) -> None:
    address = ask("which agent has the worst satisfaction score")["query"]["odata"]
    assert "satisfactionRating%20with%20average" in address


def test_a_share_of_the_invoices_of_a_year_is_of_those_issued_then(
    ask: Ask, business: None
) -> None:
    address = ask("what fraction of this year's invoices has been paid")["query"]["odata"]
    assert "issueDate%20ge" in address and "paidAt" not in address


def test_each_month_with_the_one_before_is_asked_back(ask: Ask, business: None) -> None:
    answer = ask("revenue growth month over month in 2026")
    assert answer["status"] == "needsClarification"
    assert answer["alternatives"] == ["Revenue by month 2026"]


def test_projects_of_one_name_are_meant_together(ask: Ask, app: Flask, business: None) -> None:
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        make_project(name="Data migration")
        make_project(name="Data migration")
    assert len(ask("data migration projects")["rows"]) == 2


def test_the_words_of_an_address_are_shown(ask: Ask, app: Flask, business: None) -> None:
    answer = ask("clients with their city")
    assert "billingAddress/city" in [column["name"] for column in answer["columns"]]


def test_a_figure_asked_in_a_clause_is_no_talk(ask: Ask, app: Flask, business: None) -> None:
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        make_ticket(priority="Urgent")
    answer = ask("How many deals did we win this year, and what were they worth?")
    assert {"amount", "count"} <= {column["name"] for column in answer["columns"]}


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("open or on hold tickets", "'Open','OnHold'"),
        ("how many tickets are new or open?", "'New','Open'"),
        ("new, open or pending tickets", "'New','Open','Pending'"),
        ("unsolved or closed tickets", "'New','Open','Pending','OnHold','Closed'"),
        ("unpaid or draft invoices", "'Sent','PartiallyPaid','Draft'"),
        ("open tickets that are on hold", "'OnHold'"),
    ],
)
def test_an_or_between_states_takes_both(
    ask: Ask, business: None, question: str, values: str
) -> None:
    address = ask(question)["query"]["odata"].replace("%20", " ")
    assert f"status in ({values})" in address
