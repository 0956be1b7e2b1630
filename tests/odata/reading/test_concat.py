"""``concat`` and ``rollup``: one result after the other, each row with what it has."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from tests.odata.reading import model
from tests.odata.reading.conftest import Client

ROWS = model.item_rows()
Row = dict[str, Any]


def rows(client: Client, apply: str, options: str = "", path: str = "Items") -> list[Row]:
    found: list[Row] = client.get(f"{path}?$apply={apply}{options}")["value"]
    return found


def test_each_result_keeps_its_order(client: Client) -> None:
    names = sorted(row["name"] for row in ROWS)
    apply = "concat(orderby(name desc)/top(2),orderby(name)/top(2))"
    found = [row["name"] for row in rows(client, apply, "&$select=name")]
    assert found == [names[-1], names[-2], names[0], names[1]]
    swapped = "concat(orderby(name)/top(2),orderby(name desc)/top(2))"
    assert [row["name"] for row in rows(client, swapped, "&$select=name")] == found[2:] + found[:2]
    first_two = rows(client, f"{apply}/top(3)", "&$select=name&$skip=1")
    assert [row["name"] for row in first_two] == found[1:3]


def test_the_order_that_was_there_goes_into_each_chain(client: Client) -> None:
    apply = "orderby(id desc)/top(4)/concat(identity,filter(id gt 58),orderby(id)/top(1))"
    assert [row["id"] for row in rows(client, apply)] == [60, 59, 58, 57, 60, 59, 57]


def test_a_total_comes_where_it_is_written_and_has_nothing_else(client: Client) -> None:
    groups = "groupby((level),aggregate(price with sum as s))"
    found = rows(client, f"concat(aggregate($count as c),{groups})")
    assert found[0] == {"c": len(ROWS)}
    assert [set(row) for row in found[1:]] == [{"level", "s"}] * len(model.LEVELS)
    found = rows(client, f"concat({groups},aggregate($count as c))")
    assert found[-1] == {"c": len(ROWS)}


def test_null_and_nothing_differ(client: Client) -> None:
    found = rows(client, "concat(groupby((note)),groupby((size)))/filter(note eq null)")
    assert found[0] == {"note": None}
    assert all(set(row) == {"size"} for row in found[1:])
    sizes = {row["size"] for row in ROWS}
    assert {row["size"] for row in found[1:]} == sizes
    assert None in sizes


def test_what_is_not_there_is_null_to_what_follows(client: Client) -> None:
    apply = "concat(aggregate($count as c),groupby((level),aggregate($count as n)))"
    by_count = rows(client, apply, "&$orderby=c desc,n desc")
    assert by_count[0] == {"c": len(ROWS)}
    assert by_count == [by_count[0], *sorted(by_count[1:], key=lambda row: -row["n"])]
    assert rows(client, apply, "&$orderby=c,level")[-1] == {"c": len(ROWS)}
    assert [set(row) for row in rows(client, apply, "&$filter=c eq null")] == [{"level", "n"}] * 4
    assert rows(client, apply, "&$select=c")[0] == {"c": len(ROWS)}
    assert rows(client, apply, "&$select=c")[1:] == [{}] * 4
    doubled = rows(client, apply, "&$compute=n mul 2 as twice&$select=twice")
    assert [set(row) for row in doubled] == [{"twice"}] * 5
    assert client.get(f"Items/$count?$apply={apply}") == "5"
    assert rows(client, f"{apply}/aggregate(n with sum as all)") == [{"all": len(ROWS)}]
    assert rows(client, f"{apply}/groupby((c),aggregate($count as k))&$orderby=c") == [
        {"c": None, "k": 4}, {"c": len(ROWS), "k": 1},
    ]  # fmt: skip


def test_concat_within_concat(client: Client) -> None:
    inner = "concat(filter(id eq 2)/groupby((id)),aggregate($count as n))"
    apply = f"concat({inner},concat({inner},aggregate(price with max as m)))"
    found = rows(client, apply)
    one, total = {"id": 2}, {"n": 60}
    assert found == [one, total, one, total, {"m": float(max(row["price"] for row in ROWS))}]
    deep = "concat(concat(concat(identity,top(1)),identity),aggregate($count as n))"
    shown = rows(client, f"filter(id le 2)/{deep}")
    assert [row.get("id") for row in shown] == [1, 2, 1, 1, 2, None]
    assert shown[-1] == {"n": 2}


def test_complex_values_are_there_or_not(client: Client) -> None:
    found = rows(client, "filter(id le 2)/concat(identity,aggregate($count as n))")
    assert "place" in found[0] and "lines" in found[0] and "labels" in found[0]
    assert found[-1] == {"n": 2}
    assert found[0]["place"] == client.get("Items(1)")["place"]


@pytest.mark.parametrize("header", ["application/json;odata.metadata=full", "*/*"])
def test_nothing_is_told_of_what_is_not_there(client: Client, header: str) -> None:
    answer = client.answer(
        "Items", "$apply=concat(aggregate($count as c),groupby((note,made)))&$orderby=c desc",
        {"Accept": header}, "omit-values=nulls",
    )  # fmt: skip
    first, *others = client.json(answer)["value"]
    assert {name for name in first if "@" not in name} == {"c"}
    assert not any(name.startswith(("note", "made")) for name in first)
    assert not any(name.startswith("c") for row in others for name in row)
    assert all(None not in row.values() for row in others)
    assert {} in others


def test_a_subtotal_is_no_group_of_null(client: Client) -> None:
    found = rows(client, "groupby((rollup($all,note,level)),aggregate($count as n))")
    assert found[0] == {"n": len(ROWS)}
    nulls = sum(row["note"] is None for row in ROWS)
    assert nulls
    assert found[1] == {"note": None, "n": nulls}
    assert set(found[2]) == {"note", "level", "n"} and found[2]["note"] is None
    sums = [row["n"] for row in found if "note" in row and "level" not in row]
    assert sum(sums) == len(ROWS)
    # A total stands before what it is the total of.
    for before, row in pairwise(found):
        assert "level" not in row or before.get("note") == row["note"]


def test_subtotals_of_paths_leave_out_the_last_step(client: Client) -> None:
    apply = "groupby((rollup($all,Maker/rank,Maker/name)),aggregate($count as n))"
    found = rows(client, apply)
    assert found[0] == {"n": len(ROWS)}
    assert {"Maker": {"rank": None}, "n": sum(row["n"] for row in found[2:])} != found[1]
    of_none = [row for row in found if "Maker" in row and row["Maker"] is None]
    assert len(of_none) == 1
    subtotals = [row for row in found if row.get("Maker") and set(row["Maker"]) == {"rank"}]
    assert sum(row["n"] for row in subtotals) == len(ROWS)
    assert all(row["Maker"] is None or "rank" in row["Maker"] for row in found[1:])


def test_the_best_of_each_group_rolled_up(client: Client) -> None:
    found = rows(client, "groupby((rollup($all,level)),topcount(1,price))", "&$select=id")
    dearest = sorted(ROWS, key=lambda row: (-row["price"], -row["id"]))
    best = [next(row for row in dearest if row["level"] == level)["id"] for level in model.LEVELS]
    assert sorted(row["id"] for row in found) == sorted([*best, dearest[0]["id"]])
    assert found[-1] == {"id": dearest[0]["id"]}
