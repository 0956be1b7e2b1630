"""``$root`` and functions of the model in expressions."""

from __future__ import annotations

from typing import Any

import pytest

from tests.odata.reading import model
from tests.odata.reading.conftest import Client

ROWS = model.item_rows()
RANKS = {row["id"]: row["rank"] for row in model.MAKER_ROWS}
ALL = [row["id"] for row in ROWS]


def ids(client: Client, text: str) -> list[Any]:
    return client.values(f"Items?$filter={text}&$select=id&$orderby=id")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$root/Makers/any()", ALL),
        ("$root/Makers/$count eq 3", ALL),
        ("$root/makers/$count gt 3", []),
        ("$root/Makers/any(m:m/rank gt 99)", []),
        ("$root/Makers/all(m:m/id lt 9)", ALL),
        ("$root/Makers/$count($filter=rank gt 0) eq 1", ALL),
        ("$root/Makers/$filter(rank gt 0)/$count eq 1", ALL),
        ("$root/Makers/any(m:m/name eq Maker/name and m/rank eq 3)",
         [row["id"] for row in ROWS if row["maker_id"] == 1]),
        ("makerId in $root/Makers/id", [row["id"] for row in ROWS if row["maker_id"] is not None]),
        ("Maker/rank in $root/Makers/$filter(rank lt 0)/rank",
         [row["id"] for row in ROWS if row["maker_id"] == 3]),
        ("name in Children/name", None),
        ("makerId eq $root/Best/id", [row["id"] for row in ROWS if row["maker_id"] == 1]),
        ("$root/Best/Items/any(i:i/id eq 1)", ALL),
        ("makerId eq $root/Makers(3)/id", [row["id"] for row in ROWS if row["maker_id"] == 3]),
        ("makerId eq $root/Makers(id=3)/id", [row["id"] for row in ROWS if row["maker_id"] == 3]),
        ("Children(id=7)/id eq 7", [1]),
    ],
)  # fmt: skip
def test_an_expression_reaches_what_stands_elsewhere(
    client: Client, text: str, expected: list[int] | None
) -> None:
    if expected is None:
        names = {row["id"]: {other["name"] for other in ROWS if other["parent_id"] == row["id"]}
                 for row in ROWS}  # fmt: skip
        expected = [row["id"] for row in ROWS if row["name"] in names[row["id"]]]
    assert ids(client, text) == expected


def test_two_options_may_name_two_entities_at_the_same_position(client: Client) -> None:
    query = "Items?$filter=$root/Makers(1)/rank eq 3&$orderby=$root/Makers(3)/rank eq 3,id&$top=1"
    assert client.values(query) == [1]
    swapped = "Items?$filter=$root/Makers(3)/rank eq 3&$orderby=$root/Makers(1)/rank eq 3,id&$top=1"
    assert client.values(swapped) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Workshop.Doubled() gt 6", [row["id"] for row in ROWS if row["count"] * 2 > 6]),
        ("Maker/Workshop.Plus(n=2) eq 5", [row["id"] for row in ROWS if row["maker_id"] == 1]),
        ("Maker/Workshop.Plus(n=@n) eq 5&@n=2",
         [row["id"] for row in ROWS if row["maker_id"] == 1]),
        ("Maker/Workshop.Plus(n=size) eq 10",
         [row["id"] for row in ROWS if row["size"] == 7 and RANKS.get(row["maker_id"]) == 3]),
        ("count eq Workshop.Twice(n=1)", [row["id"] for row in ROWS if row["count"] == 2]),
        ("count eq $root/Twice(n=1)", [row["id"] for row in ROWS if row["count"] == 2]),
        ("size eq Workshop.Twice(a=count,b=@b)&@b=3",
         [row["id"] for row in ROWS if row["size"] == row["count"] + 3]),
        ("Workshop.Twice(n=Workshop.Doubled()) gt 12",
         [row["id"] for row in ROWS if row["count"] > 3]),
        ("Children/any(c:Workshop.Twice(n=c/count) lt 0)",
         sorted({row["parent_id"] for row in ROWS if row["count"] < 0 and row["parent_id"]})),
        ("Workshop.Ranked(rank=3)/any(m:m/id eq $it/makerId)",
         [row["id"] for row in ROWS if (RANKS.get(row["maker_id"]) or 0) >= 3]),
        ("$root/Ranked(rank=count)/$count gt 1",
         [row["id"] for row in ROWS
          if sum(rank is not None and rank >= row["count"] for rank in RANKS.values()) > 1]),
        ("Children/any(c:c/Workshop.Doubled() lt 0)",
         sorted({row["parent_id"] for row in ROWS if row["count"] < 0 and row["parent_id"]})),
    ],
)  # fmt: skip
def test_a_function_of_the_model_is_part_of_an_expression(
    client: Client, text: str, expected: list[int]
) -> None:
    assert ids(client, text) == expected


def test_a_function_of_nothing_is_computed(client: Client) -> None:
    query = "Items?$compute=Workshop.Twice(n=count) as twice&$select=count,twice&$top=5"
    rows = client.get(f"{query}&$orderby=$root/Twice(n=count) desc,id")["value"]
    most = sorted((row["count"] for row in ROWS), reverse=True)[:5]
    assert [row["twice"] for row in rows] == [count * 2 for count in most]


def test_a_function_orders_and_is_computed(client: Client) -> None:
    query = "Items?$compute=Workshop.Doubled() as twice&$select=count,twice&$top=5"
    rows = client.get(f"{query}&$orderby=Workshop.Doubled() desc,id")["value"]
    most = sorted((row["count"] for row in ROWS), reverse=True)[:5]
    assert [row["twice"] for row in rows] == [count * 2 for count in most]


@pytest.mark.parametrize(
    ("text", "status", "words"),
    [
        ("$root/Makrs/any()", 400, "there is no entity set 'Makrs'; did you mean 'Makers'?"),
        ("$root/Makers/name eq 'x'", 400, "is a collection"),
        ("$root/Makers eq null", 400, "never null"),
        ("Workshop.Doubld() gt 1", 400, "Item has no function 'Workshop.Doubld'"),
        ("Doubled() gt 1", 400, "Item has no function 'Doubled'"),
        ("Workshop.Doubled(x=1) gt 1", 400, "it is Doubled()"),
        ("Maker/Workshop.Plus(n='x') eq 5", 400, "cannot be compared"),
        ("Maker/Workshop.Plus(n=name) eq 5", 400, "n does not take Edm.String"),
        ("Workshop.Opaque() eq 1", 501, "cannot be called in an expression"),
        ("Workshop.Hidden() eq 1", 501, "cannot be called in an expression"),
        ("$root/Hidden() eq 1", 501, "cannot be called in an expression"),
        ("Workshop.Twice(x=1) eq 1", 400, "it is Twice(n) or Twice(a,b)"),
        ("Twice(n=1) eq 1", 400, "no function 'Twice'"),
        ("Maker/Workshop.Twice(n=1) eq 1", 400, "Maker has no function 'Workshop.Twice'"),
        ("Children/Workshop.Doubled() eq 1", 400, "a collection of Item has no function"),
    ],
)
def test_what_is_not_there_is_named(client: Client, text: str, status: int, words: str) -> None:
    answer = client.answer("Items", f"$filter={text}")
    assert answer.status == status
    assert words in client.json(answer)["error"]["message"]
