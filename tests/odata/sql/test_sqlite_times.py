"""Arithmetic of instants, dates and durations, as SQLite is taught it."""

from __future__ import annotations

import pytest

from app.odata.sql import sqlite_functions as times

DAY = 86_400_000_000


def test_instants_move_and_are_apart() -> None:
    noon = "2024-02-28T12:00:00.000Z"
    assert times.add_to_instant(noon, DAY + 1_500) == "2024-02-29T12:00:00.001Z"
    assert times.between_instants("2024-02-29T12:00:00.000Z", noon) == DAY
    assert times.between_instants(noon, "2024-02-29T12:00:00.000Z") == -DAY


def test_a_part_of_a_day_moves_no_date_forward_but_one_back() -> None:
    assert times.add_to_date("2024-02-28", DAY // 2) == "2024-02-28"
    assert times.add_to_date("2024-03-01", -1) == "2024-02-29"
    assert times.between_dates("2024-03-01", "2024-02-28") == 2 * DAY


def test_beyond_the_years_there_are_is_null() -> None:
    assert times.add_to_instant("9999-12-31T23:59:59.000Z", DAY) is None
    assert times.add_to_date("0001-01-01", -1) is None


@pytest.mark.parametrize(
    ("microseconds", "text"),
    [(93_784_500_000, "PT93784.5S"), (-1, "-PT0.000001S"), (0, "PT0S")],
)
def test_a_duration_is_written_in_seconds(microseconds: int, text: str) -> None:
    assert times.duration_text(microseconds) == text
