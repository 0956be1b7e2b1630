"""``aggregate(... from ...)``: short for a sequence of groupby and aggregate."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from tests.odata.reading.conftest import Client, without_types

Row = dict[str, Any]


def result(client: Client, apply: str, rest: str = "") -> list[Row]:
    answer = client.answer("Items", f"$apply={apply}{rest}")
    assert answer.status == 200, answer.body
    value: list[Row] = without_types(json.loads(answer.body, parse_float=Decimal)["value"])
    return value


SHORT = {
    "average of sums": (
        "aggregate(price with sum from level with average as x)",
        "groupby((level),aggregate(price with sum as y))/aggregate(y with average as x)",
    ),
    "by two": (
        "aggregate(price with sum from level,active with max as x)",
        "groupby((level,active),aggregate(price with sum as y))/aggregate(y with max as x)",
    ),
    "of counts": (
        "aggregate($count as n,$count from level with max as x)",
        "groupby((level),aggregate($count as y))/aggregate(y with max as x,y with sum as n)",
    ),
    "behind navigation": (
        "aggregate(price with max from Maker/name with sum as x)",
        "groupby((Maker/name),aggregate(price with max as y))/aggregate(y with sum as x)",
    ),
    "in two steps": (
        "aggregate(price with sum from active with max from level with average as x)",
        "groupby((level,active),aggregate(price with sum as y))"
        "/groupby((level),aggregate(y with max as z))/aggregate(z with average as x)",
    ),
    "of groups": (
        "groupby((checked),aggregate(price with sum from level with max as x))",
        "groupby((checked,level),aggregate(price with sum as y))"
        "/groupby((checked),aggregate(y with max as x))",
    ),
    "of groups behind navigation": (
        "groupby((Maker/name),aggregate(price with sum from level with min as x))",
        "groupby((Maker/name,level),aggregate(price with sum as y))"
        "/groupby((Maker/name),aggregate(y with min as x))",
    ),
    "by the key of the group": (
        "groupby((level),aggregate(price with sum from level with max as x))",
        "groupby((level),aggregate(price with sum as x))",
    ),
    "under the name of what it is from": (
        "aggregate(price with sum from level with max as level)",
        "groupby((level),aggregate(price with sum as y))/aggregate(y with max as level)",
    ),
    "of some rows": (
        "groupby((level),filter(active)/aggregate($count from checked with average as x))",
        "filter(active)/groupby((level,checked),aggregate($count as y))"
        "/groupby((level),aggregate(y with average as x))",
    ),
    "of nothing": (
        "filter(false)/aggregate(price with sum from level with max as x)",
        "filter(false)/groupby((level),aggregate(price with sum as y))/aggregate(y with max as x)",
    ),
}


@pytest.mark.parametrize(("short", "long"), SHORT.values(), ids=SHORT)
def test_it_is_short_for_two_transformations(client: Client, short: str, long: str) -> None:
    ordered = "" if "groupby((" not in short else "&$orderby=x"
    rows, expected = result(client, short, ordered), result(client, long, ordered)
    assert sorted(map(str, map(sorted_row, rows))) == sorted(map(str, map(sorted_row, expected)))
    assert rows


def sorted_row(row: Row) -> list[tuple[str, Any]]:
    return sorted(row.items(), key=lambda pair: pair[0])


def test_it_stands_beside_others_in_their_order(client: Client) -> None:
    rows = result(
        client,
        "groupby((level),aggregate(price with sum from active with max as most,$count as n,"
        "price with sum as total,price with sum from checked with min as least))",
        "&$filter=n gt 1&$orderby=level",
    )
    assert [list(row) for row in rows] == [["level", "most", "n", "total", "least"]] * len(rows)
    totals = result(
        client, "groupby((level),aggregate(price with sum as total))", "&$orderby=level"
    )
    assert [row["total"] for row in rows] == [row["total"] for row in totals]
    assert all(row["least"] <= row["most"] <= row["total"] for row in rows)


def test_groups_without_a_key_keep_theirs(client: Client) -> None:
    found = result(client, "groupby((note),aggregate($count from level with sum as n))")
    counts = result(client, "groupby((note),aggregate($count as n))")
    assert {row["note"]: row["n"] for row in found} == {row["note"]: row["n"] for row in counts}
    assert None in {row["note"] for row in found}


def test_totals_are_rolled_up(client: Client) -> None:
    rows = result(
        client, "groupby((rollup($all,level)),aggregate(price with sum from active with max as x))"
    )
    (whole,) = result(client, "aggregate(price with sum from active with max as x)")
    assert [row["x"] for row in rows if "level" not in row] == [whole["x"]]


@pytest.mark.parametrize(
    ("apply", "words"),
    [
        ("aggregate(price with sum from level as x)", "say how to aggregate"),
        ("aggregate(price with sum from level with average)", "as"),
        ("aggregate(price with sum from nam with average as x)", "did you mean 'name'"),
        ("aggregate(name with max from level with sum as x)", "sum does not take Edm.String"),
        (
            f"aggregate({','.join(f'$count from level with max as x{n}' for n in range(30))})",
            "more than 24 parts",
        ),
    ],
)
def test_what_is_refused(client: Client, apply: str, words: str) -> None:
    error = client.refused(f"Items?$apply={apply}")
    assert error["status"] == 400
    assert words in error["message"]
