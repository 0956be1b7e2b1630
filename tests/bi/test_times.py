"""Times as people say them: hours of a day, like for like, side by side, and what is not kept."""

from __future__ import annotations

from datetime import date

import pytest
from flask import Flask

from app.bi.nlq.understanding import understand
from app.bi.periods.spans import Calendar
from app.bi.plans.filtering import condition_text
from app.bi.plans.plan import Plan
from app.http.security import acting_as, system_caller
from tests.bi.conftest import Ask

NOW = Calendar(date(2026, 6, 17), zone="Europe/Berlin")  # a Wednesday


def _plan(app: Flask, question: str, *before: str) -> Plan:
    with app.app_context(), acting_as(system_caller("test")):
        found = understand(question, before, NOW, 1)
    assert len(found.plans) == 1, (found.reason, found.unknown, found.choices)
    return found.plans[0]


@pytest.mark.parametrize(
    ("question", "begin", "end"),
    [
        ("tickets created this morning", "2026-06-16T22:00:00Z", "2026-06-17T10:00:00Z"),
        ("leads created yesterday afternoon", "2026-06-16T10:00:00Z", "2026-06-16T16:00:00Z"),
        ("tickets solved on monday evening", "2026-06-15T16:00:00Z", "2026-06-15T22:00:00Z"),
        ("tickets opened tonight", "2026-06-17T16:00:00Z", "2026-06-17T22:00:00Z"),
        ("tasks due tomorrow morning", "2026-06-17T22:00:00Z", "2026-06-18T10:00:00Z"),
        ("tickets created in CW23", "2026-05-31T22:00:00Z", "2026-06-07T22:00:00Z"),
        ("tickets created in mid-May", "2026-05-10T22:00:00Z", "2026-05-20T22:00:00Z"),
        ("tickets created in early May", "2026-04-30T22:00:00Z", "2026-05-10T22:00:00Z"),
        ("tasks due between now and friday", "2026-06-16T22:00:00Z", "2026-06-19T22:00:00Z"),
        ("tasks due between today and the end of the month", "2026-06-16T22:00:00Z",
         "2026-06-30T22:00:00Z"),
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
         ("2026-04-01", "2026-06-18"), ("2026-01-01", "2026-03-18")),
        ("how much did revenue grow in may over april",
         ("2026-05-01", "2026-06-01"), ("2026-04-01", "2026-05-01")),
        ("is revenue up this quarter over the last",
         ("2026-04-01", "2026-07-01"), ("2026-01-01", "2026-04-01")),
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
    "question", ["revenue in april, may and june", "tickets created in January, February and March"]
)
def test_months_in_a_row_are_side_by_side(app: Flask, question: str) -> None:
    plan = _plan(app, question)
    assert plan.grain == "month"
    assert plan.period is not None
    assert plan.period.start is not None
    assert plan.period.end is not None
    assert (plan.period.end - plan.period.start).days > 80
    assert plan.unsure


@pytest.mark.parametrize(
    ("day", "question"),
    [
        (date(2026, 6, 15), "tickets solved this week"),
        (date(2026, 6, 1), "revenue this month"),
        (date(2026, 1, 1), "deals won this year"),
    ],
)
def test_what_begins_today_is_not_still_to_come(app: Flask, day: date, question: str) -> None:
    with app.app_context(), acting_as(system_caller("test")):
        (plan,) = understand(question, (), Calendar(day), 1).plans
    assert plan.period is not None
    assert plan.period.start == day
    assert not plan.unsure


def test_a_weekday_lies_ahead_where_the_question_before_did(app: Flask) -> None:
    ahead = _plan(app, "and friday?", "tasks due tomorrow")
    over = _plan(app, "and friday?", "tickets solved yesterday")
    assert ahead.period is not None
    assert over.period is not None
    assert str(ahead.period.start) == "2026-06-19"
    assert str(over.period.start) == "2026-06-12"


@pytest.mark.parametrize("question", ["drafts since monday", "drafts created since monday"])
def test_drafts_are_of_the_day_of_their_making(app: Flask, question: str) -> None:
    assert _plan(app, question).date == "createdAt"


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("how many customers did we have at the end of last year", "createdAt lt 2025-12-31T23"),
        ("how many contacts were there a year ago", "createdAt lt 2025-06-16T22"),
        ("how many articles were there at the start of this year", "createdAt lt 2025-12-31T23"),
    ],
)
def test_how_many_there_were_is_how_many_had_been_made(
    app: Flask, question: str, text: str
) -> None:
    assert text in (condition_text(_plan(app, question)) or "")


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


@pytest.mark.parametrize(
    ("question", "choice"),
    [
        ("tickets from the other day", "Tickets in the last 7 days"),
        ("tickets created last night", "Tickets created yesterday evening"),
        ("leads created lately", "Leads created in the last 14 days"),
        ("deals closing soon", "Deals closing in the next 7 days"),
    ],
)
def test_a_time_that_nobody_can_tell_is_asked_for(ask: Ask, question: str, choice: str) -> None:
    answer = ask(question)
    assert answer["status"] == "needsClarification"
    assert choice in answer["alternatives"]


def test_late_is_late_now(ask: Ask) -> None:
    answer = ask("overdue tickets")
    assert "resolutionDueAt%20lt%20now()" in answer["query"]["odata"]
