"""Periods in words, on Wednesday, 2026-06-17."""

from __future__ import annotations

from datetime import date

import pytest
from flask import Flask

from app.bi.periods.feasts import easter
from app.bi.periods.spans import Calendar, add_months, midnight
from app.bi.questions.answering import propose
from app.bi.questions.understanding import understanding_of
from app.bi.words.tokens import tokenise
from app.http.security import acting_as, system_caller
from bench.nlq import HIGH
from tests.bi.conftest import Ask

NOW = Calendar(date(2026, 6, 17), fiscal_month=4)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("today", "2026-06-17", "2026-06-18"),
        ("yesterday", "2026-06-16", "2026-06-17"),
        ("this week", "2026-06-15", "2026-06-22"),
        ("last week", "2026-06-08", "2026-06-15"),
        ("next week", "2026-06-22", "2026-06-29"),
        ("week 12", "2026-03-16", "2026-03-23"),
        ("calendar week 1 of 2025", "2024-12-30", "2025-01-06"),
        ("this month", "2026-06-01", "2026-07-01"),
        ("last month", "2026-05-01", "2026-06-01"),
        ("the previous quarter", "2026-01-01", "2026-04-01"),
        ("Q4", "2025-10-01", "2026-01-01"),
        ("Q2", "2026-04-01", "2026-07-01"),
        ("Q4 25", "2025-10-01", "2026-01-01"),
        ("the second half", "2025-07-01", "2026-01-01"),
        ("since the 1st", "2026-06-01", None),
        ("since the 20th", "2026-05-20", None),
        ("from march on", "2026-03-01", None),
        ("this year", "2026-01-01", "2027-01-01"),
        ("last year", "2025-01-01", "2026-01-01"),
        ("last fiscal year", "2025-04-01", "2026-04-01"),
        ("this fiscal year", "2026-04-01", "2027-04-01"),
        ("fiscal year 2025", "2025-04-01", "2026-04-01"),
        ("the last 30 days", "2026-05-19", "2026-06-18"),
        ("past two weeks", "2026-06-04", "2026-06-18"),
        ("last 3 months", "2026-03-18", "2026-06-18"),
        ("next 14 days", "2026-06-17", "2026-07-01"),
        ("3 months ago", "2026-03-01", "2026-04-01"),
        ("ytd", "2026-01-01", "2026-06-18"),
        ("in March", "2026-03-01", "2026-04-01"),
        ("in August", "2025-08-01", "2025-09-01"),
        ("March 2024", "2024-03-01", "2024-04-01"),
        ("5 March 2026", "2026-03-05", "2026-03-06"),
        ("March 5th", "2026-03-05", "2026-03-06"),
        ("on 2026-02-03", "2026-02-03", "2026-02-04"),
        ("Q1", "2026-01-01", "2026-04-01"),
        ("Q4 2025", "2025-10-01", "2026-01-01"),
        ("the first quarter of 2025", "2025-01-01", "2025-04-01"),
        ("second half of last year", "2025-07-01", "2026-01-01"),
        ("H1 2026", "2026-01-01", "2026-07-01"),
        ("in 2025", "2025-01-01", "2026-01-01"),
        ("between January and March 2026", "2026-01-01", "2026-04-01"),
        ("from November to January 2026", "2025-11-01", "2026-02-01"),
        ("since March", "2026-03-01", None),
        ("since the end of March", "2026-04-01", None),
        ("since the start of the year", "2026-01-01", None),
        ("before the end of 2025", None, "2026-01-01"),
        ("by Friday", None, "2026-06-13"),
        ("by the beginning of May", None, "2026-05-01"),
        ("after 2026-03-01", "2026-03-02", None),
        ("before 2026", None, "2026-01-01"),
        ("until 2026-03-31", None, "2026-04-01"),
        ("since christmas", "2025-12-25", None),
        ("since new year", "2026-01-01", None),
        ("since New Year's Eve", "2025-12-31", None),
        ("since easter", "2026-04-05", None),
        ("after Easter Monday 2025", "2025-04-22", None),
        ("on Good Friday", "2026-04-03", "2026-04-04"),
        ("before Christmas", None, "2025-12-25"),
        ("between christmas and new year", "2025-12-25", "2026-01-02"),
        ("between 9 may and 5 june", "2026-05-09", "2026-06-06"),
    ],
)
def test_a_period_is_a_half_open_range(text: str, start: str | None, end: str | None) -> None:
    tokens = tokenise(text)
    found = understanding_of("en").lexicon.reader.read(tokens, 0, NOW)
    assert found is not None
    length, period = found
    assert length == len(tokens)
    assert (period.start and str(period.start), period.end and str(period.end)) == (start, end)


@pytest.mark.parametrize(
    "text",
    ["the client", "last 5 invoices", "2026-02-30", "31 February 2026", "Q5", "next",
     "last 99999 years", "between 5 and 6",
     "Mars", "in Mays", "on Mondays", "christmas", "new year", "the easter bunny"],
)  # fmt: skip
def test_other_words_are_no_period(text: str) -> None:
    found = understanding_of("en").lexicon.reader.read(tokenise(text), 0, NOW)
    assert found is None or found[0] < len(tokenise(text))


@pytest.mark.parametrize(
    ("text", "end"),
    [("between 1 and 10 July", "2026-07-11"), ("until September", "2026-10-01"),
     ("Friday", "2026-06-20"), ("by Friday", "2026-06-20"), ("in May", "2026-06-01"),
     ("before Christmas", "2026-12-25")],
)  # fmt: skip
def test_of_what_lies_ahead_it_is_the_one_to_come(text: str, end: str) -> None:
    found = understanding_of("en").lexicon.reader.read(tokenise(text), 0, NOW)
    assert found is not None
    assert str(found[1].this_year(NOW.today).end) == end


@pytest.mark.parametrize(
    ("year", "day"),
    [(2000, "04-23"), (2008, "03-23"), (2024, "03-31"), (2025, "04-20"), (2026, "04-05"),
     (2038, "04-25")],
)  # fmt: skip
def test_easter_is_the_sunday_that_the_calendar_says(year: int, day: str) -> None:
    assert str(easter(year)) == f"{year}-{day}"


def test_what_happened_since_a_feast_is_less_sure(ask: Ask, business: None) -> None:
    """It may be meant with the day itself, or from the eve on."""
    answer = ask("tickets created since christmas")
    assert answer["status"] == "answered" and answer["confidence"] < HIGH


@pytest.mark.parametrize("digits", ["9" * 20, "9" * 5000, "\u00b2" * 4, "99999"])
@pytest.mark.parametrize(
    "text", ["invoices in {}", "invoices older than {} days", "invoices older than {} years",
             "invoices in march {}", "{} months ago", "clients with revenue over {}"],
)  # fmt: skip
def test_numbers_without_end_are_no_error(app: Flask, text: str, digits: str) -> None:
    with app.app_context(), acting_as(system_caller("test")):
        assert propose(text.format(digits), NOW) is not None


def test_months_have_their_own_lengths() -> None:
    assert add_months(date(2024, 1, 31), 1) == date(2024, 2, 29)
    assert add_months(date(2026, 1, 1), -1) == date(2025, 12, 1)


def test_a_day_begins_where_the_organisation_is() -> None:
    assert midnight(date(2026, 1, 1), "Europe/Berlin") == "2025-12-31T23:00:00Z"
    assert midnight(date(2026, 7, 1), "Europe/Berlin") == "2026-06-30T22:00:00Z"
    assert midnight(date(2026, 1, 1), "UTC") == "2026-01-01T00:00:00Z"
