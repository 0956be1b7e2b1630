"""``expand``, ``addnested`` and ``nest`` of ``$apply``, alike on both databases."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.odata.reading import model
from tests.odata.reading.conftest import Client

ROWS = model.item_rows()
OF_MAKER = {
    maker["id"]: [row["id"] for row in ROWS if row["maker_id"] == maker["id"]]
    for maker in model.MAKER_ROWS
}
DEAR = {
    maker: [row["id"] for row in ROWS if row["maker_id"] == maker and row["price"] > 1]
    for maker in OF_MAKER
}


def ids(rows: list[dict[str, Any]]) -> list[int]:
    return [row["id"] for row in rows]


def test_expand_shows_the_related_entities_of_each_row(client: Client) -> None:
    found = client.get("Makers?$apply=expand(Items)&$orderby=id")
    assert {row["id"]: ids(row["Items"]) for row in found["value"]} == OF_MAKER
    assert found["@odata.context"].endswith("#Makers(id,name,rank,city,Items())")
    plain = client.get("Makers?$expand=Items&$orderby=id")
    assert found["value"] == plain["value"]


def test_expand_shows_the_one_related_entity(client: Client) -> None:
    found = client.get("Items?$apply=filter(id le 9)/expand(Maker)&$select=id")["value"]
    makers = {row["id"]: row["maker_id"] for row in ROWS}
    assert [row["Maker"] and row["Maker"]["id"] for row in found] == [
        makers[row["id"]] for row in found
    ]


def test_a_filter_in_expand_leaves_the_rows_and_narrows_what_is_in_them(client: Client) -> None:
    found = client.get("Makers?$apply=expand(Items,filter(price gt 1))&$orderby=id")["value"]
    assert {row["id"]: ids(row["Items"]) for row in found} == DEAR


def test_what_follows_finds_only_what_the_filter_of_expand_left(client: Client) -> None:
    narrowed = "expand(Items,filter(price gt 1))"
    counts = client.get(f"Makers?$apply={narrowed}/compute(Items/$count as n)&$orderby=id")
    assert {row["id"]: row["n"] for row in counts["value"]} == {
        maker: len(dear) for maker, dear in DEAR.items()
    }
    cheap = f"Makers?$apply={narrowed}&$filter=Items/any(i:i/price le 1)"
    assert client.get(cheap)["value"] == []
    total = client.get(f"Makers?$apply={narrowed}/aggregate(Items/id with max as last)")["value"]
    assert total == [{"last": max(max(dear, default=0) for dear in DEAR.values())}]


def test_expansions_are_nested_and_outlast_a_choice_of_rows(client: Client) -> None:
    found = client.get(
        "Makers?$apply=filter(id ne 3)/expand(Items,filter(id le 20)/orderby(id desc)/top(2),"
        "expand(Parent),expand(Children,filter(active)))/orderby(id)/top(1)"
    )["value"]
    assert ids(found) == [1]
    assert ids(found[0]["Items"]) == sorted((i for i in OF_MAKER[1] if i <= 20), reverse=True)[:2]
    active = Counter(row["parent_id"] for row in ROWS if row["active"])
    for item in found[0]["Items"]:
        assert len(item["Children"]) == active[item["id"]]
        assert (item["Parent"] or {"id": None})["id"] == item["parentId"]


def test_groups_do_not_show_what_was_expanded(client: Client) -> None:
    found = client.get("Makers?$apply=expand(Items)/groupby((city))")["value"]
    assert all(set(row) == {"city"} for row in found)


def test_addnested_gives_parts_of_a_collection_names_of_their_own(client: Client) -> None:
    found = client.get(
        "Makers?$apply=addnested(Items,filter(price gt 1) as Dear,"
        "filter(price gt 1)/compute(price mul 2 as twice)/orderby(id desc)/skip(1)/top(2) as Few)"
        "/filter(Dear/any())&$orderby=id"
    )
    assert found["@odata.context"].endswith("#Makers(id,name,rank,city,Dear(),Few())")
    assert {row["id"]: ids(row["Dear"]) for row in found["value"]} == {
        maker: dear for maker, dear in DEAR.items() if dear
    }
    for row in found["value"]:
        assert ids(row["Few"]) == DEAR[row["id"]][::-1][1:3]
        assert all(item["twice"] == pytest.approx(item["price"] * 2) for item in row["Few"])


def test_nest_makes_one_row_of_several_results(client: Client) -> None:
    found = client.get(
        "Items?$apply=filter(id le 30)/nest(groupby((level),aggregate($count as n)) as Levels,"
        "topcount(3,id)/expand(Maker) as Last,aggregate(price with sum as total) as Sum)"
    )
    context = found["@odata.context"].partition("#")[2]
    assert context.startswith("Items(Levels(level,n),Last(id,")
    assert context.endswith("Maker()),Sum(total))")
    [row] = found["value"]
    kept = [one for one in ROWS if one["id"] <= 30]
    assert {one["level"]: one["n"] for one in row["Levels"]} == Counter(
        one["level"] for one in kept
    )
    assert ids(row["Last"]) == [30, 29, 28]
    assert all("Maker" in one for one in row["Last"])
    assert row["Sum"] == [{"total": pytest.approx(float(sum(one["price"] for one in kept)))}]


def test_nest_of_groups_and_of_nothing(client: Client) -> None:
    found = client.get(
        "Items?$apply=filter(id lt 0)/groupby((level))/nest(identity as All,top(1) as First)"
    )
    assert found["value"] == [{"All": [], "First": []}]


def test_nest_stands_in_nest_and_its_collections_can_be_selected(client: Client) -> None:
    found = client.get(
        "Makers?$apply=nest(nest(filter(id eq 1) as B,filter(id eq 2)/expand(Items) as C) as A)"
        "&$select=A"
    )
    [row] = found["value"][0]["A"]
    assert ids(row["B"]) == [1]
    assert ids(row["C"][0]["Items"]) == OF_MAKER[2]


def test_addresses_of_what_is_nested_are_those_of_the_set(client: Client) -> None:
    found = client.get(
        "Items?$apply=nest(filter(id eq 3)/expand(Children) as A)"
        "&$format=application/json;metadata=full"
    )
    [item] = found["value"][0]["A"]
    assert item["@odata.id"] == "Items(3)"
    assert {one["@odata.id"] for one in item["Children"]} == {
        f"Items({row['id']})" for row in ROWS if row["parent_id"] == 3
    }


def test_names_of_control_information_follow_the_version(client: Client) -> None:
    found = client.get("Items?$apply=nest(top(1) as One)&$count=true", OData_MaxVersion="4.01")
    assert found["@count"] == 1
    assert found["value"][0]["One"][0]["@etag"].startswith('W/"')


def test_not_any_number_of_collections_is_put_into_a_row(client: Client) -> None:
    many = ",".join(f"identity as A{at}" for at in range(24))
    found = client.get(f"Makers?$apply=addnested(Items,{many})&$orderby=id")["value"]
    assert {row["id"]: ids(row["A23"]) for row in found} == OF_MAKER
    for more in (
        f"addnested(Items,{many},identity as B)",
        f"nest({many},identity as B)",
        f"nest(nest({many}) as B,identity as C)",
    ):
        error = client.refused(f"Makers?$apply={more}")
        assert (error["status"], "more than 24" in error["message"]) == (400, True), error


@pytest.mark.parametrize(
    ("address", "status", "words"),
    [
        ("Items?$apply=expand(name)", 400, "name is not a navigation property"),
        ("Items?$apply=expand(Makr)", 400, "did you mean 'Maker'?"),
        ("Makers?$apply=expand(Items)/expand(Items)", 400, "Maker has Items already"),
        ("Makers?$apply=expand(Items)&$expand=Items", 400, "Items is expanded twice"),
        ("Makers?$apply=expand(Items,filter(nam eq 1))", 400, "Item has no property 'nam'"),
        ("Makers/$count?$apply=expand(Items,filter(nam eq 1))", 400, "no property 'nam'"),
        ("Makers?$apply=addnested(Items,identity as name)", 400, "Maker has name already"),
        ("Makers?$apply=addnested(Items,identity as A)/compute(1 as A)", 400, "property A already"),
        ("Makers?$apply=nest(identity as A,top(1) as A)", 400, "the name A occurs twice in nest()"),
        ("Items?$apply=groupby((level))/expand(Maker)", 501, "only where rows are entities"),
        ("Items?$apply=expand(Maker,filter(rank eq 1))", 501, "Maker is one entity"),
        ("Items?$apply=expand(Maker/Items)", 501, "navigation property of the row itself"),
        ("Makers?$apply=expand(Items,groupby((name)))", 501, "groupby() is not offered inside"),
        ("Makers?$apply=addnested(Items,top(1)/skip(1) as A)", 501, "skip() is not offered at"),
        ("Makers?$apply=addnested(Items,aggregate($count as n) as A)", 501, "aggregate() is not"),
        ("Makers?$apply=addnested(Items,top(1) as A)/filter(A/any())", 501, "not used further"),
        ("Makers?$apply=expand(Items)/concat(identity,identity)", 501, "Items cannot be kept"),
        ("Makers?$apply=expand(Items)/join(Items as i)", 501, "Items cannot be kept in join"),
        ("Makers?$apply=concat(expand(Items),identity)", 501, "Items cannot be kept in concat()"),
        ("Makers?$apply=nest(nest(nest(nest(top(1) as A) as B) as C) as D)", 400, "3 levels deep"),
        ("Makers?$apply=nest(identity as A)/top(1)", 501, "A cannot be kept"),
        ("Items?$apply=groupby((level),nest(identity as A))", 501, "nest() is not"),
        ("Items?$apply=ancestors($root/Items,Q,id,filter(id eq 1))", 501, "ancestors() is not"),
        ("Items?$apply=descendants($root/Items,Q,id,filter(id eq 1))", 501, "descendants() is"),
        ("Items?$apply=traverse($root/Items,Q,id,preorder)", 501, "traverse() is not offered"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_by_its_name(
    client: Client, address: str, status: int, words: str
) -> None:
    error = client.refused(address)
    assert error["status"] == status, error
    assert words in error["message"]
