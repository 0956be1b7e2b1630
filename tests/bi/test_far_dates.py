"""Dates at the edges of the calendar: an answer or a refusal, and the same on both databases."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from flask import Flask

from app.ai.free_text import read_text
from app.bi.periods.spans import FURTHEST_AHEAD, FURTHEST_BACK, clock_shifts, midnight
from app.db.engines import transaction
from app.http.security import acting_as, system_caller
from app.settings import save_settings
from tests.bi.conftest import Ask
from tests.contract.conftest import Api

UNREAD = (
    "9999-12-31", "invoices since 9999-12-31", "invoices before 9999-12-31",
    "clients created after 9999-12-31", "tickets created on 9999-12-31",
    "tickets before 0001-01-01", "tickets since 0999-12-31", "tasks due by 9999-12-31",
    "9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00",
    "revenue on 0001-01-01 versus the year before", "revenue on 9999-12-31 compared with last year",
    "revenue by month between 9999-01-01 and 9999-12-31", "tickets per day since 0001-01-01",
    "invoices in 9999", "invoices Q4 9999", "invoices due in the next 100000 years",
    "invoices in the last 99999999 days", "invoices since year 0", "tickets since the year 10000",
    "invoices due in 3000 weeks", "tickets older than 100000 weeks", "invoices since 2023-02-29",
)  # fmt: skip
# What is asked, and how many there are.
READ = (
    ("tickets before 1000-01-01", 0), ("tickets since 1000-01-01", 4),
    ("tickets before 9998-12-31", 4), ("invoices due after 9998-12-31", 0),
    ("tickets in the last 1200 years", 4), ("tickets 1200 years ago", 0),
    ("tickets older than 1000 years", 0),
    ("tickets between 1000-01-01 and 9998-12-31", 4), ("invoices due on 2024-02-29", 0),
)  # fmt: skip


def _zone(app: Flask, name: str) -> None:
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        save_settings("defaults", {"timeZone": name})


def test_days_that_lead_out_of_the_calendar_are_said_not_to_be_understood(ask: Ask) -> None:
    statuses = {question: ask(question)["status"] for question in UNREAD}
    assert set(statuses.values()) == {"unsupported"}, statuses


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "Pacific/Kiritimati"])
def test_days_of_far_years_are_answered(app: Flask, ask: Ask, zone: str) -> None:
    _zone(app, zone)
    answers = {question: ask(question) for question, _ in READ}
    assert {text: answer["status"] for text, answer in answers.items()} == dict.fromkeys(
        answers, "answered"
    )
    assert [(text, answers[text]["rowCount"]) for text, _ in READ] == list(READ)


@pytest.mark.parametrize(
    "period", ["since 1000-01-01", "until 9998-12-31", "between 1000-01-01 and 9998-12-31"]
)
def test_months_of_centuries_are_told_where_the_clocks_change(
    app: Flask, ask: Ask, period: str
) -> None:
    _zone(app, "Europe/Berlin")
    answer = ask(f"tickets by month {period}")
    assert answer["status"] == "answered"
    assert sum(row["count"] for row in answer["rows"]) == 4


def test_a_report_and_the_assistant_take_such_questions(admin: Api, business: None) -> None:
    report = admin.post("/api/bi/reports", {"name": "Far", "question": "invoices since 9999-12-31"})
    assert report.status_code == 400
    assert report.json["error"]["details"][0]["field"] == "question"
    for message in ("9999-12-31", "invoices since 9999-12-31", "9999-12-31T23:59:59-14:00"):
        said = admin.post("/api/ai/chat", {"message": message})
        assert (said.status_code, said.json["status"]) == (200, "completed")


@pytest.mark.parametrize(
    ("said", "day"),
    [("0001-01-01", None), ("9999-12-31", None), ("2023-02-29", None),
     ("1000-01-01", date(1000, 1, 1)), ("2028-02-29", date(2028, 2, 29))],
)  # fmt: skip
def test_a_task_is_due_on_a_day_that_it_can_keep(app: Flask, said: str, day: date | None) -> None:
    rest = f"call Eva by {said}" if day is None else "call Eva"
    with app.app_context():
        task = read_text(f"remind me to call Eva by {said}", "en", "task")
    assert task is not None
    assert (task.text, task.due.day) == (rest, day)


@pytest.mark.parametrize(
    ("day", "zone", "instant"),
    [
        (date(1, 1, 1), "UTC", "0001-01-01T00:00:00Z"),
        (date(1, 1, 1), "Europe/Berlin", "0001-01-01T00:00:00Z"),
        (date(110, 5, 12), "UTC", "0110-05-12T00:00:00Z"),
        (date(9999, 12, 31), "America/New_York", "9999-12-31T05:00:00Z"),
    ],
)
def test_midnights_of_far_days_have_four_digits(day: date, zone: str, instant: str) -> None:
    assert midnight(day, zone) == instant


def test_changes_of_the_clocks_are_counted_for_some_decades_only() -> None:
    today = date(2026, 6, 17)
    shifts = clock_shifts("Europe/Berlin", today, date(1000, 1, 1), date(9999, 12, 31))
    years = [int(shift.until[:4]) for shift in shifts[:-1]]
    assert (years[0], years[-1]) == (2026 - FURTHEST_BACK, 2026 + FURTHEST_AHEAD)
    some: list[Any] = clock_shifts("Europe/Berlin", today, date(1000, 1, 1), date(1000, 2, 1))
    assert len(some) == 1
