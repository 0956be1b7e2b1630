"""``join``: rows repeated for the members of their collections, alike on both databases."""

from __future__ import annotations

import json
from collections import Counter
from decimal import Decimal
from typing import Any

import pytest

from tests.odata.reading import model
from tests.odata.reading.conftest import Client, without_types

ROWS = model.item_rows()


def result(client: Client, path: str, query: str) -> list[dict[str, Any]]:
    answer = client.answer(path, query)
    assert answer.status == 200, answer.body
    value: list[dict[str, Any]] = without_types(
        json.loads(answer.body, parse_float=Decimal)["value"]
    )
    return value


def test_values_of_members_are_grouped_and_summed_beside_those_of_their_row(
    client: Client,
) -> None:
    found = result(
        client,
        "Makers",
        "$apply=join(Items as i)/groupby((rank,i/level),aggregate(i/price with sum as total))",
    )
    ranks = {row["id"]: row["rank"] for row in model.MAKER_ROWS}
    sums: Counter[Any] = Counter()
    for row in ROWS:
        if row["maker_id"] is not None:
            sums[ranks[row["maker_id"]], row["level"]] += row["price"]
    assert {(row["rank"], row["i"]["level"]): row["total"] for row in found} == sums


def test_members_of_a_json_array_are_rows_too(client: Client) -> None:
    found = result(
        client, "Items", "$apply=join(lines as l)/groupby((l/rate),aggregate($count as n))"
    )
    rates = Counter(
        None if line.get("rate") is None else Decimal(str(line["rate"]))
        for row in ROWS
        for line in row["lines"]
    )
    assert {row["l"] and row["l"]["rate"]: row["n"] for row in found} == rates


def test_texts_of_an_array_are_rows_too(client: Client) -> None:
    found = result(client, "Items", "$apply=join(labels as l)/groupby((l),aggregate($count as n))")
    labels = Counter(label for row in ROWS for label in row["labels"])
    assert {row["l"]: row["n"] for row in found} == labels


def test_an_outer_join_keeps_rows_without_members(client: Client) -> None:
    inner, outer = (
        result(
            client, "Makers", f"$apply={join}(Items as i,filter(price lt 0))/aggregate($count as n)"
        )
        for join in ("join", "outerjoin")
    )
    negative = Counter(row["maker_id"] for row in ROWS if row["price"] < 0)
    per_maker = [negative[row["id"]] for row in model.MAKER_ROWS]
    assert inner == [{"n": sum(per_maker)}]
    assert outer == [{"n": sum(max(1, number) for number in per_maker)}]


def test_joined_rows_are_shown_sorted_and_paged(client: Client) -> None:
    found = result(
        client,
        "Makers",
        "$apply=join(Items as i)/filter(i/id gt 2)&$orderby=i/id desc&$select=name,i&$top=2",
    )
    last = sorted((row for row in ROWS if row["maker_id"]), key=lambda row: -row["id"])[:2]
    assert [row["i"]["id"] for row in found] == [row["id"] for row in last]
    assert set(found[0]) == {"name", "i"}
    cut = result(client, "Makers", "$apply=join(Items as i)/topcount(3,i/id)")
    assert len(cut) == 3


def test_navigation_goes_on_from_row_and_member(client: Client) -> None:
    found = result(
        client,
        "Makers",
        "$apply=join(Items as i)/filter(i/Maker/name eq 'Delta' and i/Children/any())"
        "/aggregate($count as n)",
    )
    parents = {row["parent_id"] for row in ROWS}
    expected = [row for row in ROWS if row["maker_id"] == 2 and row["id"] in parents]
    assert found == [{"n": len(expected)}]


@pytest.mark.parametrize(
    ("apply", "status"),
    [
        ("join(Maker as m)", 400),
        ("join(name as m)", 400),
        ("join(Children as name)", 400),
        ("join(Children as c)/join(Children as c)", 400),
        ("join(Children as c,aggregate($count as n))", 501),
        ("join(Children as c,filter(Maker/rank gt 1))", 501),
        ("join(Parent/Children as c)", 501),
    ],
)
def test_what_cannot_be_joined_is_refused(client: Client, apply: str, status: int) -> None:
    assert client.answer("Items", f"$apply={apply}").status == status
