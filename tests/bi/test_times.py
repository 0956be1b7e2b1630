"""Times as people say them: hours of a day, like for like, side by side, and what is not kept."""

from __future__ import annotations

from datetime import date

import pytest
from flask import Flask

from app.bi.periods.spans import Calendar
from app.bi.plans.filtering import condition_text
from app.bi.plans.plan import Plan
from app.bi.questions.answering import propose
from app.http.security import acting_as, system_caller
from tests.bi.conftest import Ask

NOW = Calendar(date(2026, 6, 17), zone="Europe/Berlin")  # a Wednesday


def _plan(app: Flask, question: str, *before: str) -> Plan:
    with app.app_context(), acting_as(system_caller("test")):
        standing = None
        for one in (*before, question):
            told = propose(one, NOW, standing)
            standing = told.understood.standing
    assert told.is_answered, told.reason
    return told.plans[0]


@pytest.mark.parametrize(
    ("question", "begin", "end"),
    [
        ("tickets created this morning", "2026-06-16T22:00:00Z", "2026-06-17T10:00:00Z"),
        ("tasks due tomorrow morning", "2026-06-17T22:00:00Z", "2026-06-18T10:00:00Z"),
        ("leads created yesterday afternoon", "2026-06-16T10:00:00Z", "2026-06-16T16:00:00Z"),
        ("tickets solved on monday evening", "2026-06-15T16:00:00Z", "2026-06-15T22:00:00Z"),
        ("tickets created in early May", "2026-04-30T22:00:00Z", "2026-05-10T22:00:00Z"),
        ("tickets created this wk", "2026-06-14T22:00:00Z", "2026-06-21T22:00:00Z"),
    ],
)  # fmt: skip
def test_records_are_of_the_time_that_is_said(
    app: Flask, question: str, begin: str, end: str
) -> None:
    text = condition_text(_plan(app, question)) or ""
    assert f" ge {begin}" in text
    assert f" lt {end}" in text


@pytest.mark.parametrize(
    ("question", "current", "previous"),
    [
        ("mtd billing against the same days of last month",
         ("2026-06-01", "2026-06-18"), ("2026-05-01", "2026-05-18")),
        ("revenue this quarter vs the same period last quarter",
         ("2026-04-01", "2026-07-01"), ("2026-01-01", "2026-04-01")),
        ("how much did revenue grow in may over april",
         ("2026-05-01", "2026-06-01"), ("2026-04-01", "2026-05-01")),
        ("did we win more deals this month than in the one before",
         ("2026-06-01", "2026-07-01"), ("2026-05-01", "2026-06-01")),
    ],
)  # fmt: skip
def test_like_is_compared_with_like(
    app: Flask, question: str, current: tuple[str, str], previous: tuple[str, str]
) -> None:
    plan = _plan(app, question)
    assert plan.period is not None
    assert plan.compared is not None
    assert (str(plan.period.start), str(plan.period.end)) == current
    assert (str(plan.compared.start), str(plan.compared.end)) == previous


@pytest.mark.parametrize(
    ("day", "question"),
    [
        (date(2026, 6, 15), "tickets solved this week"),
        (date(2026, 6, 1), "revenue this month"),
        (date(2026, 1, 1), "revenue this year"),
    ],
)
def test_what_begins_today_is_not_still_to_come(app: Flask, day: date, question: str) -> None:
    with app.app_context(), acting_as(system_caller("test")):
        plan = propose(question, Calendar(day)).plans[0]
    assert plan.period is not None
    assert plan.period.start == day


def test_a_weekday_lies_ahead_where_the_question_before_did(app: Flask) -> None:
    ahead = _plan(app, "and friday?", "tasks due tomorrow")
    over = _plan(app, "and friday?", "tickets solved yesterday")
    assert ahead.period is not None
    assert over.period is not None
    assert str(ahead.period.start) == "2026-06-19"
    assert str(over.period.start) == "2026-06-12"


@pytest.mark.parametrize("question", ["drafts since monday", "Entwürfe seit Montag"])
def test_drafts_are_of_the_day_of_their_making(app: Flask, question: str) -> None:
    assert _plan(app, question).date == "createdAt"


@pytest.mark.parametrize(
    "question",
    [
        "open tickets compared to a month ago",
        "how many open deals did we have a month ago",
        "how many views did the knowledge base get last week",
        "helpful votes in May",
        "invoices issued this morning",
    ],
)
def test_what_is_not_kept_is_not_answered(ask: Ask, question: str) -> None:
    assert ask(question)["status"] != "answered"


def test_late_is_late_now(ask: Ask) -> None:
    answer = ask("overdue tickets")
    assert "resolutionDueAt%20lt%20now()" in answer["query"]["odata"]
