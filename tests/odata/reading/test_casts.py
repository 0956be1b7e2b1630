"""Casts, and values that are equal to nothing or that are not there."""

from __future__ import annotations

from collections.abc import Callable
from datetime import time

import pytest

from tests.odata.reading.conftest import Client
from tests.odata.reading.model import item_rows

ROWS = item_rows()
Ids = Callable[[str], list[int]]


@pytest.mark.parametrize(
    "text",
    [
        "cast('2026-01-31',Edm.Date) eq 2026-01-31",
        "cast('2026-01-31T10:00:00%2B02:00',Edm.DateTimeOffset) eq 2026-01-31T08:00:00Z",
        "cast('10:30:00.5',Edm.TimeOfDay) eq 10:30:00.500",
        "cast('P1DT1H',Edm.Duration) eq duration'PT25H'",
        "cast('01234567-89AB-cdef-0123-456789abcdef',Edm.Guid) eq"
        " 01234567-89ab-cdef-0123-456789abcdef",
        "cast('AQID',Edm.Binary) eq binary'AQID'",
        "cast('1.5e2',Edm.Double) eq 150",
        "cast('-INF',Edm.Double) lt 0",
        "cast('1.5',Edm.Single) eq 1.5",
        "year(cast('2026-01-31',Edm.Date)) eq 2026",
        "cast('2026-01-31',Edm.Date) add duration'P1D' eq 2026-02-01",
        "cast(2024-02-29,Edm.DateTimeOffset) eq 2024-02-29T00:00:00Z",
    ],
)
def test_text_literals_become_values_of_every_type(ids: Ids, text: str) -> None:
    assert len(ids(text)) == len(ROWS)


@pytest.mark.parametrize(
    ("type_", "text"),
    [
        ("Date", "2026-02-30"), ("Date", "20260131"), ("Date", ""), ("Date", "10000-01-01"),
        ("DateTimeOffset", "2026-01-31"), ("TimeOfDay", "25:00:00"), ("Duration", "P1Y"),
        ("Guid", "1"), ("Binary", "A"), ("Double", "x"), ("Double", "NaN"), ("Double", "1e999"),
    ],
)  # fmt: skip
def test_a_text_that_is_no_such_value_becomes_null(ids: Ids, type_: str, text: str) -> None:
    assert len(ids(f"cast('{text}',Edm.{type_}) eq null")) == len(ROWS)


def test_one_plan_serves_texts_that_are_values_and_others(client: Client) -> None:
    for text, count in (("2024-02-29", None), ("x", 0), ("2024-02-29", None), ("1999-12-31", None)):
        query = f"Items?$filter=made eq cast('{text}',Edm.Date) and made ne null&$select=id"
        expected = [row["id"] for row in ROWS if row["made"] and row["made"].isoformat() == text]
        assert client.values(query) == expected and (count is None or not expected)


def test_an_instant_is_cast_to_its_time_of_day(ids: Ids) -> None:
    expected = [row["id"] for row in ROWS if row["at"].time() == time(23, 59, 59, 999000)]
    assert expected and ids("cast(at,Edm.TimeOfDay) eq 23:59:59.999") == expected


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("NaN eq NaN", False), ("NaN ne NaN", True), ("NaN ge NaN", False), ("NaN gt 1", False),
        ("1 lt NaN", False), ("1 ne NaN", True), ("NaN in (NaN)", False), ("INF eq INF", True),
        ("INF in (NaN,INF)", True), ("weight in (NaN)", False),
    ],
)  # fmt: skip
def test_nan_is_equal_to_nothing(ids: Ids, text: str, holds: bool) -> None:
    assert len(ids(text)) == (len(ROWS) if holds else 0)


@pytest.mark.parametrize(
    "text",
    [
        "price add null eq null", "null mul count eq null", "null div 2 eq null",
        "null add null eq null", "-(null) eq null", "not (price sub null gt 0)",
        "at add null eq null", "duration'PT1S' mul null eq null", "made sub null eq null",
    ],
)  # fmt: skip
def test_arithmetic_with_null_is_null(ids: Ids, text: str) -> None:
    assert len(ids(text)) == len(ROWS)
