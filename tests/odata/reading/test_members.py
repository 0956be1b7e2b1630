"""Options of collection properties in ``$select``, alike on both databases."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from tests.odata.reading import model
from tests.odata.reading.conftest import Client

ROWS = {row["id"]: row for row in model.item_rows()}
LABELS = {key: row["labels"] for key, row in ROWS.items()}
_TWO = ("vip", "none")
LINES = {key: row["lines"] for key, row in ROWS.items()}


def shown(client: Client, select: str, name: str) -> dict[int, Any]:
    found = client.get(f"Items?$select=id,{select}&$orderby=id")["value"]
    return {row["id"]: row[name] for row in found}


def rate(line: dict[str, Any]) -> Decimal | None:
    value = line.get("rate")
    return None if value is None else Decimal(str(value))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("$filter=contains($this,'e')", lambda labels: [one for one in labels if "e" in one]),
        ("$top=1", lambda labels: labels[:1]),
        ("$skip=1", lambda labels: labels[1:]),
        ("$skip=1;$top=1", lambda labels: labels[1:2]),
        ("$orderby=$this", sorted),
        ("$orderby=$this desc;$top=1", lambda labels: sorted(labels, reverse=True)[:1]),
        ("$orderby=length($this)", lambda labels: sorted(labels, key=len)),
        ("$filter=length($this) gt 99", lambda labels: []),
        ("$filter=$this in ('vip','none')", lambda labels: [x for x in labels if x in _TWO]),
    ],
)
def test_texts_are_chosen_and_sorted(
    client: Client, options: str, expected: Callable[[list[str]], list[str]]
) -> None:
    assert shown(client, f"labels({options})", "labels") == {
        key: expected(labels) for key, labels in LABELS.items()
    }


def test_the_entity_is_it_and_the_member_is_this(client: Client) -> None:
    found = shown(client, "labels($filter=length($this) lt $it/id)", "labels")
    assert found == {key: [x for x in labels if len(x) < key] for key, labels in LABELS.items()}


def test_the_number_of_members_leaves_top_aside(client: Client) -> None:
    found = client.get("Items?$select=id,labels($filter=contains($this,'e');$top=1;$count=true)")
    for row in found["value"]:
        passing = [label for label in LABELS[row["id"]] if "e" in label]
        assert (row["labels@odata.count"], row["labels"]) == (len(passing), passing[:1])


def test_complex_members_are_chosen_by_their_properties(client: Client) -> None:
    found = shown(client, "lines($filter=rate gt 1)", "lines")
    assert {key: [rate(line) for line in lines] for key, lines in found.items()} == {
        key: [rate(line) for line in lines if (rate(line) or 0) > 1] for key, lines in LINES.items()
    }
    assert found == shown(client, "lines($filter=$this/rate gt 1)", "lines")
    same = shown(client, "lines($filter=not ($it/lines/any(l:l/rate eq null)) or true)", "lines")
    assert same == shown(client, "lines", "lines")


def test_complex_members_are_sorted_and_lose_properties(client: Client) -> None:
    found = shown(client, "lines($orderby=rate desc,text;$select=text)", "lines")
    for key, lines in found.items():
        assert all(set(line) == {"text"} for line in lines)
        ordered = sorted(LINES[key], key=lambda line: line.get("text") or "")
        ordered.sort(key=lambda line: Decimal("-Infinity") if rate(line) is None else rate(line),
                     reverse=True)  # fmt: skip
        assert [line["text"] for line in lines] == [line.get("text") for line in ordered]


def test_members_are_shown_of_one_entity_and_of_related_ones(client: Client) -> None:
    assert client.get("Items(3)?$select=labels($top=1)")["labels"] == LABELS[3][:1]
    found = client.get("Makers(1)?$expand=Items($select=id,labels($skip=1);$orderby=id)")["Items"]
    assert found
    assert all(item["labels"] == LABELS[item["id"]][1:] for item in found)


def test_another_value_makes_no_other_plan(client: Client) -> None:
    for top in (1, 2, 0):
        found = shown(client, f"labels($top={top})", "labels")
        assert found == {key: labels[:top] for key, labels in LABELS.items()}
    assert len(client.reader.plans) == len(client.connections)


@pytest.mark.parametrize(
    ("address", "status", "words"),
    [
        ("Items?$select=labels($filter=startswith($it,'a'))", 400, "this is an entity (Item)"),
        ("Items?$select=labels($filter=name eq 'x')", 400, "has no properties"),
        ("Items?$select=lines($filter=rat gt 1)", 400, "did you mean 'rate'?"),
        ("Items?$select=lines($orderby=$this)", 400, "complex value"),
        ("Items?$select=lines($select=rat)", 400, "did you mean 'rate'?"),
        ("Items?$select=labels($select=x)", 400, "labels has no properties to select from"),
        ("Items?$select=labels($top=1),labels($top=2)", 400, "labels is selected twice"),
        ("Items?$select=labels($top=-1)", 400, "$top"),
        ("Items?$select=labels($search=x)", 501, "of a collection $select takes"),
        ("Items?$select=place($top=1)", 400, "place is no collection"),
        ("Items?$select=name($filter=true)", 400, "name is no collection"),
    ],
)
def test_what_does_not_fit_is_refused(
    client: Client, address: str, status: int, words: str
) -> None:
    error = client.refused(address)
    assert error["status"] == status, error
    assert words in error["message"]


# --- what an open type holds, which nothing declares

DEEP = [key for key, row in ROWS.items() if "deep" in (row["extra"] or {})]


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("extra/wide/y/z eq 'red'", DEEP),
        ("extra/wide/y/n gt 5 and extra/wide/y/n lt 6", DEEP),
        ("extra/wide/y/n eq 'red' or extra/wide/y/z gt 5", []),
        ("extra/wide/y ne null and extra/deep/x ne null", DEEP),
        ("extra/deep/nothing/z eq null", list(ROWS)),
        ("extra/colour/z ne null or extra/ok/z ne null or extra/deep/x/z ne null", []),
        ("contains(extra/wide/y/z,'e')", DEEP),
        ("cast(extra/wide/y/n,Edm.String) eq '5.5'", DEEP),
    ],
)
def test_paths_go_on_in_what_nothing_declares(client: Client, text: str, keys: list[int]) -> None:
    assert DEEP and client.values(f"Items?$filter={text}&$orderby=id") == keys


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("wide/y", {"z": "red", "n": 5.5}), ("deep/x", [1, "a"]), ("wide/y/z", "red"),
        ("wide/y/n", 5.5),
    ],
)  # fmt: skip
def test_what_nothing_declares_has_addresses(client: Client, path: str, value: Any) -> None:
    address = f"Items({DEEP[0]})/extra/{path}"
    assert client.get(address)["value"] == value
    if not isinstance(value, dict | list):
        assert client.get(f"{address}/$value") == str(value)
    for nothing in ("none", "deep/none", "wide/y/none", "wide/y/z/none", "ok/none"):
        assert client.answer(f"Items({DEEP[0]})/extra/{nothing}").status == 204


def extra(name: str) -> dict[int, Any]:
    """What nothing declares, by the key of its row."""
    return {key: (row["extra"] or {}).get(name) for key, row in ROWS.items()}


def place(value: Any) -> tuple[Any, ...]:
    """Where a value of any type stands: numbers after texts after what is neither."""
    number = None if isinstance(value, bool | str) else value
    parts = (number, value if isinstance(value, str) else None)
    return tuple((part is not None, part or 0) for part in parts)


@pytest.mark.parametrize("name", ["score", "colour"])
@pytest.mark.parametrize("address", ["Items?$select=id", "Items?$apply=topcount(60,extra/{})"])
def test_rows_are_sorted_by_what_nothing_declares(client: Client, name: str, address: str) -> None:
    values, descending = extra(name), "apply" in address
    order = "" if descending else f"&$orderby=extra/{name},id"
    expected = sorted(values, key=lambda key: (place(values[key]), key))
    if descending:
        expected = sorted(values, key=lambda key: place(values[key]), reverse=True)
    keys = client.values(address.format(name) + order)
    assert [values[key] for key in keys] == [values[key] for key in expected]
    assert descending or keys == expected
    page = client.answer(
        "Items", f"$orderby=extra/{name} desc,id&$select=id", prefer="maxpagesize=7"
    )
    pages = client.json(page)["value"]
    while link := client.json(page).get("@odata.nextLink"):
        page = client.answer("Items", link.partition("?")[2], prefer="maxpagesize=7")
        pages += client.json(page)["value"]
    downwards = sorted(values, key=lambda key: key)
    downwards.sort(key=lambda key: place(values[key]), reverse=True)
    assert [row["id"] for row in pages] == downwards


def test_no_value_is_lost_where_nothing_tells_its_type(client: Client) -> None:
    rows = client.get("Items?$apply=groupby((extra/colour),aggregate($count as n))")["value"]
    counts = {(row["extra"] or {}).get("colour"): row["n"] for row in rows}
    assert counts == {None: 30, "red": 10, "blue": 10, "5": 10}
    rows = client.get("Items?$compute=extra/score as s&$select=id,s")["value"]
    assert {row["s"] for row in rows} == {None, "5", "5.50"}
    rows = client.get("Items?$compute=extra/wide/y/z as z&$select=z&$filter=z eq 'red'")["value"]
    assert len(rows) == len(DEEP)
    (row,) = client.get("Items?$apply=aggregate(extra/score with countdistinct as n)")["value"]
    assert row["n"] == 2
    steps = "aggregate(cast(extra/score,Edm.Decimal) with max as most)"
    assert client.get(f"Items?$apply={steps}")["value"] == [{"most": 5.5}]


def test_a_condition_may_be_a_value_that_nothing_declares(client: Client) -> None:
    for text, wanted in (("extra/ok", True), ("not extra/ok", False)):
        keys = [key for key, value in extra("ok").items() if value is wanted]
        assert keys and client.values(f"Items?$filter={text}&$orderby=id") == keys


@pytest.mark.parametrize("method", ["max", "min", "sum", "average"])
def test_an_aggregate_needs_a_type(client: Client, method: str) -> None:
    error = client.refused(f"Items?$apply=aggregate(extra/score with {method} as x)")
    assert (error["status"], error["position"]) == (400, 16)
    assert f"{method} needs a type: cast(...,Edm.Decimal)" in error["message"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("year(extra/score) eq 1", "year does not take Edm.String"),
        ("totalseconds(extra/score) gt 1", "totalseconds does not take Edm.String"),
        ("date(extra/colour) eq 2024-01-01", "date does not take Edm.String"),
    ],
)
def test_functions_of_instants_take_nothing_undeclared(
    client: Client, text: str, words: str
) -> None:
    error = client.refused(f"Items?$filter={text}")
    assert (error["status"], words in error["message"]) == (400, True), error["message"]


@pytest.mark.parametrize(
    ("name", "type_", "kinds"),
    [
        ("score", "Decimal", (int, Decimal)), ("score", "Double", (int, Decimal)),
        ("score", "String", ()), ("colour", "String", (str,)), ("colour", "Decimal", (int,)),
        ("ok", "Boolean", (bool,)), ("ok", "String", ()), ("score", "Date", ()),
    ],
)  # fmt: skip
def test_what_nothing_declares_is_of_the_type_that_it_is_written_as(
    client: Client, name: str, type_: str, kinds: tuple[type, ...]
) -> None:
    keys = client.values(f"Items?$filter=isof(extra/{name},Edm.{type_})&$orderby=id")
    assert keys == [key for key, value in extra(name).items() if isinstance(value, kinds)]


def test_the_context_names_the_path_of_a_group(client: Client) -> None:
    for path in ("extra/deep/x", "extra/wide/y/z", "place/city"):
        context = client.get(f"Items?$apply=groupby(({path}))")["@odata.context"]
        assert context.endswith(f"$metadata#Items({path})")
