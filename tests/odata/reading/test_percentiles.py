"""Medians and percentiles: custom methods of ``aggregate``, exact on both databases."""

from __future__ import annotations

import json
from collections import defaultdict
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from tests.odata.reading import model
from tests.odata.reading.conftest import Client, without_types

ROWS = model.item_rows()
NAMESPACE = model.CONTAINER.namespace
PERCENTS = (1, 10, 25, 33, 50, 75, 90, 95, 99)


def result(client: Client, query: str) -> list[dict[str, Any]]:
    answer = client.answer("Items", query)
    assert answer.status == 200, answer.body
    rows: list[dict[str, Any]] = without_types(
        json.loads(answer.body, parse_float=Decimal)["value"]
    )
    return rows


def percentile(values: list[Any], percent: int) -> Fraction | None:
    """By its definition, in exact numbers."""
    if not values:
        return None
    ordered = sorted(map(Fraction, values))
    place = Fraction((len(ordered) - 1) * percent, 100)
    lower = int(place)
    upper = min(lower + 1, len(ordered) - 1)
    return ordered[lower] + (ordered[upper] - ordered[lower]) * (place - lower)


def values_of(rows: list[dict[str, Any]], name: str) -> list[Any]:
    return [row[name] for row in rows if row[name] is not None]


@pytest.mark.parametrize("name", ["price", "cost", "size", "weight"])
def test_of_each_group_as_defined(client: Client, name: str) -> None:
    groups = defaultdict(list)
    for row in ROWS:
        groups[row["level"]].append(row)
    methods = ",".join(
        f"{name} with {NAMESPACE}.percentile{percent} as p{percent}" for percent in PERCENTS
    )
    rows = result(client, f"$apply=groupby((level),aggregate({methods}))")
    assert len(rows) == len(groups)
    for row in rows:
        values = values_of(groups[row["level"]], name)
        for percent in PERCENTS:
            expected, answer = percentile(values, percent), row[f"p{percent}"]
            if name == "weight" and expected is not None:
                assert float(answer) == pytest.approx(float(expected), rel=1e-12)
            else:
                assert (None if answer is None else Fraction(answer)) == expected, (row, percent)


def test_the_median_is_the_fiftieth_percentile_and_of_nothing_null(client: Client) -> None:
    median = f"price with {NAMESPACE}.median as m"
    both = f"{median},price with {NAMESPACE}.percentile50 as p"
    (row,) = result(client, f"$apply=aggregate({both})")
    assert Fraction(row["m"]) == Fraction(row["p"]) == percentile(values_of(ROWS, "price"), 50)
    assert result(client, f"$apply=filter(false)/aggregate({median})") == [{"m": None}]


def test_a_median_goes_on_as_any_value_does(client: Client) -> None:
    rows = result(
        client,
        f"$apply=groupby((level),aggregate(price with {NAMESPACE}.median as m))"
        "/filter(m gt 0)/orderby(m desc)/top(1)",
    )
    of_sums = f"price with sum from level with {NAMESPACE}.median as m"
    sums = result(client, f"$apply=aggregate({of_sums})")
    groups = defaultdict(list)
    for row in ROWS:
        groups[row["level"]].append(row["price"])
    medians = [percentile(prices, 50) for prices in groups.values()]
    assert Fraction(rows[0]["m"]) == max(filter(None, medians))
    assert Fraction(sums[0]["m"]) == percentile([sum(prices) for prices in groups.values()], 50)


@pytest.mark.parametrize(
    ("method", "status", "part"),
    [
        ("Other.median", 501, "Other.median is not offered"),
        ("percentile0", 400, "percentile0"),
        ("{ns}.percentile0", 501, "percentile1 to percentile99"),
        ("{ns}.percentile100", 501, "percentile1 to percentile99"),
        ("{ns}.percentile", 501, "percentile1 to percentile99"),
        ("{ns}.sum", 501, "median"),
        ("median", 400, "qualified name"),
    ],
)
def test_other_methods_are_refused(client: Client, method: str, status: int, part: str) -> None:
    named = method.format(ns=NAMESPACE)
    answer = client.answer("Items", f"$apply=aggregate(price with {named} as m)")
    assert answer.status == status
    assert part in json.loads(answer.body)["error"]["message"]


def test_of_text_is_refused(client: Client) -> None:
    answer = client.answer("Items", f"$apply=aggregate(name with {NAMESPACE}.median as m)")
    assert answer.status == 400
    assert "does not take" in json.loads(answer.body)["error"]["message"]
