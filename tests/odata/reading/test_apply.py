"""``$apply``: groups and aggregates, exact, and composed with the other options."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable
from datetime import timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import pytest

from tests.odata.reading import model
from tests.odata.reading.conftest import Client, without_types

Row = dict[str, Any]
ROWS = model.item_rows()
MAKERS = {row["id"]: row for row in model.MAKER_ROWS}


def result(client: Client, query: str) -> list[Row]:
    """The rows, numbers as exact decimals."""
    answer = client.answer("Items", query)
    assert answer.status == 200, answer.body
    value: list[Row] = without_types(json.loads(answer.body, parse_float=Decimal)["value"])
    return value


def grouped(key: Callable[[Row], Any]) -> dict[Any, list[Row]]:
    groups = defaultdict(list)
    for row in ROWS:
        groups[key(row)].append(row)
    return groups


def given(rows: list[Row], name: str) -> list[Any]:
    return [row[name] for row in rows if row[name] is not None]


def average(values: list[Any]) -> Decimal:
    exact = sum(map(Decimal, values)) / len(values)
    return Decimal(exact).quantize(Decimal("1e-12"), ROUND_HALF_UP)


def test_aggregates_of_everything(client: Client) -> None:
    (row,) = result(
        client,
        "$apply=aggregate(price with sum as total,price with average as mean,price with min as low,"
        "price with max as high,size with sum as sizes,size with average as size,cost with sum as "
        "cost,name with max as last,at with min as first,made with max as day,$count as n,"
        "note with countdistinct as notes,price mul 2 with sum as twice,level with max as top)",
    )
    prices = [one["price"] for one in ROWS]
    assert row["total"] == sum(prices)
    assert row["mean"] == average(prices)
    assert (row["low"], row["high"]) == (min(prices), max(prices))
    assert row["sizes"] == sum(given(ROWS, "size"))
    assert row["size"] == average(given(ROWS, "size"))
    assert row["cost"] == sum(given(ROWS, "cost"))
    assert row["last"] == max(one["name"] for one in ROWS)
    assert row["first"] == "1970-01-01T00:00:00.000Z"
    assert row["day"] == "2025-07-15"
    assert row["n"] == len(ROWS)
    assert row["notes"] == len(set(given(ROWS, "note")))
    assert row["twice"] == 2 * sum(prices)
    assert row["top"] == "Urgent"


def test_aggregates_of_nothing(client: Client) -> None:
    found = result(client, "$apply=filter(false)/aggregate($count as n,price with sum as s)")
    assert found == [{"n": 0, "s": None}]
    assert result(client, "$apply=filter(false)/groupby((level),aggregate($count as n))") == []


def test_groups(client: Client) -> None:
    found = result(
        client,
        "$apply=groupby((active,checked),aggregate(price with sum as total,$count as n))",
    )
    expected = grouped(lambda row: (row["active"], row["checked"]))
    assert len(found) == len(expected)
    for row in found:
        group = expected[row["active"], row["checked"]]
        assert row["n"] == len(group)
        assert row["total"] == sum(one["price"] for one in group)


def test_groups_alone_are_distinct_values(client: Client) -> None:
    found = result(client, "$apply=groupby((level))&$orderby=level desc")
    assert found == [{"level": level} for level in reversed(model.LEVELS)]


def test_groups_over_navigation_and_complex_values(client: Client) -> None:
    found = result(
        client, "$apply=groupby((Maker/name,place/city),aggregate($count as n))&$orderby=n desc"
    )
    expected = grouped(
        lambda row: (MAKERS.get(row["maker_id"], {"name": None})["name"], row["city"])
    )
    assert len(found) == len(expected)
    for row in found:
        maker, city = (
            (row["Maker"] or {"name": None})["name"],
            (row["place"] or {"city": None})["city"],
        )
        assert row["n"] == len(expected[maker, city])


def test_groups_over_paths_of_any_length(client: Client) -> None:
    """A value at the end of a path lies as deep in the result (Data Aggregation 3.2.3)."""
    rows = {row["id"]: row for row in ROWS}

    def place_of_parent(row: dict[str, Any]) -> tuple[str | None, str | None]:
        parent = rows.get(row["parent_id"], {"maker_id": None, "city": None})
        return MAKERS.get(parent["maker_id"], {"name": None})["name"], parent["city"]

    def member(row: Any, *path: str) -> Any:
        for name in path:
            row = None if row is None else row[name]
        return row

    expected = grouped(place_of_parent)
    groups = "groupby((Parent/Maker/name,Parent/place/city),aggregate($count as n))"
    found = result(client, f"$apply={groups}")
    assert {
        (member(row, "Parent", "Maker", "name"), member(row, "Parent", "place", "city")): row["n"]
        for row in found
    } == {key: len(group) for key, group in expected.items()}
    assert [row["Parent"] for row in found].count(None) == 1

    names = {name for name, _ in expected if name is not None}
    options = "$filter=Parent/Maker ne null&$orderby=Parent/Maker/name desc"
    again = result(client, f"$apply={groups}/groupby((Parent/Maker/name))&{options}")
    shown = [{"Parent": {"Maker": {"name": name}}} for name in sorted(names, reverse=True)]
    assert again == shown


def test_what_happens_inside_a_group_stays_there(client: Client) -> None:
    found = result(
        client,
        "$apply=groupby((level),filter(price gt 50)/compute(price mul 2 as twice)"
        "/aggregate(twice with sum as s,$count as n))",
    )
    for row in found:
        group = [one for one in ROWS if one["level"] == row["level"] and one["price"] > 50]
        assert row["n"] == len(group)
        assert (row["s"] or 0) == 2 * sum(one["price"] for one in group)


def test_other_options_work_on_the_result(client: Client) -> None:
    apply = "$apply=groupby((note),aggregate($count as n,price with sum as s))"
    groups = grouped(lambda row: row["note"])
    expected = sorted(
        ((note, len(rows)) for note, rows in groups.items() if len(rows) > 5),
        key=lambda pair: (-pair[1], pair[0] is not None, pair[0]),
        reverse=False,
    )
    found = result(client, f"{apply}&$filter=n gt 5&$orderby=n desc&$select=note,n")
    assert sorted((row["note"] or "", row["n"]) for row in found) == sorted(
        (note or "", n) for note, n in expected
    )
    assert [row["n"] for row in found] == [n for _, n in expected]
    answer = client.get(f"Items?{apply}&$count=true&$top=2&$skip=1&$orderby=s")
    assert answer["@odata.count"] == len(groups)
    assert len(answer["value"]) == 2
    assert client.get(f"Items/$count?{apply}") == str(len(groups))
    halves = result(client, f"{apply}&$compute=s divby 2 as half&$select=half,s")
    assert all(row["half"] * 2 == row["s"] for row in halves)


@pytest.mark.parametrize(
    ("apply", "ids"),
    [
        ("filter(active)/orderby(price desc,id)/top(3)", None),
        ("topcount(3,price)", None),
        ("bottomcount(2,price)", None),
        ("orderby(id)/skip(57)", [58, 59, 60]),
        ("identity/filter(id le 3)", [1, 2, 3]),
        ("search(acme)/filter(id le 30)", None),
    ],
)
def test_entities_stay_entities(client: Client, apply: str, ids: list[int] | None) -> None:
    found = client.get(f"Items?$apply={apply}&$expand=Maker($select=name)&$select=id,price,active")
    assert all("@odata.etag" in row and "Maker" in row for row in found["value"])
    if ids is not None:
        assert [row["id"] for row in found["value"]] == ids
    elif "topcount" in apply:
        prices = sorted((row["price"] for row in ROWS), reverse=True)[:3]
        assert [Decimal(str(row["price"])) for row in found["value"]] == prices


def test_transformations_follow_each_other(client: Client) -> None:
    (row,) = result(
        client,
        "$apply=groupby((level,active),aggregate(price with sum as s))/filter(s gt 0)"
        "/groupby((level),aggregate(s with max as m))/aggregate(m with sum as total,$count as n)",
    )
    sums = {
        key: sum(one["price"] for one in rows)
        for key, rows in grouped(lambda one: (one["level"], one["active"])).items()
    }
    best: dict[str, Decimal] = {}
    for (level, _), total in sums.items():
        if total > 0:
            best[level] = max(best.get(level, total), total)
    assert row == {"total": sum(best.values()), "n": len(best)}
    (top,) = result(client, "$apply=orderby(price desc)/top(5)/aggregate(price with sum as s)")
    assert top["s"] == sum(sorted((one["price"] for one in ROWS), reverse=True)[:5])


def test_rollup_adds_the_totals(client: Client) -> None:
    found = result(
        client, "$apply=groupby((rollup($all,level,active)),aggregate($count as n))&$orderby=n"
    )
    both, levels = grouped(lambda r: (r["level"], r["active"])), grouped(lambda r: r["level"])
    assert len(found) == len(both) + len(levels) + 1
    assert found[-1] == {"n": len(ROWS)}
    assert sorted(row["level"] for row in found if set(row) == {"level", "n"}) == sorted(levels)
    without = result(client, "$apply=groupby((rollup(level,active)),aggregate($count as n))")
    assert len(without) == len(both) + len(levels)


def test_concat_puts_results_under_each_other(client: Client) -> None:
    found = result(
        client,
        "$apply=filter(active)/concat(groupby((level),aggregate(price with sum as s)),"
        "aggregate(price with sum as s,$count as n))",
    )
    active = [row for row in ROWS if row["active"]]
    assert found[-1] == {"s": sum(row["price"] for row in active), "n": len(active)}
    assert [set(row) for row in found[:-1]] == [{"level", "s"}] * 4
    rows = result(client, "$apply=filter(id le 2)/concat(identity,aggregate(price with sum as s))")
    assert [row.get("id") for row in rows] == [1, 2, None]
    assert set(rows[-1]) == {"s"} and "s" not in rows[0]


def test_related_entities_are_aggregated(client: Client) -> None:
    (row,) = result(
        client,
        "$apply=aggregate(Children/$count as n,Children/price with sum as s,"
        "Children/price with max as m,Maker/rank with sum as ranks)",
    )
    children = [one for one in ROWS if one["parent_id"] is not None]
    assert row["n"] == len(children)
    assert row["s"] == sum(one["price"] for one in children)
    assert row["m"] == max(one["price"] for one in children)
    ranks = [MAKERS[one["maker_id"]]["rank"] for one in ROWS if one["maker_id"]]
    assert row["ranks"] == sum(rank for rank in ranks if rank is not None)


def test_what_is_made_of_decimals_is_grouped_and_sorted_as_what_it_is(client: Client) -> None:
    """Dates, instants and texts: SQLite hands the collation of decimals on to what they go into."""
    weeks = "floor(totalseconds(made sub 1970-01-05) div 604800)"
    monday = f"compute(1970-01-05 add duration'P7D' mul {weeks} as week)"
    expected = grouped(
        lambda row: row["made"] and str(row["made"] - timedelta(days=row["made"].weekday()))
    )
    found = result(
        client, f"$apply={monday}/groupby((week),aggregate($count as n))&$orderby=week desc"
    )
    assert {row["week"]: row["n"] for row in found} == {
        key: len(group) for key, group in expected.items()
    }
    days = [row["week"] for row in found if row["week"] is not None]
    assert days == sorted(days, reverse=True)

    moved = "compute(at add duration'PT1H' mul (price sub price) as moved)/groupby((moved))"
    assert len(result(client, f"$apply={moved}")) == len({row["at"] for row in ROWS})
    texts = result(client, "$orderby=cast(price,Edm.String),id&$select=price")
    expected_texts = sorted(f"{row['price']:.2f}" for row in ROWS)
    assert [f"{row['price']:.2f}" for row in texts] == expected_texts


@pytest.mark.parametrize(
    ("apply", "selected"),
    [
        ("groupby((Maker/name),aggregate(price with sum as total))", "Maker(name),total"),
        ("groupby((place/city,level))", "place/city,level"),
        ("groupby((Maker/name,Maker/id,place/city))", "Maker(name,id),place/city"),
        ("groupby((Maker/name))&$select=Maker/name", "Maker(name)"),
        ("groupby((Maker/name,level))&$select=Maker,level", "Maker(name),level"),
        ("join(Children as child)/groupby((child/name))", "child(name)"),
        ("groupby((Parent/Maker/name),aggregate($count as n))", "Parent(Maker(name)),n"),
        ("aggregate(price with sum as total)&$compute=total add 1 as more", "total,more"),
    ],
)
def test_the_context_tells_what_stands_in_an_object(
    client: Client, apply: str, selected: str
) -> None:
    found = client.get(f"Items?$apply={apply}&$top=1")
    assert found["@odata.context"].endswith(f"$metadata#Items({selected})")


def test_a_complex_value_with_all_its_parts_has_its_name_in_the_context(client: Client) -> None:
    found = client.get("Items?$apply=concat(topcount(1,price),aggregate(price with sum as total))")
    names = found["@odata.context"].partition("(")[2].rstrip(")").split(",")
    assert "place" in names and "total" in names


def test_entities_that_are_left_have_references(client: Client) -> None:
    found = client.get("Items/$ref?$apply=filter(id lt 4)/orderby(id desc)/top(2)")["value"]
    assert found == [{"@odata.id": "Items(3)"}, {"@odata.id": "Items(2)"}]
