"""Days, weeks and months of instants are those of the organisation's clocks, on both databases."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine
from flask import Flask

from app.bi.answering import answer_question
from app.db.engines import transaction
from app.http.security import acting_as, system_caller
from app.settings import save_settings
from tests.factories import make_client, make_ticket

pytestmark = pytest.mark.both_databases

MOMENT = datetime(2026, 6, 17, 10, 0, tzinfo=UTC)
# Summer time in Berlin: 22:30 UTC is half past midnight. In winter it is half past eleven.
CREATED = (
    datetime(2026, 5, 31, 22, 30, tzinfo=UTC),
    datetime(2026, 1, 31, 22, 30, tzinfo=UTC),
    datetime(2026, 6, 14, 21, 30, tzinfo=UTC),
    datetime(2026, 6, 14, 22, 30, tzinfo=UTC),
)


@pytest.fixture
def berlin(app: Flask) -> None:
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        save_settings("defaults", {"timeZone": "Europe/Berlin"})
        client = make_client()
        for moment in CREATED:
            with time_machine.travel(moment, tick=False):
                make_ticket(client_id=client)


def rows(app: Flask, question: str) -> list[dict[str, Any]]:
    with (
        app.app_context(),
        acting_as(system_caller("test")),
        time_machine.travel(MOMENT, tick=False),
    ):
        answer = answer_question(question)
        assert answer["status"] == "answered", answer
        found: list[dict[str, Any]] = answer["rows"]
        return found


@pytest.mark.parametrize("question", ["tickets by month", "tickets by month this year"])
def test_months_begin_at_midnight_of_the_organisation(
    app: Flask, berlin: None, question: str
) -> None:
    assert [(row["year"], row["month"], row["count"]) for row in rows(app, question)] == [
        (2026, 1, 1), (2026, 6, 3),
    ]  # fmt: skip


def test_days_and_weeks_too(app: Flask, berlin: None) -> None:
    days = [(row["day"], row["count"]) for row in rows(app, "tickets by day this month")]
    assert days == [("2026-06-01", 1), ("2026-06-14", 1), ("2026-06-15", 1)]
    weeks = [row["count"] for row in rows(app, "tickets by week in June 2026")]
    assert weeks == [1, 1, 1]
    assert rows(app, "how many tickets were created this week") == [{"count": 1}]
