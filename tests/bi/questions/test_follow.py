"""What goes on from a question is an operation on its meaning."""

from __future__ import annotations

from datetime import date

import pytest
from flask import Flask

from app.bi.periods.spans import Calendar
from app.bi.questions.algebra import (
    COUNT,
    Compares,
    Dated,
    Equals,
    Figure,
    Group,
    Has,
    Meaning,
    Not,
    Of,
)
from app.bi.questions.answering import understand
from app.bi.questions.periods import ago
from app.http.security import acting_as, system_caller

NOW = Calendar(date(2026, 6, 17))


def asked(app: Flask, before: str, question: str) -> Meaning:
    with app.app_context(), acting_as(system_caller("test")):
        standing = understand(before, NOW, None, "en").standing
        meaning = understand(question, NOW, standing, "en").analyses[0].meaning
    assert meaning is not None
    return meaning


@pytest.mark.parametrize(
    ("before", "question", "kept"),
    [
        ("revenue by month", "by client", {"groups": (Group("client"),)}),
        ("open tickets by category", "as a pie chart", {"chart": "pie"}),
        ("open tickets by category", "list them", {"figures": (), "groups": ()}),
        ("open deals", "how many", {"figures": (Figure(COUNT),)}),
        ("clients in Germany", "phone numbers", {"columns": ("phone",)}),
        (
            "revenue by month this year",
            "and last year?",
            {"groups": (Group(grain="month"),), "against": None},
        ),
        ("revenue by month", "how much is that in total", {"groups": ()}),
        ("open deals by owner", "what about leads?", {"kind": "Leads"}),
        ("articles overdue for review", "who wrote them?", {"columns": ("Author/displayName",)}),
        ("open invoices", "phone numbers", {"columns": ("Client/phone",)}),
        ("how much is overdue", "which customers", {"groups": (Group("client"),)}),
        ("unpaid invoices", "reminders sent", {"figures": (), "columns": ("remindersSent",)}),
        ("revenue", "tax too", {"figures": (Figure("revenue"), Figure("tax"))}),
        ("overdue tasks", "who do they belong to?", {"groups": (Group("assignee"),)}),
    ],
)
def test_a_part_is_replaced(
    app: Flask, before: str, question: str, kept: dict[str, object]
) -> None:
    meaning = asked(app, before, question)
    assert {name: getattr(meaning, name) for name in kept} == kept


@pytest.mark.parametrize(
    ("before", "question", "descending"),
    [
        ("newest client", "and the oldest?", False),
        ("revenue by client", "only the first 3", True),
    ],
)
def test_the_first_of_groups_are_the_largest_and_of_records_the_oldest(
    app: Flask, before: str, question: str, descending: bool
) -> None:
    ranking = asked(app, before, question).ranking
    assert ranking is not None and ranking.descending is descending


@pytest.mark.parametrize(
    ("question", "limit"),
    [
        ("biggest of them?", 1),
        ("highest", 1),
        ("and the smallest", 1),
        ("and the newest?", 1),
        ("the oldest 5", 5),
        ("which are the largest", 10),
        ("the largest ones", 10),
        ("and the 3 largest", 3),
    ],
)
def test_a_superlative_by_itself_is_one_unless_several_are_meant(
    app: Flask, question: str, limit: int
) -> None:
    ranking = asked(app, "unpaid invoices", question).ranking
    assert ranking is not None and ranking.limit == limit


@pytest.mark.parametrize(
    ("before", "question", "added"),
    [
        ("open deals", "only those above 20000", Compares("amount", "gt", "20000")),
        ("open invoices over 5000", "and below 500", Compares("amountDue", "lt", "500")),
        (
            "invoices overdue by more than 30 days",
            "and more than 90?",
            Dated(ago("90", "day", longer=True), "dueDate"),
        ),
        ("clients in Germany", "without any invoice", Not(Has("Invoices"))),
        (
            "clients in Germany",
            "how many open tickets do they have",
            Of("Clients", (Equals("billingAddress/country", ("'DE'",), "Germany"),)),
        ),
        ("open invoices", "in euros", Equals("currency", ("'EUR'",), "EUR")),
    ],
)
def test_a_restriction_is_added(app: Flask, before: str, question: str, added: object) -> None:
    meaning = asked(app, before, question)
    assert added in meaning.where
    assert len([one for one in meaning.where if isinstance(one, Compares)]) <= 1
