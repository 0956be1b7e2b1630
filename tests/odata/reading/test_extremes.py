"""``topsum``, ``toppercent`` and ``bottom...`` of ``$apply``, and how large it may become."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
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
        ("groupby((level),bottomcount(-1,price))", "bottomcount takes a whole number from 1 on"),
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


# What the first parameter may be, by the kind (Data Aggregation 3.3.1).
COUNTS = {"1": 200, "@two": 200, "0": 400, "-1": 400, "1.5": 400, "@none": 400}
PERCENTS = {"0.5": 200, "100": 200, "@two": 200, "0": 400, "-1": 400, "100.5": 400, "INF": 400}
SUMS = {"0": 200, "-1": 200, "1.5": 200, "INF": 200, "@two": 200, "NaN": 400}
NEVER = dict.fromkeys(("'x'", "null", "true", "size", "2024-01-01", "duration'PT1S'", "@text"), 400)
COMPUTED = {"1 add 1": 501, "length('abc')": 501}
FIRST = [
    (f"{side}{kind}", given, status)
    for side in ("top", "bottom")
    for kind, own in (("count", COUNTS), ("percent", PERCENTS), ("sum", SUMS))
    for given, status in (own | NEVER | COMPUTED).items()
]


@pytest.mark.costly(3)
@pytest.mark.parametrize(("kind", "given", "status"), FIRST)
def test_the_first_parameter_is_checked(client: Client, kind: str, given: str, status: int) -> None:
    aliases = "&@two=2&@none=0&@text='x'"
    for first in ("5", given):  # a plan that was made for another value is not used
        answer = client.answer("Items", f"$apply={kind}({first},price)&$top=1{aliases}")
        assert answer.status == (200 if first == "5" else status), answer.body


def in_order(level: str, column: str) -> list[dict[str, Any]]:
    """The rows of a level by a column, as the service sorts them."""
    rows = (row for row in ROWS if row["level"] == level)
    return sorted(rows, key=lambda row: (row[column], row["id"]))


@pytest.mark.parametrize(
    ("inside", "kept"),
    [
        ("orderby(price)/top(2)", lambda rows: rows[:2]),
        ("orderby(price)/skip(1)", lambda rows: rows[1:]),
        ("orderby(price)/skip(1)/top(2)", lambda rows: rows[1:3]),
        ("orderby(price)/top(3)/skip(1)", lambda rows: rows[1:3]),
        ("filter(price gt 50)/orderby(price)/top(1)",
         lambda rows: [row for row in rows if row["price"] > 50][:1]),
        ("orderby(price)/top(2)/filter(price gt 50)",
         lambda rows: [row for row in rows[:2] if row["price"] > 50]),
        ("orderby(id)/orderby(price)/top(2)", lambda rows: rows[:2]),
        ("bottomcount(2,price)/orderby(price)/skip(1)", lambda rows: rows[1:2]),
        ("compute(price mul 2 as twice)/orderby(twice)/top(2)", lambda rows: rows[:2]),
        ("top(0)", lambda rows: []),
        ("identity", lambda rows: rows),
        ("filter(price gt 50)", lambda rows: [row for row in rows if row["price"] > 50]),
    ],
)  # fmt: skip
def test_each_group_is_transformed_for_itself(
    client: Client, inside: str, kept: Callable[[list[Any]], list[Any]]
) -> None:
    """Data Aggregation 3.2.3.2: the rows that are left, or what is made of them."""
    levels = {row["level"] for row in ROWS}
    expected = {level: kept(in_order(level, "price")) for level in levels}
    found = client.values(f"Items?$apply=groupby((level),{inside})&$select=id")
    assert sorted(found) == sorted(row["id"] for rows in expected.values() for row in rows)
    totals = "aggregate(price with sum as s,$count as n)"
    made = client.get(f"Items?$apply=groupby((level),{inside}/{totals})")["value"]
    assert {row["level"]: (row["n"], Decimal(str(row["s"] or 0))) for row in made} == {
        level: (len(rows), sum((row["price"] for row in rows), Decimal(0)))
        for level, rows in expected.items()
    }


def test_each_group_of_what_was_grouped_is_transformed_for_itself(client: Client) -> None:
    groups = "groupby((level,active),aggregate($count as n))"
    found = client.get(
        f"Items?$apply={groups}/groupby((level),orderby(n desc,active)/top(1)"
        "/aggregate(n with sum as most))&$orderby=level"
    )["value"]
    counts = Counter((row["level"], row["active"]) for row in ROWS)
    most = {level: max(n for (one, _), n in counts.items() if one == level) for level, _ in counts}
    assert {row["level"]: row["most"] for row in found} == most
    refused = client.refused(f"Items?$apply={groups}/groupby((level),filter(n gt 1)/top(1))")
    assert refused["status"] == 501


def test_sums_within_groups_are_not_offered(client: Client) -> None:
    error = client.refused("Items?$apply=groupby((level),topsum(10,price))")
    assert error["status"] == 501
    assert "topsum() is not offered inside groupby" in error["message"]
