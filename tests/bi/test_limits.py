"""Questions about parts of a limit, periods next to each other, and what is not said."""

from __future__ import annotations

from decimal import Decimal

import pytest
from flask import Flask

from app.db.engines import transaction
from app.http.security import acting_as, system_caller
from tests.bi.conftest import Ask
from tests.factories import line, make_client, make_issued_invoice, make_project, make_ticket


@pytest.fixture
def limited(app: Flask, business: None) -> None:
    """Two clients that owe 50.00 each, one of a limit of 90.00, one of 200.00."""
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        for name, limit in (("Limes GmbH", 90), ("Weit GmbH", 200)):
            client = make_client(name=name, currency="EUR", credit_limit=Decimal(limit))
            plain = {"tax_rate": Decimal(0), "tax_category": "Z"}
            make_issued_invoice(client_id=client, line_items=[line("50", **plain)])
        make_project(client_id=client, name="Long one", budget_hours=Decimal(10))


@pytest.mark.parametrize(
    ("question", "names"),
    [("clients that use more than half of their credit limit", ["Limes GmbH"]),
     ("clients with a balance of less than a quarter of their credit limit", []),
     ("customers over their credit limit", [])],
)  # fmt: skip
def test_a_part_of_a_limit(ask: Ask, limited: None, question: str, names: list[str]) -> None:
    answer = ask(question)
    assert answer["status"] == "answered", answer
    found = {row["name"] for row in answer["rows"]} & {"Limes GmbH", "Weit GmbH"}
    assert sorted(found) == names


def test_hours_are_compared_with_a_part_of_the_budget(ask: Ask, limited: None) -> None:
    answer = ask("projects that used less than 80 % of their budget hours")
    assert [row["name"] for row in answer["rows"]] == ["Long one"], answer
    assert "hours spent under 80 % of budgeted hours" in answer["interpretation"]


def test_periods_next_to_each_other_are_one(ask: Ask) -> None:
    answer = ask("tickets created today or yesterday")
    assert answer["rowCount"] == 4, answer
    assert "yesterday and today" in answer["interpretation"]


def test_two_periods_linked_by_and_may_be_meant_apart(ask: Ask) -> None:
    assert ask("revenue in April and May 2026")["confidence"] < 0.8
    assert ask("total revenue in April and May 2026")["status"] == "answered"


def test_who_has_it_is_said_with_the_record(ask: Ask) -> None:
    answer = ask("what's our biggest open opportunity and who owns it?")
    assert [row["name"] for row in answer["rows"]] == ["Big deal"], answer
    assert "owner" in answer["answer"]


def test_the_longest_open_of_a_kind_is_one(app: Flask, ask: Ask) -> None:
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        for subject in ("Down", "Down again"):
            make_ticket(subject=subject, type="Incident")
    assert ask("longest open incident")["rowCount"] == 1


@pytest.mark.parametrize(
    ("question", "count"),
    [("invoices that never got a reminder", 4),
     ("invoices reminded twice", 0), ("tickets reopened at least once", 0),
     ("clients with an open deal but no ticket", 0), ("clients with a ticket but no deal", 1)],
)  # fmt: skip
def test_what_never_happened_and_how_often(ask: Ask, question: str, count: int) -> None:
    answer = ask(question)
    assert (answer["status"], answer["rowCount"]) == ("answered", count), answer


def test_working_days_are_not_known(ask: Ask) -> None:
    assert ask("what did we invoice per working day in May")["status"] == "unsupported"


def test_yes_and_no_of_a_group_and_of_one_month(ask: Ask) -> None:
    assert "(won)" in ask("how many deals did we win")["answer"]
    assert "1 months" not in ask("clients not invoiced for 1 month")["interpretation"]
