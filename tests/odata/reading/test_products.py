"""Sums of products of decimal columns: exact, whatever stands around the product."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from decimal import Decimal, localcontext
from typing import Any

import pytest

from tests.odata.reading import model
from tests.odata.reading.conftest import Client, without_types

ROWS = model.item_rows()
Values = Callable[[Any, Any], Any]
# An expression, and what it is of a price and a cost that is not null.
EXPRESSIONS: tuple[tuple[str, Values], ...] = (
    ("price mul cost", lambda price, cost: price * cost),
    ("price mul price", lambda price, cost: price * price),
    ("-price mul cost", lambda price, cost: -price * cost),
    ("price mul (0 sub cost)", lambda price, cost: -price * cost),
    ("(price add price) mul cost", lambda price, cost: 2 * price * cost),
    ("case(cost gt 1:price,true:-price) mul cost",
     lambda price, cost: (price if cost > 1 else -price) * cost),
    ("case(cost gt 1:price) mul cost", lambda price, cost: price * cost if cost > 1 else None),
    ("case(cost gt 1:price mul cost,true:price)",
     lambda price, cost: price * cost if cost > 1 else price),
    ("case(cost gt 1:price,true:cost)", lambda price, cost: price if cost > 1 else cost),
    ("price mul cost mul price", lambda price, cost: price * cost * price),
    ("price mul cost add cost", lambda price, cost: price * cost + cost),
)  # fmt: skip


@pytest.fixture(autouse=True)
def exact() -> Iterator[None]:
    with localcontext(prec=100):
        yield


def numbers(client: Client, apply: str) -> list[dict[str, Any]]:
    answer = client.answer("Items", f"$apply={apply}")
    assert answer.status == 200, answer.body
    rows: list[dict[str, Any]] = json.loads(answer.body, parse_float=Decimal, parse_int=Decimal)[
        "value"
    ]
    return without_types(rows)


@pytest.mark.parametrize(
    ("expression", "value"), EXPRESSIONS, ids=[text for text, _ in EXPRESSIONS]
)
def test_aggregates_of_an_expression(client: Client, expression: str, value: Values) -> None:
    methods = ("sum", "min", "max", "average", "countdistinct")
    aggregates = ",".join(f"n with {method} as {method}" for method in methods)
    parts = (
        f"filter(cost ne null)/compute({expression} as n)/groupby((level),aggregate({aggregates}))"
    )
    by_level = {row["level"]: row for row in numbers(client, parts)}
    for level in {row["level"] for row in ROWS if row["cost"] is not None}:
        values = [
            value(row["price"], row["cost"])
            for row in ROWS
            if row["level"] == level and row["cost"] is not None
        ]
        known = [each for each in values if each is not None]
        answer = by_level[level]
        if not known:
            assert answer["sum"] is answer["min"] is answer["average"] is None
            continue
        assert answer["sum"] == sum(known)
        assert (answer["min"], answer["max"]) == (min(known), max(known))
        assert answer["countdistinct"] == len(set(known))
        assert abs(answer["average"] - sum(known) / len(known)) <= Decimal("1e-12")


def test_a_product_with_null_does_not_count(client: Client) -> None:
    assert any(row["cost"] is None for row in ROWS)
    (row,) = numbers(client, "aggregate(price mul cost with sum as n)")
    assert row["n"] == sum(row["price"] * row["cost"] for row in ROWS if row["cost"] is not None)
    nothing = "filter(cost eq null)/aggregate(price mul cost with sum as n)"
    assert numbers(client, nothing) == [{"n": None}]
    assert numbers(client, "filter(false)/aggregate(price mul cost with sum as n)") == [{"n": None}]
