"""What lists are sorted by, what they show, and what is ranked in groups."""

from __future__ import annotations

from urllib.parse import unquote

import pytest

from tests.bi.conftest import Ask

HIGH = 0.8


@pytest.mark.parametrize(
    ("question", "order"),
    [
        ("active projects by budget, highest first", "budgetAmount desc,id"),
        ("active projects sorted by budget", "budgetAmount desc,id"),
        ("unpaid invoices by due date", "dueDate,id"),
        ("unpaid invoices by due date, latest first", "dueDate desc,id"),
        ("leads by score", "score desc,id"),
    ],
)
def test_by_a_figure_or_a_day_sorts_a_list(
    ask: Ask, business: None, question: str, order: str
) -> None:
    address = unquote(ask(question)["query"]["odata"])
    assert f"$orderby={order}&" in address
    assert "$top" not in address


def test_a_superlative_before_the_noun_ranks_in_each_group(ask: Ask, business: None) -> None:
    address = unquote(ask("most viewed article per category")["query"]["odata"])
    assert "groupby((category),topcount(1,viewCount))" in address


def test_ranked_customers_in_a_country_are_the_groups(ask: Ask, business: None) -> None:
    found = ask("our 5 biggest customers in Germany by revenue this year")
    assert [row["Client/name"] for row in found["rows"]] == ["ACME GmbH"]
    assert found["rows"][0]["amount"] == 150.25


def test_the_owner_of_a_client_stands_beside_its_invoices(ask: Ask, business: None) -> None:
    found = ask("unpaid invoices with their account manager")
    column = {"name": "Client/Owner/displayName", "label": "Owner", "type": "text"}
    assert column in found["columns"]
    assert "$expand=Client($select=name;$expand=Owner($select=displayName))" in unquote(
        found["query"]["odata"]
    )


def test_days_of_payment_terms_are_no_age(ask: Ask, business: None) -> None:
    address = unquote(ask("clients with payment terms over 30 days")["query"]["odata"])
    assert "paymentTermsDays gt 30" in address and "createdAt lt" not in address


def test_our_own_staff_is_not_that_of_the_clients(ask: Ask, business: None) -> None:
    assert ask("what is our headcount")["status"] == "unsupported"


def test_a_state_of_the_groups_as_well_is_doubted(ask: Ask, business: None) -> None:
    assert ask("hours worked by project, only completed ones")["confidence"] < HIGH


def test_a_rank_behind_ranks_the_groups_too(ask: Ask, business: None) -> None:
    found = ask("german customers by revenue this year, top 10")
    assert [row["Client/name"] for row in found["rows"]] == ["ACME GmbH"]


def test_without_a_balance_is_a_balance_of_nothing(ask: Ask, business: None) -> None:
    names = {row["name"] for row in ask("clients without an outstanding balance")["rows"]}
    assert names == {"Globex"}


def test_what_a_later_question_asks_to_see_is_shown(ask: Ask, business: None) -> None:
    first = ask("blocked clients")
    later = ask("and their email", sessionId=first["sessionId"])
    assert "email" in {one["name"] for one in later["columns"]}
