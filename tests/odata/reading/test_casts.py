"""Casts, and values that are equal to nothing or that are not there."""

from __future__ import annotations

from collections.abc import Callable
from datetime import time
from decimal import Decimal
from typing import Any

import pytest

from tests.odata.reading.conftest import Client
from tests.odata.reading.model import LEVELS, item_rows

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
        "cast('1e5',Edm.Decimal) eq 100000 and cast('1.5E-1',Edm.Decimal) eq 0.15",
        "cast('1e5',Edm.Double) eq 100000 and cast('INF',Edm.Double) gt 1e300",
        "cast('TRUE',Edm.Boolean) and not cast('False',Edm.Boolean)",
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
        ("Double", "inf"), ("Decimal", "INF"), ("Int32", "1e2"), ("Boolean", "1"),
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


Row = dict[str, Any]


def known(value: object) -> bool:
    return value is not None


@pytest.mark.parametrize(
    ("text", "predicate"),
    [
        ("cast(null,Edm.Int32) eq null", lambda r: True),
        ("cast(name,Edm.String) eq name", lambda r: True),
        ("cast(count,Edm.Double) divby 2 eq 0.5", lambda r: r["count"] == 1),
        ("cast(count,Edm.Decimal) eq 4", lambda r: r["count"] == 4),
        ("cast(weight,Edm.Decimal) eq 0.1", lambda r: r["weight"] == 0.1),
        ("cast(weight,Edm.Decimal) eq null", lambda r: r["weight"] is None),
        ("cast(weight,Edm.Int64) eq -3", lambda r: r["weight"] == -2.5),
        # 1e21 is no Edm.Int64.
        ("cast(weight,Edm.Int64) eq null", lambda r: r["weight"] in (None, 1e21)),
        ("cast(price,Edm.Int64) eq 12345679", lambda r: r["price"] == Decimal("12345678.90")),
        ("cast(note,Edm.Decimal) eq null", lambda r: True),
        ("cast(code,Edm.String) ne null", lambda r: known(r["code"])),
        ("floor(weight) eq -3", lambda r: r["weight"] == -2.5),
        ("ceiling(weight) eq -2", lambda r: r["weight"] == -2.5),
        ("isof(name,Edm.String) eq true", lambda r: True),
        ("isof(name,Edm.Int32) eq false", lambda r: True),
        ("isof(level,Workshop.Level)", lambda r: True),
        ("cast(2,Workshop.Level) eq level", lambda r: r["level"] == LEVELS[2]),
        ("cast(cast(level,Edm.Int32),Workshop.Level) eq level", lambda r: True),
        ("cast(count add 3,Workshop.Level) eq null", lambda r: r["count"] > 0),
        ("cast(size,Workshop.Level) ne null", lambda r: r["size"] in range(4)),
        ("cast('High',Workshop.Level) eq level", lambda r: r["level"] == "High"),
        ("cast(null,Workshop.Level) eq null", lambda r: True),
        ("Workshop.Level'High' gt 'Low' and 'Low' lt Workshop.Level'High'", lambda r: True),
        ("Workshop.Level'High' le Workshop.Level'Normal'", lambda r: False),
        ("Workshop.Level'High' in ('Low','High')", lambda r: True),
        ("cast(Workshop.Level'High',Edm.Int32) eq 2", lambda r: True),
        ("case(active:Workshop.Level'High') gt 'Normal'", lambda r: r["active"]),
        ("isof(place,Workshop.Place)", lambda r: known(r["street"]) or known(r["city"])),
        ("isof(place,Workshop.Line) or isof(place,Edm.String)", lambda r: False),
        ("case(active:null) eq null", lambda r: True),
        ("case(active:weight,true:1) lt 0", lambda r: r["active"] and r["weight"] == -2.5),
        ("Workshop.Item/name eq 'alpha'", lambda r: r["name"] == "alpha"),
        ("Maker/Workshop.Maker/name eq 'delta'", lambda r: r["maker_id"] == 3),
    ],
)  # fmt: skip
def test_values_of_the_rows_are_cast(
    ids: Ids, text: str, predicate: Callable[[Row], object]
) -> None:
    assert ids(text) == [row["id"] for row in ROWS if predicate(row)]


@pytest.mark.parametrize(
    ("text", "status", "words"),
    [
        ("cast(made,Edm.Boolean)", 501, "a cast from Edm.Date to Edm.Boolean is not offered"),
        ("cast(Edm.String) eq 'x'", 501, "cast of the instance itself is not offered"),
        ("cast(name,Workshop.Level) eq level", 501, "a cast from Edm.String to Level"),
        ("cast('Hi',Workshop.Level) eq level", 400, "Hi"),
        ("cast(1,Workshop.Levels) eq level", 400, "there is no cast to Workshop.Levels"),
        ("Workshop.Maker/name eq 'x'", 400, "no Item is of the type Workshop.Maker"),
        ("labels/Workshop.Maker eq 'x'", 501, "a cast to Workshop.Maker is not offered here"),
    ],
)
def test_what_is_not_cast_is_said(client: Client, text: str, status: int, words: str) -> None:
    error = client.refused(f"Items?$filter={text}")
    assert (error["status"], words in error["message"]) == (status, True)


def score(row: Row) -> Any:
    return (row["extra"] or {}).get("score")


def colour(row: Row) -> Any:
    return (row["extra"] or {}).get("colour")


@pytest.mark.parametrize(
    ("text", "predicate"),
    [
        ("tolower(extra/colour) eq 'red'", lambda r: colour(r) == "red"),
        ("extra/colour in ('red','blue')", lambda r: colour(r) in ("red", "blue")),
        ("extra/score in (5,7)", lambda r: score(r) == 5),
        ("cast(extra/score,Edm.String) eq '5'", lambda r: score(r) == 5),
        ("cast(extra/colour,Edm.Int32) eq 5", lambda r: colour(r) == 5),
        ("cast(extra/colour,Edm.String) in ('5','red')", lambda r: colour(r) in (5, "red")),
        ("cast(extra/ok,Edm.String) eq 'false'", lambda r: (r["extra"] or {}).get("ok") is False),
        ("extra/score add 1 gt 6", lambda r: known(score(r)) and score(r) > 5),
        ("-extra/score lt -5", lambda r: known(score(r)) and score(r) > 5),
        ("-(extra/score) add 5 eq 0", lambda r: score(r) == 5),
        ("extra/score gt price", lambda r: known(score(r)) and score(r) > r["price"]),
        ("extra/colour eq extra/colour", lambda r: True),
    ],
)
def test_what_is_not_declared_is_what_stands_beside_it(
    ids: Ids, text: str, predicate: Callable[[Row], object]
) -> None:
    assert ids(text) == [row["id"] for row in ROWS if predicate(row)]


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
