"""Questions about groups that are chosen, several figures, two questions, durations."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

import pytest

from tests.bi.conftest import Ask


def figures(answer: dict[str, Any]) -> list[tuple[Any, ...]]:
    """The rows without their ids."""
    kept = [one["name"] for one in answer["columns"]]
    return sorted(tuple(row[name] for name in kept) for row in answer["rows"])


def test_groups_are_chosen_by_their_number_of_records(ask: Ask) -> None:
    answer = ask("countries with more than 1 client")
    assert figures(answer) == [("DE", 2)]
    assert "/filter(count%20gt%201)" in answer["query"]["odata"]


def test_groups_are_chosen_by_their_figure(ask: Ask) -> None:
    answer = ask("which countries brought us more than 100 euros of revenue?")
    assert [(row["country"], float(row["amount"])) for row in answer["rows"]] == [("DE", 150.25)]


def test_an_amount_of_a_client_in_a_period_is_what_was_invoiced(ask: Ask) -> None:
    answer = ask("customers whose revenue this year is above 100")
    assert [row["Client/name"] for row in answer["rows"]] == ["ACME GmbH"]
    assert "Net revenue = totals of issued invoices less" in answer["interpretation"]


def test_two_figures_of_the_same_records(ask: Ask) -> None:
    answer = ask("number and total of open invoices")
    labels = [(one["name"], one["type"]) for one in answer["columns"]]
    assert labels == [("currency", "text"), ("count", "number"), ("figure2", "money")]
    assert [(row["currency"], row["count"]) for row in answer["rows"]] == [("CHF", 1), ("EUR", 1)]


def test_the_smallest_and_the_largest_of_each_group(ask: Ask) -> None:
    answer = ask("lowest and highest invoice amount per client")
    rows = {row["Client/name"]: row for row in answer["rows"]}
    assert (float(rows["ACME GmbH"]["amount"]), float(rows["ACME GmbH"]["figure2"])) == (50.25, 100)


def test_a_second_question_may_ask_for_the_amount_of_the_first(ask: Ask) -> None:
    answer = ask("how many invoices are unpaid and what's the total?")
    assert [column["name"] for column in answer["columns"]] == ["currency", "count", "figure2"]


@pytest.mark.parametrize(
    "question",
    ["how many active clients do we have, and how many open tickets?",
     "how many tickets are open and how many of those are urgent?",
     "how many projects do we have, and by how many hours are they over budget?"],
)  # fmt: skip
def test_two_questions_of_different_shapes_are_asked_back(ask: Ask, question: str) -> None:
    answer = ask(question)
    assert answer["status"] != "answered"
    assert len(answer["alternatives"]) >= 2


def test_durations_restrict(ask: Ask) -> None:
    assert ask("tickets solved within 24 hours")["rows"] == []
    older = ask("open tickets created more than 3 days ago")
    assert "createdAt%20lt%20" in older["query"]["odata"]
    took = ask("tickets that took more than 2 days to solve")["query"]["odata"]
    assert "div%203600)%20gt%2048" in took


def test_what_is_due_within_some_days_lies_ahead(ask: Ask) -> None:
    answer = ask("invoices due within 60 days")
    assert "dueDate%20ge%20" in answer["query"]["odata"]
    assert len(answer["rows"]) == 2


def test_the_age_of_records_is_a_figure(ask: Ask) -> None:
    answer = ask("how old are our open tickets on average?")
    assert 0 <= float(answer["rows"][0]["amount"]) < 1
    assert ask("what is the average age of our employees")["status"] == "unsupported"


def test_records_of_clients_that_are_described(ask: Ask) -> None:
    answer = ask("open tickets of clients with unpaid invoices")
    assert len(answer["rows"]) == 3
    assert "Client/Invoices/any(" in answer["query"]["odata"]


def test_clients_without_any_payment(ask: Ask) -> None:
    answer = ask("clients without payments this year")
    assert sorted(row["name"] for row in answer["rows"]) == ["Globex", "Helvetia AG"]


def test_newest_first_leaves_nothing_out(ask: Ask) -> None:
    answer = ask("open tickets, newest first")
    assert "$top" not in answer["query"]["odata"]
    assert "createdAt%20desc" in answer["query"]["odata"]


@pytest.mark.parametrize(
    "question",
    ["first and last invoice of this year",
     "countries with more than 1 client and fewer than 5 prospects"],
)  # fmt: skip
def test_what_one_query_does_not_give_is_not_answered(ask: Ask, question: str) -> None:
    assert ask(question)["status"] != "answered"


def test_one_more_group_is_no_second_question(ask: Ask) -> None:
    answer = ask("number of leads per source and rating")
    assert [column["name"] for column in answer["columns"]] == ["source", "rating", "count"]


def test_groups_of_clients_that_are_described_stay_groups(ask: Ask) -> None:
    answer = ask("revenue by client with more than 1 invoice")
    assert [row["Client/name"] for row in answer["rows"]] == ["ACME GmbH"]


def test_a_delay_that_is_not_known_is_not_answered(ask: Ask) -> None:
    question = "payments received more than 30 days after the due date"
    assert ask(question)["status"] == "needsClarification"


def test_the_revenue_that_is_kept_with_a_client_is_less_sure(ask: Ask) -> None:
    answer = ask("clients with more than 100k revenue")
    assert answer["confidence"] < 0.8
    assert "Clients?$filter=revenue gt 100000" in unquote(answer["query"]["odata"])
