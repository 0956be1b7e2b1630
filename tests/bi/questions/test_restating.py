"""What an answer says was understood is a question that asks the same."""

from __future__ import annotations

from datetime import date

import pytest
from flask import Flask

from app.bi.periods.spans import Calendar
from app.bi.plans.phrasing import restated
from app.bi.questions.answering import propose
from app.http.security import acting_as, system_caller
from bench.nlq import restatements

NOW = Calendar(date(2026, 6, 17))
SAMPLE = 300
# Exact, so that one more or less is seen (``python -m bench.nlq --restated --sample 300``).
TOLD, READ_AGAIN = 240, 189


@pytest.mark.costly(0)
@pytest.mark.usefixtures("demo")
def test_as_many_meanings_are_read_again_as_before() -> None:
    told = restatements(SAMPLE)
    assert (len(told), sum(one.is_read_again for one in told)) == (TOLD, READ_AGAIN)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("revenue last month", "Net revenue (issued) with issue date last month (2026-05-01 to"),
        ("tickets of yesterday", "Tickets created yesterday (2026-06-16)"),
        ("tickets of 3 may 2026", "Tickets created on 2026-05-03"),
        ("tickets solved yesterday", "Tickets solved yesterday (2026-06-16)"),
        ("most viewed articles", "The 10 articles with the most views"),
        ("leads with the lowest score", "The 10 leads with the lowest score"),
        ("overdue invoices without reminders", "Invoices (overdue; without reminders sent)"),
        ("clients without invoices", "Clients (without invoices)"),
        ("tickets without a client", "Tickets (without client)"),
        ("clients with at least 1 ticket", "Clients (with at least 1 ticket)"),
        ("the 3 oldest open tickets", "The 3 oldest tickets (open)"),
        ("biggest unpaid invoice", "The largest invoice (open)"),
        ("biggest unpaid invoice of each country", "The largest invoice (open) of each country"),
        ("top 10 clients by revenue", "Net revenue by client (issued) - top 10"),
        ("tickets per week in 2025", "Number of tickets by week created in 2025 (2025-01-01 to"),
        ("tickets this month compared with last month", "compared with 2026-05-01 to 2026-05-31"),
    ],
    ids=lambda value: value[:40],
)
def test_what_is_told_is_read_as_it_was_meant(app: Flask, question: str, text: str) -> None:
    with app.app_context(), acting_as(system_caller("test")):
        first = propose(question, NOW)
        told = restated(first.plans[0])
        again = propose(f"{told}.", NOW)
    assert text in told
    assert again.understood.analyses[0].query == first.understood.analyses[0].query
