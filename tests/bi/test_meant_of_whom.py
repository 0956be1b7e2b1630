"""What a word is said of: records and their related ones, the first and the second of two
periods, a limit and its unit, who pays and what is paid, records shown and records there are."""

from __future__ import annotations

import itertools
from decimal import Decimal
from typing import Any

import pytest

from app.bi.plans.qualifying import is_own_state
from tests.bi.conftest import Ask

ISSUED = "status in ('Sent','PartiallyPaid','Paid','Uncollectible')"
RELATED = ("open tickets", "won deals", "active projects", "unpaid invoices", "open tasks")


def _address(answer: dict[str, Any]) -> str:
    assert answer["status"] == "answered", answer["answer"]
    return str(answer["query"]["odata"]).replace("%20", " ")


@pytest.mark.only_on("sqlite")
@pytest.mark.parametrize("related", RELATED)
@pytest.mark.parametrize("figure", ["total revenue", "net revenue", "revenue by country"])
def test_the_state_of_related_records_undoes_no_condition(
    ask: Ask, figure: str, related: str
) -> None:
    assert f" and {ISSUED})" in _address(ask(f"{figure} of clients with {related}"))


@pytest.mark.parametrize(
    ("text", "is_own"),
    [
        ("status eq 'Paid'", True),
        ("isOverdue", True),
        ("Client/Tickets/$count($filter=status in ('New','Open')) gt 0", False),
        ("Client/Invoices/any(i:i/status eq 'Paid' and (i/isOverdue))", False),
        ("Client/status eq 'Blocked'", False),
        ("Client/Tickets/$count($filter=status eq 'New') gt 0 and status eq 'Sent'", True),
        ("notes eq 'the status (is'", False),
        ("Client/Tickets/any(t:contains(t/subject,')')) and status eq 'Sent'", True),
    ],
)
def test_a_state_is_of_the_records_themselves(text: str, *, is_own: bool) -> None:
    assert is_own_state(text) is is_own


@pytest.mark.only_on("sqlite")
@pytest.mark.parametrize(
    ("more", "first", "second"),
    [
        (more, *pair)
        for more in ("more", "fewer")
        for pair in itertools.permutations(("this month", "last month"))
    ],
)
def test_yes_or_no_is_what_stands_left_of_what_stands_right(
    ask: Ask, more: str, first: str, second: str
) -> None:
    answer = ask(f"did we get {more} tickets {first} than {second}?")
    [row] = answer["rows"]
    figures = {"this month": Decimal(row["current"]), "last month": Decimal(row["previous"])}
    left, right = figures[first], figures[second]
    assert left != right
    wanted = left > right if more == "more" else left < right
    assert answer["answer"].startswith("Yes." if wanted else "No."), answer["answer"]


@pytest.mark.only_on("sqlite")
@pytest.mark.parametrize(
    ("question", "follow_up", "plain"),
    [
        ("invoices overdue by more than 30 days", "and more than 90?",
         "invoices overdue by more than 90 days"),
        ("how many invoices are overdue by more than 30 days", "over 60?",
         "how many invoices are overdue by over 60 days"),
        ("tickets open for more than 10 days", "and more than 3 weeks?",
         "tickets open for more than 3 weeks"),
        ("clients with more than 1 invoice", "and more than 2?",
         "clients with more than 2 invoices"),
        ("deals with a probability over 50 %", "and over 70?",
         "deals with a probability over 70 %"),
        ("invoices over 5000", "and more than 9000?", "invoices over 9000"),
    ],
)  # fmt: skip
def test_a_limit_that_is_said_anew_keeps_its_unit(
    ask: Ask, question: str, follow_up: str, plain: str
) -> None:
    before = ask(question)
    after = ask(follow_up, sessionId=before["sessionId"])
    assert _address(after) == _address(ask(plain))


@pytest.mark.only_on("sqlite")
@pytest.mark.parametrize(
    ("question", "late", "open_"),
    [
        ("invoices not paid on time", "date(paidAt) gt dueDate", "isOverdue"),
        ("invoices that were never paid on time", "date(paidAt) gt dueDate", "isOverdue"),
        ("how many invoices weren't paid by the due date", "date(paidAt) gt dueDate", "isOverdue"),
        ("tasks not finished on time", "completedAt gt dueAt", "isOverdue"),
        ("tasks not done on time", "completedAt gt dueAt", "isOverdue"),
        ("projects not completed on time", "date(completedAt) gt endDate", "isOverdue"),
    ],
)
def test_not_on_time_is_late_or_overdue(ask: Ask, question: str, late: str, open_: str) -> None:
    assert f"{late} or {open_}" in _address(ask(question))


@pytest.mark.only_on("sqlite")
@pytest.mark.parametrize(
    "question",
    [
        "top 5 clients by what they paid",
        "which client paid us the most",
        "who paid the least this year",
    ],
)
def test_who_pays_pays_money(ask: Ask, question: str) -> None:
    assert "payment/amount with sum" in _address(ask(question))


@pytest.mark.parametrize(
    ("question", "limit", "rest"),
    [("tickets", 1, 3), ("number of tickets by client", 1, 1)],
)
def test_what_is_not_shown_is_counted_among_all(
    ask: Ask, question: str, limit: int, rest: int
) -> None:
    """However few rows are wanted, the sentence names three at most and counts the rest."""
    assert ask(question, limit=limit)["answer"].count(f" and {rest} more.") == 1


def test_a_fourth_is_named_rather_than_counted(ask: Ask) -> None:
    answer = ask("tickets", limit=4)
    assert answer["rowCount"] == 4
    assert "more" not in answer["answer"]
    assert all(row["subject"] in answer["answer"] for row in answer["rows"])
