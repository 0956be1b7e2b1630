"""``Items/aggregate(... from ...)`` as a value of a row: related ones aggregated in steps."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any
from urllib.parse import quote

import pytest

from tests.odata.reading import model
from tests.odata.reading.conftest import Client

ITEMS = model.item_rows()


def values(client: Client, expression: str, path: str = "Makers") -> list[Any]:
    """Of each row the value, in the order of their keys."""
    query = f"$compute={quote(expression)} as v&$select=v&$orderby=id"
    answer = client.answer(path, query)
    assert answer.status == 200, answer.body
    return [row["v"] for row in json.loads(answer.body, parse_float=Decimal)["value"]]


def stepwise(client: Client, maker: int, transformations: str) -> Any:
    """The same of the items of one maker, by transformations."""
    answer = client.answer("Items", f"$apply=filter(Maker/id eq {maker})/{transformations}")
    assert answer.status == 200, answer.body
    (row,) = json.loads(answer.body, parse_float=Decimal)["value"]
    return row["x"]


SHORT = {
    "average of sums": (
        "price with sum from level with average",
        "groupby((level),aggregate(price with sum as y))/aggregate(y with average as x)",
    ),
    "of counts": (
        "$count from level,active with max",
        "groupby((level,active),aggregate($count as y))/aggregate(y with max as x)",
    ),
    "behind navigation": (
        "price with max from Parent/name with sum",
        "groupby((Parent/name),aggregate(price with max as y))/aggregate(y with sum as x)",
    ),
    "in two steps": (
        "price with sum from active with max from level with average",
        "groupby((level,active),aggregate(price with sum as y))"
        "/groupby((level),aggregate(y with max as z))/aggregate(z with average as x)",
    ),
    "of doubles": (
        "weight with average from level with sum",
        "groupby((level),aggregate(weight with average as y))/aggregate(y with sum as x)",
    ),
    "of what is computed": (
        "price mul 2 with max from checked with sum",
        "groupby((checked),aggregate(price mul 2 with max as y))/aggregate(y with sum as x)",
    ),
    "of members of members": (
        "Children/$count with sum from level with max",
        "compute(Children/$count as c)/groupby((level),aggregate(c with sum as y))"
        "/aggregate(y with max as x)",
    ),
    "from a complex property": (
        "cost with countdistinct from place/city with max",
        "groupby((place/city),aggregate(cost with countdistinct as y))/aggregate(y with max as x)",
    ),
}


@pytest.mark.parametrize(("short", "long"), SHORT.values(), ids=SHORT)
def test_it_is_short_for_transformations_of_the_related(
    client: Client, short: str, long: str
) -> None:
    short = short.replace("Children/$count with sum", "Children/$count")
    found = values(client, f"Items/aggregate({short})")
    assert found == [stepwise(client, row["id"], long) for row in model.MAKER_ROWS]


def test_of_none_it_is_null(client: Client) -> None:
    childless = [row for row in ITEMS if row["id"] not in {one["parent_id"] for one in ITEMS}]
    found = values(client, "Children/aggregate(price with sum from level with max)", "Items")
    assert found.count(None) == len(childless) > 0


def test_it_stands_in_conditions_and_orders(client: Client) -> None:
    text = "Items/aggregate(price with sum from level with average)"
    each = values(client, text)
    ids = [row["id"] for row in model.MAKER_ROWS]
    ordered = [one for _, one in sorted(zip(each, ids, strict=True))]
    assert client.values(f"Makers?$orderby={text}&$select=id") == ordered
    most = max(each)
    assert client.values(f"Makers?$filter={text} ge {most}&$select=id") == [ids[each.index(most)]]
    nested = f"Maker/{text} ge {most}"
    expected = [row["id"] for row in ITEMS if row["maker_id"] == ids[each.index(most)]]
    assert client.values(f"Items?$filter={nested}&$select=id&$orderby=id") == expected


def test_inside_a_lambda_and_an_expanded_row(client: Client) -> None:
    text = "Items/aggregate($count from level with max)"
    each = dict(zip([row["id"] for row in model.MAKER_ROWS], values(client, text), strict=True))
    rows = client.get(
        f"Items?$select=id&$expand=Maker($compute={text} as most;$select=id,most)&$orderby=id"
    )["value"]
    assert any(row["Maker"] for row in rows)
    assert all(row["Maker"]["most"] == each[row["Maker"]["id"]] for row in rows if row["Maker"])
    most = max(each.values())
    found = client.values(
        f"Makers?$filter=Items/any(i:i/Maker/{text} eq {most})&$select=id&$orderby=id"
    )
    assert found == [key for key, value in each.items() if value == most]


@pytest.mark.parametrize(
    ("item", "words"),
    [
        ("price with sum from level", "say how to aggregate"),
        ("price with sum from nam with average", "did you mean 'name'"),
        ("name with max from level with sum", "sum does not take Edm.String"),
        ("price with sum" + " from level with sum" * 40, "steps"),
    ],
)
def test_what_is_refused(client: Client, item: str, words: str) -> None:
    error = client.refused(f"Makers?$filter=Items/aggregate({item}) gt 1")
    assert error["status"] == 400
    assert words in error["message"]
    whole = client.refused(f"Items?$apply=aggregate({item} as x)")
    assert whole["status"] == 400
    assert words in whole["message"]
