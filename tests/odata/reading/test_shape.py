"""``$select``, ``$expand``, ``$compute``, ``$orderby``, ``$top``, ``$skip``, ``$count``."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from tests.odata.reading import model
from tests.odata.reading.conftest import ROOT, Client

ROWS = {row["id"]: row for row in model.item_rows()}
CONTROL = ("@odata.context", "@odata.id", "@odata.etag")


def shown(row: dict[str, Any]) -> list[str]:
    return [name for name in row if name not in CONTROL]


@pytest.mark.parametrize(
    ("select", "names"),
    [
        ("name,id", ["id", "name"]),
        ("NAME", ["name"]),
        ("*", list(model.ITEM.properties)),
        ("name,*", list(model.ITEM.properties)),
        ("place/city", ["place"]),
        ("name,Maker", ["name"]),
        ("Workshop.*,name", ["name"]),
        ("Workshop.Item/name", ["name"]),
        ("@Core.Description,name", ["name"]),
    ],
)
def test_select_shows_what_is_named(client: Client, select: str, names: list[str]) -> None:
    assert shown(client.get(f"Items(2)?$select={select}")) == names
    assert shown(client.get(f"Items?$select={select}&$top=1")["value"][0]) == names


@pytest.mark.parametrize(
    ("select", "value"),
    [
        ("place/city", {"city": "Köln"}),
        ("place($select=street)", {"street": "High Street 1"}),
        ("place/city,place/street", {"street": "High Street 1", "city": "Köln"}),
        ("place/city,place", {"street": "High Street 1", "city": "Köln"}),
        ("place($select=*)", {"street": "High Street 1", "city": "Köln"}),
    ],
)
def test_select_goes_into_complex_values(client: Client, select: str, value: object) -> None:
    assert client.get(f"Items(2)?$select={select}")["place"] == value


def test_select_goes_into_open_values(client: Client) -> None:
    assert client.get("Items(3)?$select=extra/colour")["extra"] == {"colour": "red"}
    assert client.get("Items(1)?$select=extra/colour")["extra"] is None
    assert client.get("Items(2)?$select=extra/colour")["extra"] == {"colour": None}


@pytest.mark.parametrize(
    ("query", "context"),
    [
        ("", "#Items"),
        ("$select=name,id", "#Items(id,name)"),
        ("$select=*", "#Items(*)"),
        ("$select=place/city", "#Items(place/city)"),
        ("$expand=Maker", "#Items"),
        ("$select=id&$expand=Maker", "#Items(id)"),
        ("$expand=Maker($select=name)", "#Items(Maker(name))"),
        ("$select=id&$expand=Children($select=id;$expand=Maker($select=name))",
         "#Items(id,Children(id,Maker(name)))"),
        ("$compute=price mul 2 as twice&$select=twice", "#Items(twice)"),
        ("$apply=groupby((level),aggregate($count as n))", "#Items(level,n)"),
    ],
)  # fmt: skip
def test_the_context_tells_the_selection(client: Client, query: str, context: str) -> None:
    assert client.get(f"Items?{query}")["@odata.context"] == f"{ROOT}$metadata{context}"
    if "$apply" not in query:
        single = client.get(f"Items(2)?{query}")["@odata.context"]
        assert single == f"{ROOT}$metadata{context}/$entity"


def test_a_computed_value_can_be_shown_filtered_and_sorted_by(client: Client) -> None:
    found = client.get(
        "Items?$compute=price mul 2 as twice,twice add 1 as more,concat(name,'!') as loud"
        "&$filter=twice gt 200&$orderby=more desc&$select=id,twice,more,loud"
    )["value"]
    expected = [row for row in ROWS.values() if row["price"] * 2 > 200]
    assert len(found) == len(expected)
    assert [row["twice"] for row in found] == sorted((row["twice"] for row in found), reverse=True)
    for row in found:
        source = ROWS[row["id"]]
        assert Decimal(str(row["twice"])) == source["price"] * 2
        assert row["loud"] == source["name"] + "!"


def test_expand_shows_related_entities(client: Client) -> None:
    found = client.get("Items?$expand=Maker,Children&$select=id")["value"]
    for row in found:
        source = ROWS[row["id"]]
        maker = row["Maker"] and row["Maker"]["id"]
        assert maker == source["maker_id"]
        children = [one["id"] for one in ROWS.values() if one["parent_id"] == row["id"]]
        assert [one["id"] for one in row["Children"]] == children


def test_nested_options_apply_to_each_parent(client: Client) -> None:
    found = client.get(
        "Items?$select=id&$expand=Children($filter=active;$orderby=price desc,id;$skip=1;$top=2;"
        "$count=true;$select=id,price;$expand=Maker($select=name))&$filter=Children/any()"
    )["value"]
    for row in found:
        children = [one for one in ROWS.values() if one["parent_id"] == row["id"] and one["active"]]
        ordered = sorted(children, key=lambda one: (-one["price"], one["id"]))
        assert row["Children@odata.count"] == len(children)
        assert [one["id"] for one in row["Children"]] == [one["id"] for one in ordered[1:3]]
        assert all(set(one) == {"@odata.etag", "id", "price", "Maker"} for one in row["Children"])


def test_nested_search_compute_and_outer_instance(client: Client) -> None:
    found = client.get("Items(1)?$select=id&$expand=Children($search=acme;$select=name)")[
        "Children"
    ]
    assert all("acme" in one["name"].lower() for one in found)
    found = client.get(
        "Items(1)?$select=id&$expand=Children($compute=price mul 2 as twice;$select=twice;$top=1)"
    )["Children"]
    assert [set(one) for one in found] == [{"@odata.id", "@odata.etag", "twice"}]
    found = client.get("Items?$select=id&$expand=Children($filter=price gt $it/price;$select=id)")
    for row in found["value"]:
        for one in row["Children"]:
            assert ROWS[one["id"]]["price"] > ROWS[row["id"]]["price"]


@pytest.mark.parametrize(
    ("query", "older", "newer"),
    [
        ("$select=name,Maker", "(name,Maker)", "(name,Maker)"),
        ("$select=children,name,Children", "(name,Children)", "(name,Children)"),
        ("$select=Maker", "(Maker)", "(Maker)"),
        ("$select=*,Maker", "(*,Maker)", "(*,Maker)"),
        ("$expand=Maker", "", "(Maker())"),
        ("$expand=*", "", "(Parent(),Children(),Maker())"),
        ("$expand=Maker/$ref", "", ""),
        ("$expand=Children/$count", "", ""),
        ("$select=name&$expand=Maker", "(name)", "(name,Maker())"),
        ("$select=name,Maker&$expand=Maker", "(name,Maker)", "(name,Maker,Maker())"),
        ("$expand=Maker($select=name)", "(Maker(name))", "(Maker(name))"),
        ("$expand=Maker($expand=Items)", "(Maker())", "(Maker(Items()))"),
        (
            "$select=Children&$expand=Maker($select=id,Items)",
            "(Children,Maker(id,Items))",
            "(Children,Maker(id,Items))",
        ),
        ("$expand=Parent($levels=2)", "", "(Parent+())"),
        (
            "$select=id&$expand=Children($levels=3;$select=name)",
            "(id,Children+(name))",
            "(id,Children+(name))",
        ),
    ],
)
def test_the_context_tells_what_is_selected_and_expanded(
    client: Client, query: str, older: str, newer: str
) -> None:
    """Protocol 10.7 to 10.10: what is expanded as a whole is told by 4.01 alone."""
    for version, selected in (("4.0", older), ("4.01", newer)):
        headers = {"OData-MaxVersion": version}
        for path, name in (("Items", "Items{}"), ("Items(1)", "Items{}/$entity")):
            options = f"{query}&$top=1" if path == "Items" else query
            found = client.json(client.answer(path, options, headers))
            control = "@odata.context" if version == "4.0" else "@context"
            assert found[control] == f"{ROOT}$metadata#{name.format(selected)}"


def test_an_alias_is_of_the_item_that_it_stands_beside(client: Client) -> None:
    one = "Children($filter=name ne @n;@n='none';$select=id)"
    rows = client.get(f"Items?$select=id&$expand={one}&$filter=id lt 4")["value"]
    plain = client.get("Items?$select=id&$expand=Children($select=id)&$filter=id lt 4")["value"]
    assert rows == plain and any(row["Children"] for row in rows)
    inner = "Children($filter=id eq @k;@k=7;$select=id)"
    rows = client.get(f"Items?$select=id&$filter=id eq @k&@k=1&$expand={inner}")["value"]
    assert [(row["id"], [one["id"] for one in row["Children"]]) for row in rows] == [(1, [7])]
    deep = client.get("Items(1)?$expand=Children($expand=Children($filter=id eq @k);@k=43)")
    assert [one["id"] for row in deep["Children"] for one in row["Children"]] == [43]
    chosen = client.get("Items(1)?$select=labels($filter=$this eq @t;@t='vip')")
    assert chosen["labels"] == ["vip"]


def test_expand_levels_ref_count_and_star(client: Client) -> None:
    grand = client.get("Items(43)?$expand=Parent($levels=max)")
    assert (grand["Parent"]["id"], grand["Parent"]["Parent"]["id"]) == (7, 1)
    assert grand["Parent"]["Parent"]["Parent"] is None
    two = client.get("Items(1)?$expand=Children($levels=2;$select=id)")
    assert "Children" in two["Children"][0] and "Children" not in two["Children"][0]["Children"][0]
    references = client.get("Items(1)?$expand=Children/$ref($top=2)&$select=id")
    assert references["Children"] == [{"@odata.id": "Items(7)"}, {"@odata.id": "Items(8)"}]
    counted = client.get("Items(1)?$expand=Children/$count($filter=active)&$select=id")
    assert shown(counted) == ["id", "Children@odata.count"]
    assert counted["Children@odata.count"] == 4
    everything = client.get("Items(7)?$expand=*&$select=id")
    assert shown(everything) == ["id", "Parent", "Children", "Maker"]
    some = client.get("Items(7)?$expand=*/$ref,Maker&$select=id")
    assert some["Parent"] == {"@odata.id": "Items(1)"}


@pytest.mark.parametrize("name", ["size", "cost", "made", "seen", "note", "checked"])
def test_nulls_are_least(client: Client, name: str) -> None:
    rising = client.values(f"Items?$orderby={name}&$select={name}", name)
    nulls = rising.count(None)
    assert nulls and rising[:nulls] == [None] * nulls
    falling = client.values(f"Items?$orderby={name} desc&$select={name}", name)
    assert falling == rising[::-1]


def test_texts_are_sorted_by_code_point_and_levels_by_urgency(client: Client) -> None:
    names = client.values("Items?$orderby=name&$select=name", "name")
    assert names == sorted(names)
    levels = client.values("Items?$orderby=level desc&$select=level", "level")
    assert levels == sorted(levels, key=model.LEVELS.index, reverse=True)


@pytest.mark.parametrize("query", ["$top=5", "$skip=55", "$top=5&$skip=3", "$top=0", "$skip=99"])
def test_count_ignores_the_window(client: Client, query: str) -> None:
    found = client.get(f"Items?{query}&$count=true&$filter=active&$orderby=id")
    assert found["@odata.count"] == 40
    whole = client.values("Items?$filter=active&$orderby=id")
    options = dict(part.partition("=")[::2] for part in query.split("&"))
    skip = int(options.get("$skip", 0))
    window = whole[skip:][: int(options["$top"]) if "$top" in options else None]
    assert [row["id"] for row in found["value"]] == window
    assert "@odata.count" not in client.get(f"Items?{query}&$count=false")


@pytest.mark.parametrize(
    "query",
    ["filter=active&orderby=name&top=3&select=id", "$FILTER=active&$OrderBy=name&$Top=3&$sElEcT=id",
     "%24filter=active&%24orderby=name&%24top=3&%24select=id"],
)  # fmt: skip
def test_option_names_are_written_in_many_ways(client: Client, query: str) -> None:
    expected = client.get("Items?$filter=active&$orderby=name&$top=3&$select=id")
    assert client.get(f"Items?{query}") == expected


@pytest.mark.parametrize(
    ("search", "predicate"),
    [
        ("acme", lambda text: "acme" in text),
        ("ACME", lambda text: "acme" in text),
        ("zurich", lambda text: "zurich" in text.replace("ü", "u")),
        ("ete", lambda text: "été" in text),
        ("strasse", lambda text: "straße" in text),
        ('"alpha beta"', lambda text: "alpha beta" in text),
        ("acme ltd", lambda text: "acme" in text and "ltd" in text),
        ("acme AND NOT ltd", lambda text: "acme" in text and "ltd" not in text),
        ("acme OR zebra", lambda text: "acme" in text or "zebra" in text),
        ("NOT (acme OR alpha)", lambda text: "acme" not in text and "alpha" not in text),
        ("日本語", lambda text: "日本語" in text),
        ('"50%"', lambda text: "50%" in text),
    ],
)
def test_search_ignores_case_and_accents(client: Client, search: str, predicate: Any) -> None:
    expected = [
        row["id"]
        for row in ROWS.values()
        if predicate(f"{row['name']}\n{row['note'] or ''}".lower())
    ]
    assert client.values(f"Items?$search={search}&$orderby=id") == expected
    assert expected
