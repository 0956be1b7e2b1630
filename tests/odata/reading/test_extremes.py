"""``topsum``, ``toppercent`` and ``bottom...`` of ``$apply``, and how large it may become."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from tests.odata.reading import model
from tests.odata.reading.conftest import Client

ROWS = model.item_rows()


def reaching(name: str, goal: Any, *, top: bool, percent: bool = False) -> list[int]:
    """The keys of the rows, found one by one."""
    rows = [row for row in ROWS if row[name] is not None]
    rows.sort(key=lambda row: (row[name], row["id"]), reverse=top)
    zero = Decimal(0) if isinstance(rows[0][name], Decimal) else 0
    if percent:
        goal = sum((row[name] for row in rows), zero) * goal / 100
    found, before = [], zero
    for row in rows:
        if before >= goal:
            break
        found.append(row["id"])
        before += row[name]
    return found


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("topsum(100,price)", reaching("price", 100, top=True)),
        ("topsum(37037036.75,price)", reaching("price", Decimal("37037036.75"), top=True)),
        ("topsum(20,count)", reaching("count", 20, top=True)),
        ("bottomsum(-5,count)", []),
        ("bottomsum(20,count)", reaching("count", 20, top=False)),
        ("toppercent(50,price)", reaching("price", 50, top=True, percent=True)),
        ("toppercent(99.5,cost)", reaching("cost", Decimal("99.5"), top=True, percent=True)),
        ("bottompercent(10,count)", reaching("count", 10, top=False, percent=True)),
        ("toppercent(100,count)", reaching("count", 100, top=True, percent=True)),
        ("topsum(0,count)", []),
        ("topsum(1e3,weight)", reaching("weight", 1e3, top=True)),
        ("filter(level eq 'Low')/topsum(1000000000,size)",
         [row["id"] for row in ROWS if row["level"] == "Low" and row["size"] == 2147483647][-1:]),
    ],
)  # fmt: skip
def test_the_fewest_rows_that_reach_it(client: Client, call: str, expected: list[int]) -> None:
    assert sorted(client.values(f"Items?$apply={call}&$select=id")) == sorted(expected)


def test_what_was_computed_and_grouped(client: Client) -> None:
    doubled = client.values("Items?$apply=compute(price mul 2 as p)/toppercent(50,p)")
    assert sorted(doubled) == sorted(reaching("price", 50, top=True, percent=True))
    sums: dict[str, Decimal] = {}
    for row in ROWS:
        sums[row["level"]] = sums.get(row["level"], Decimal(0)) + row["price"]
    best = max(sums, key=lambda level: sums[level])
    query = "Items?$apply=groupby((level),aggregate(price with sum as s))/topsum(1,s)"
    assert client.get(query)["value"] == [{"level": best, "s": float(sums[best])}]


def leading(count: int, *, top: bool) -> list[int]:
    """The keys of the first rows by price of each level, found one by one."""
    found = []
    for level in {row["level"] for row in ROWS}:
        rows = [row for row in ROWS if row["level"] == level]
        rows.sort(key=lambda row: (row["price"], row["id"]), reverse=top)
        found += [row["id"] for row in rows[:count]]
    return found


@pytest.mark.parametrize(("kind", "top"), [("topcount", True), ("bottomcount", False)])
def test_the_first_rows_of_each_group(client: Client, kind: str, top: bool) -> None:
    assert len(leading(2, top=top)) > 2
    query = f"Items?$apply=groupby((level),{kind}(2,price))&$select=id"
    assert sorted(client.values(query)) == sorted(leading(2, top=top))


def test_the_first_of_each_group_of_what_was_grouped(client: Client) -> None:
    sums: dict[tuple[str, bool], Decimal] = {}
    for row in ROWS:
        key = (row["level"], row["active"])
        sums[key] = sums.get(key, Decimal(0)) + row["price"]
    best = {}
    for (level, active), total in sums.items():
        best[level] = max(best.get(level, (total, active)), (total, active))
    query = (
        "Items?$apply=groupby((level,active),aggregate(price with sum as s))"
        "/groupby((level),topcount(1,s))&$orderby=level"
    )
    rows = client.get(query)["value"]
    assert {row["level"]: (Decimal(str(row["s"])), row["active"]) for row in rows} == best


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("topsum(size,price)", "topsum takes a number first"),
        ("topcount(1.5,price)", "topcount takes a whole number first"),
        ("groupby((level),topcount(1.5,price))", "topcount takes a whole number first"),
        ("toppercent(50,name)", "toppercent does not take Edm.String"),
        ("topcount(-1,price)", "topcount takes a whole number from 0 on"),
        ("groupby((level),bottomcount(-1,price))", "bottomcount takes a whole number from 0 on"),
        ("/".join(["concat(identity,identity)"] * 6), "more than 24 parts"),
        ("groupby((rollup(level,active),rollup(size,count),rollup(note,made,price)))"
         "/groupby((rollup(level,size,count)))", "more than 24 parts"),
        ("concat(identity," * 4 + "identity" + ")" * 4, "nested more than 3 levels"),
    ],
)  # fmt: skip
def test_what_is_refused(client: Client, call: str, words: str) -> None:
    error = client.refused(f"Items?$apply={call}")
    assert error["status"] == 400
    assert words in error["message"]


def test_a_group_without_keys_and_values_is_one_row(client: Client) -> None:
    rolled = "groupby((rollup($all,level)))"
    found = client.get(f"Items?$apply={rolled}")["value"]
    groups = [{"level": level} for level in model.LEVELS]
    assert found == [{}, *groups]
    again = client.get(f"Items?$apply={rolled}/{rolled}")["value"]
    assert again == [{}, {"level": None}, *groups]


def test_sums_within_groups_are_not_offered(client: Client) -> None:
    error = client.refused("Items?$apply=groupby((level),topsum(10,price))")
    assert error["status"] == 501
    assert "topsum() is not offered inside groupby" in error["message"]
