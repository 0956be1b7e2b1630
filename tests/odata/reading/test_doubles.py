"""Doubles at the ends of their range: INF, zero, and null for what is no number."""

from __future__ import annotations

import math
from urllib.parse import quote

import pytest

from tests.odata.reading import model
from tests.odata.reading.conftest import Client

ROWS = model.item_rows()


def value(client: Client, text: str) -> object:
    address = f"Items?$compute={quote(text)} as v&$select=v&$orderby=id&$top=1"
    return client.get(address)["value"][0]["v"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1e308 mul 10", "INF"), ("-1e308 mul 10", "-INF"), ("1e308 add 1e308", "INF"),
        ("-1e308 sub 1e308", "-INF"), ("1e308 div 1e-10", "INF"), ("1e308 divby -1e-10", "-INF"),
        ("INF add 1", "INF"), ("INF mul -1", "-INF"), ("-(1e308 mul 10)", "-INF"),
        ("1.7976931348623157e308 mul 1", 1.7976931348623157e308),
        ("1.7976931348623157e308 add 0e0", 1.7976931348623157e308),
        ("1e308 sub 1e308", 0), ("8.9e307 add 8.9e307", 1.78e308),
        ("1e-308 mul 1e-308", 0), ("1e-200 div 1e200", 0), ("1e-300 mul 1e-10", 1e-310),
        ("0e0 mul 5", 0), ("0e0 div 5", 0), ("5 div INF", 0),
        ("INF sub INF", None), ("0e0 mul INF", None), ("INF div INF", None), ("1e0 div 0", "INF"),
        ("-2.5e0 divby 0", "-INF"), ("0e0 div 0", None), ("INF div 0", "INF"), ("5 div 0e0", "INF"),
        ("NaN add 1", None), ("5.5e0 mod 2", 1.5), ("-5.5e0 mod 2", -1.5), ("5e0 mod 0", None),
        ("1e308 mul 10 sub 1e308", "INF"), ("3e0 mul 0.5", 1.5),
    ],
)  # fmt: skip
def test_a_value(client: Client, text: str, expected: object) -> None:
    assert value(client, text) == expected


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("1e308 mul 10 eq INF", True), ("1e308 mul 10 gt 1.7e308", True),
        ("INF sub INF eq null", True), ("INF sub INF eq INF sub INF", True),
        ("INF sub INF ne 5", True), ("INF sub INF gt 5", False), ("INF sub INF le 5", False),
        ("not (INF sub INF gt 5)", True), ("(INF sub INF) in (1,2)", False),
        ("NaN eq NaN", False), ("NaN ne NaN", True),
    ],
)  # fmt: skip
def test_a_condition(client: Client, text: str, holds: bool) -> None:
    expected = [row["id"] for row in ROWS] if holds else []
    assert client.values(f"Items?$filter={quote(text)}&$select=id&$orderby=id") == expected


def test_rows(client: Client) -> None:
    found = client.get("Items?$compute=weight mul 1e308 as v&$select=id,v&$orderby=v,id")["value"]
    weights = {row["id"]: row["weight"] for row in ROWS}
    for row in found:
        estimated_bytes = weights[row["id"]]
        product = None if estimated_bytes is None else estimated_bytes * 1e308
        if product is not None and math.isinf(product):
            assert row["v"] == ("INF" if product > 0 else "-INF")
        else:
            assert row["v"] == product
    total = client.get("Items?$apply=aggregate(weight mul 1e308 with max as v)")["value"]
    assert total == [{"v": "INF"}]
    grouped = client.get("Items?$apply=compute(weight mul 2 as v)/groupby((v))")["value"]
    doubled = {estimated_bytes and estimated_bytes * 2 for estimated_bytes in weights.values()}
    assert {row["v"] for row in grouped} == doubled


@pytest.mark.parametrize("operator", ["add", "mul", "div", "mod"])
def test_many_operands_are_computed_in_no_time(client: Client, operator: str) -> None:
    text = quote(f" {operator} ".join(["weight"] * 15))
    assert client.values(f"Items?$filter={text} eq 5e0 and id lt 0&$select=id") == []


def test_remainders_of_great_numbers_are_alike(client: Client) -> None:
    for text in ("1e300 mod 7", "1e18 mod 0.7e0", "-1e19 mod 3e0", "1e308 mod 1e-10"):
        value(client, text)  # the client compares both databases


# --- sums and averages ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("factor", "total", "average"),
    [
        ("1e308", "INF", 1e308),
        ("-1e308", "-INF", -1e308),
        ("1e307", "INF", 1e307),
        ("1e290", 6e291, 1e290),
        ("1e160", 6e161, 1e160),
        ("1e-310", 6e-309, 1e-310),
        ("5e-324", 60 * 5e-324, 5e-324),
        ("INF", "INF", "INF"),
        ("0e0", 0, 0),
    ],
)
def test_sums_leave_the_range_and_averages_do_not(
    client: Client, factor: str, total: object, average: object
) -> None:
    apply = f"compute({factor} mul 1 as v)/aggregate(v with sum as s,v with average as a)"
    (row,) = client.get(f"Items?$apply={quote(apply)}")["value"]
    if isinstance(total, str):
        assert row["s"] == total
    else:
        assert row["s"] == pytest.approx(total, rel=1e-12, abs=0)
    if isinstance(average, str):
        assert row["a"] == average
    else:
        assert row["a"] == pytest.approx(average, rel=1e-12, abs=0)


def test_a_sum_may_leave_the_range_and_come_back(client: Client) -> None:
    sign = "case(id le 30:1e308,true:-1e308)"
    for expression, expected in ((sign, 0), (f"{sign} mul case(id eq 60:0,true:1)", 1e308)):
        apply = f"compute({expression} as v)/aggregate(v with sum as s)"
        assert client.get(f"Items?$apply={quote(apply)}")["value"] == [{"s": expected}]


def test_sums_that_are_no_number_are_null(client: Client) -> None:
    opposite = "compute(case(id eq 1:INF,id eq 2:-INF,true:1e0) as v)"
    apply = f"{opposite}/aggregate(v with sum as s,v with average as a)"
    assert client.get(f"Items?$apply={quote(apply)}")["value"] == [{"s": None, "a": None}]
    assert client.get(f"Items?$apply=filter(false)/{quote(apply)}")["value"] == [
        {"s": None, "a": None}
    ]


def test_sums_of_groups_and_of_related_rows(client: Client) -> None:
    apply = "groupby((active),aggregate(weight mul 1e300 with sum as s,$count as n))"
    rows = client.get(f"Items?$apply={quote(apply)}&$orderby=active")["value"]
    expected = []
    for active in (False, True):
        weights = [row["weight"] for row in ROWS if row["active"] is active]
        total = sum((one or 0) * 1e300 for one in weights)
        expected.append("INF" if math.isinf(total) else total)
    assert [row["s"] for row in rows] == expected
    related = quote("Items/aggregate(weight mul 1e300 with sum)")
    totals = client.values(f"Makers?$compute={related} as s&$select=s", "s")
    assert "INF" in totals


@pytest.mark.parametrize(
    ("extremes", "count"),
    [("topsum(INF,v)", 2), ("topsum(1.5e308,v)", 2), ("bottomsum(1e308,v)", 1)],
)
def test_running_sums_leave_the_range(client: Client, extremes: str, count: int) -> None:
    apply = quote(f"compute(1e308 mul 1 as v)/{extremes}/aggregate($count as n)")
    assert client.get(f"Items?$apply={apply}")["value"] == [{"n": count}]
