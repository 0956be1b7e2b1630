"""What a "not" is about, what a list shows, and what is known of the record that comes first."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

import pytest

from bench.nlq import HIGH
from tests.bi.conftest import Ask


def _address(answer: dict[str, Any]) -> str:
    assert answer["status"] == "answered", answer["answer"]
    text: str = unquote(answer["query"]["odata"])
    return text


@pytest.mark.parametrize(
    ("question", "part"),
    [
        ("invoices that were sent but never viewed and are overdue", " and isOverdue and "),
        ("invoices never viewed and overdue", " and isOverdue&"),
        ("tasks that are not done and are overdue", " and isOverdue&"),
        ("clients not in Germany and not blocked", "not (status eq 'Blocked')"),
    ],
)
def test_a_not_reaches_values_of_one_property(ask: Ask, question: str, part: str) -> None:
    assert part in _address(ask(question))


def test_a_not_that_may_reach_further_is_doubted(ask: Ask) -> None:
    assert ask("invoices never viewed and overdue")["confidence"] < HIGH


@pytest.mark.parametrize(
    ("question", "column", "restricts"),
    [
        ("lost deals with the reason", "lostReason", "lostReason ne null"),
        ("the 3 largest lost deals together with the reason", "lostReason", "groupby"),
    ],
)
def test_with_the_shows_what_each_has(ask: Ask, question: str, column: str, restricts: str) -> None:
    answer = ask(question)
    assert column in [one["name"] for one in answer["columns"]]
    assert restricts not in _address(answer)


def test_with_an_chooses_those_that_have_one(ask: Ask) -> None:
    assert "phone ne null" in _address(ask("contacts with a phone"))


def test_with_the_and_a_value_chooses(ask: Ask) -> None:
    assert "status eq 'Closed'" in _address(ask("tickets with the status closed"))


@pytest.mark.parametrize("question", ["overdue invoices with their country",
                                      "overdue invoices with the city"])  # fmt: skip
def test_an_address_of_the_client_is_shown(ask: Ask, question: str) -> None:
    assert "billingAddress/" in _address(ask(question))


@pytest.mark.parametrize(
    ("question", "column"),
    [
        ("what is the stage of the largest open deal?", "stage"),
        ("which stage is our largest deal in", "stage"),
    ],
)
def test_what_is_asked_of_the_first_record_is_shown(ask: Ask, question: str, column: str) -> None:
    answer = ask(question)
    assert column in [one["name"] for one in answer["columns"]]
    assert "groupby" not in _address(answer)


@pytest.mark.parametrize("question", ["which owner has the highest deal value",
                                      "which industry has the most clients"])  # fmt: skip
def test_groups_are_still_ranked_by_their_figure(ask: Ask, question: str) -> None:
    assert "groupby" in _address(ask(question))


def test_which_of_them_have_one_chooses_from_those_before(ask: Ask) -> None:
    first = ask("clients in Germany")
    second = ask("which of them have an outstanding balance?", sessionId=first["sessionId"])
    assert [row["name"] for row in second["rows"]] == ["ACME GmbH"]
    owing = ask("which of them owe us money?", sessionId=first["sessionId"])
    assert [row["name"] for row in owing["rows"]] == ["ACME GmbH"]


def test_a_list_is_sorted_by_the_number_that_chose_it(ask: Ask) -> None:
    first = ask("clients that owe us money")
    answer = ask("sort them by that amount, highest first", sessionId=first["sessionId"])
    assert "orderby=outstandingBalance" in _address(answer)


def test_a_list_without_a_number_is_not_said_to_be_sorted(ask: Ask) -> None:
    first = ask("open tickets")
    assert ask("highest first", sessionId=first["sessionId"])["status"] == "unsupported"


@pytest.mark.parametrize("words", ["counting renewals only", "only counting renewals"])
def test_what_alone_is_counted_restricts(ask: Ask, words: str) -> None:
    first = ask("number of deals by owner")
    assert "type eq 'Renewal'" in _address(ask(words, sessionId=first["sessionId"]))


def test_a_review_that_is_due_has_its_day(ask: Ask) -> None:
    assert "reviewDueAt ge " in _address(ask("articles whose review is due this month"))


def test_deals_are_grouped_by_their_next_step(ask: Ask) -> None:
    assert "groupby((nextStep)" in _address(ask("open deals by next step"))
