"""``hassubset`` and ``hassubsequence``, alike on both databases."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.odata.reading import model
from tests.odata.reading.conftest import Client

ROWS = model.item_rows()
Ids = Callable[[str], list[int]]

# The examples of URL Conventions 5.1.1.6.1 and 5.1.1.6.2, then what they leave open.
TRUE = [
    "hassubset([4,1,3],[4,1,3])",
    "hassubset([4,1,3],[1,3,4])",
    "hassubset([4,1,3],[3,1])",
    "hassubset([4,1,3],[4,3])",
    "hassubset([4,1,3,1],[1,1])",
    "hassubset([4],[])",
    "hassubset([],[])",
    "hassubset([1,null,null],[null,null])",
    "hassubset([1.0,2],[2.00,1e0])",
    "hassubset([true,false],[false])",
    'hassubset(["a","B","ä","a\\"b"],["a\\"b","ä"])',
    "HasSubset([1],[1])",
    "hassubsequence([4,1,3],[4,1,3])",
    "hassubsequence([4,1,3],[4,1])",
    "hassubsequence([4,1,3],[4,3])",
    "hassubsequence([4,1,3,1],[1,1])",
    "hassubsequence([4],[])",
    "hassubsequence([1,null,2],[null,2])",
    "hassubsequence([1,2,1,2,3],[2,1,3])",
]
FALSE = [
    "hassubset([1,2],[1,1,2])",
    "hassubset([],[1])",
    "hassubset([1],[null])",
    'hassubset(["a"],["A"])',
    "hassubsequence([4,1,3],[1,3,4])",
    "hassubsequence([4,1,3],[3,1])",
    "hassubsequence([1,2],[1,1,2])",
    "hassubsequence([1],[2])",
    "hassubsequence([1],[null])",
]


@pytest.mark.parametrize("text", TRUE)
def test_what_is_within(ids: Ids, text: str) -> None:
    assert ids(text) == [row["id"] for row in ROWS]
    assert ids(f"not {text}") == []


@pytest.mark.parametrize("text", FALSE)
def test_what_is_not_within(ids: Ids, text: str) -> None:
    assert ids(text) == []
    assert ids(f"not {text}") == [row["id"] for row in ROWS]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('hassubset(labels,["new","vip"])', lambda labels: labels == ["vip", "new"]),
        ('hassubset(labels,["vip"])', lambda labels: "vip" in labels),
        ('hassubset(["vip","50%","O\'x"],labels)', lambda labels: "new" not in labels),
        ("hassubset(labels,labels)", lambda labels: True),
        ('hassubset(labels,["vip","vip"])', lambda labels: False),
        ('hassubset(labels,@a)&@a=["O\'x"]', lambda labels: "O'x" in labels),
        ('hassubsequence(labels,["vip","new"])', lambda labels: labels == ["vip", "new"]),
        ('hassubsequence(labels,["new","vip"])', lambda labels: False),
        ('hassubsequence(["vip","x","new"],labels)', lambda labels: set(labels) <= {"vip", "new"}),
        ("hassubsequence(labels,labels) eq true", lambda labels: True),
    ],
)
def test_collections_of_rows(
    client: Client, text: str, expected: Callable[[list[str]], bool]
) -> None:
    text = text.replace("%", "%25")
    found = client.values(f"Items?$select=id&$orderby=id&$filter={text}")
    assert found == [row["id"] for row in ROWS if expected(row["labels"])]


def test_what_lies_behind_navigation(client: Client) -> None:
    children: dict[int, list[int]] = {row["id"]: [] for row in ROWS}
    for row in ROWS:
        if row["parent_id"] is not None:
            children[row["parent_id"]].append(row["id"])
    parent, some = next((key, found) for key, found in children.items() if len(found) > 1)
    text = f"hassubset(Children/id,[{some[-1]},{some[0]}])"
    assert client.values(f"Items?$select=id&$filter={text}") == [parent]
    everything = client.values("Items?$select=id&$filter=hassubset(Children/name,[])")
    assert everything == [row["id"] for row in ROWS]


def test_it_is_a_value_too(client: Client) -> None:
    address = 'Items?$compute=hassubset(labels,["vip"]) as isVip&$select=id,isVip&$orderby=isVip,id'
    found = client.get(address)["value"]
    assert {row["id"]: row["isVip"] for row in found} == {
        row["id"]: "vip" in row["labels"] for row in ROWS
    }


def test_one_plan_serves_all_of_a_shape(client: Client, ids: Ids) -> None:
    assert ids('hassubset(labels,["vip"])') != ids('hassubset(labels,["50%25"])')
    assert ids("hassubset([1,2],[2])") != ids("hassubset([1,2],[3])")


@pytest.mark.parametrize(
    ("text", "position", "words"),
    [
        ("hassubset(labels,[1])", 0, "takes two collections of one type"),
        ("hassubset(labels,'vip')", 17, "expected a collection"),
        ("hassubset(name,['x'])", 10, "expected a collection"),
        ('hassubset(labels,["a",1])', 17, "are of one type"),
        ("hassubset([[1]],[1])", None, ""),
        ("hassubsequence(Children/id,[1])", 24, "that have an order"),
        ("hassubset(labels)", None, "2 arguments"),
        (f"hassubset([{','.join(['1'] * 101)}],[1])", 10, "at most 100 members"),
    ],
)
def test_what_is_refused(client: Client, text: str, position: int | None, words: str) -> None:
    error = client.refused(f"Items?$filter={text}")
    assert error["status"] in (400, 501)
    assert words in error["message"]
    if position is not None:
        assert error["position"] == position
