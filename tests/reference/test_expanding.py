"""Deep expansion, and expansion of what only a derived type shows."""

from __future__ import annotations

from typing import Any

import pytest

from tests.reference.conftest import Reference


def link(reference: Reference, source: str, target: str) -> None:
    body = {"@odata.id": f"Products({reference.key(target)})"}
    address = f"/Products({reference.key(source)})/RelatedProducts/$ref"
    assert reference.send("POST", address, body).status_code in (201, 204)


def depth(row: dict[str, Any]) -> int:
    return 1 + max((depth(one) for one in row.get("RelatedProducts", ())), default=0)


@pytest.mark.parametrize("options", ["", ";$select=Name", ";$count=true", ";$orderby=Name desc"])
@pytest.mark.parametrize("levels", ["3", "5", "max"])
def test_a_relation_is_followed_to_every_level(
    reference: Reference, options: str, levels: str
) -> None:
    for source, target in (("Laptop", "Smartphone"), ("Smartphone", "Laptop")):
        link(reference, source, target)
    expand = f"$expand=RelatedProducts($levels={levels}{options})"
    (row,) = reference.get(f"/Products?$filter=Name eq 'Laptop'&{expand}")["value"]
    expected = 5 if levels == "max" else int(levels)
    assert depth(row) - 1 == expected
    assert row["RelatedProducts"][0]["RelatedProducts"][0]["Name"] == "Laptop"


def test_everything_is_expanded_to_every_level(reference: Reference) -> None:
    rows = reference.get("/Products?$expand=*($levels=max)&$top=2")["value"]
    assert all(set(row) >= {"Category", "Descriptions", "RelatedProducts"} for row in rows)
    deep = "Descriptions($expand=Product($expand=Descriptions($expand=Product($expand=Category))))"
    for header in ({}, {"Prefer": "omit-values=nulls"}):
        rows = reference.get(f"/Products?$expand={deep}&$top=2", **header)["value"]
        assert rows[0]["Descriptions"][0]["Product"]["Name"] == rows[0]["Name"]


@pytest.mark.parametrize(
    ("item", "name"),
    [
        ("Category($select=Name)", "Category"),
        ("Descriptions($select=LanguageKey)", "Descriptions"),
        ("Descriptions/$count", "Descriptions@odata.count"),
        ("Category/$ref", "Category"),
    ],
)
def test_only_rows_of_the_derived_type_are_expanded(
    reference: Reference, item: str, name: str
) -> None:
    expand = f"$expand=ComplianceService.SpecialProduct/{item}"
    for shape in ("", "&$select=Name", "&$apply=filter(true)"):
        rows = reference.get(f"/Products?{expand}{shape}")["value"]
        assert {row["Name"] for row in rows if name in row} == {
            "Laptop", "Premium Laptop Pro", "Gaming Mouse Ultra"
        }  # fmt: skip
        assert len(rows) == 7
    one = reference.get(f"/Products({reference.key('Coffee Mug')})?{expand}")
    assert name not in one
    special = f"/Products/ComplianceService.SpecialProduct?{expand}"
    assert all(name in row for row in reference.get(special)["value"])
    again = f"/Products?$expand={item.partition('(')[0].partition('/')[0]},{expand[8:]}"
    assert reference.send("GET", again).status_code == 400


# --- a type behind what is expanded

BEHIND = "ComplianceService.SpecialProduct"


def test_only_entities_of_the_type_behind_it_are_expanded(reference: Reference) -> None:
    items = f"Products/{BEHIND}($select=Name,SpecialProperty;$orderby=Name;$top=2;$count=true)"
    rows = reference.get(f"/Categories?$expand={items}&$orderby=Name")["value"]
    names = [[one["Name"] for one in row["Products"]] for row in rows]
    assert names == [["Gaming Mouse Ultra", "Laptop"], [], []]
    assert [row["Products@odata.count"] for row in rows] == [3, 0, 0]
    first = rows[0]["Products"][0]
    assert first["@odata.type"] == f"#{BEHIND}"  # it is not the declared one
    assert first["SpecialProperty"] == "RGB lighting with 16 million colors"


def test_a_single_entity_of_another_type_is_null(reference: Reference) -> None:
    rows = reference.get(f"/ProductDescriptions?$expand=Product/{BEHIND}($select=Name)")["value"]
    found = {row["ProductID"]: row["Product"] for row in rows}
    assert found[reference.key("Laptop")]["Name"] == "Laptop"
    assert found[reference.key("Coffee Mug")] is None


@pytest.mark.parametrize(
    ("ending", "wanted"), [("$count", 3), ("$count($filter=Price gt 1000)", 1)]
)
def test_their_number_alone(reference: Reference, ending: str, wanted: int) -> None:
    address = f"/Categories?$expand=Products/{BEHIND}/{ending}&$filter=Name eq 'Electronics'"
    (row,) = reference.get(address)["value"]
    assert row["Products@odata.count"] == wanted
    assert "Products" not in row


def test_a_type_behind_it_goes_through_every_level(reference: Reference) -> None:
    for source, target in (
        ("Laptop", "Premium Laptop Pro"),
        ("Laptop", "Smartphone"),
        ("Premium Laptop Pro", "Laptop"),
    ):
        link(reference, source, target)
    address = f"/Products?$filter=Name eq 'Laptop'&$expand=RelatedProducts/{BEHIND}($levels=2)"
    (row,) = reference.get(address)["value"]
    assert [one["Name"] for one in row["RelatedProducts"]] == ["Premium Laptop Pro"]
    assert [one["Name"] for one in row["RelatedProducts"][0]["RelatedProducts"]] == ["Laptop"]


@pytest.mark.parametrize(
    "item",
    [
        "Products/ComplianceService.Category",
        "Products/Other.SpecialProduct",
        f"Products/{BEHIND}/Descriptions",
        f"Products,Products/{BEHIND}",
    ],
)
def test_no_such_type_behind_it(reference: Reference, item: str) -> None:
    answer = reference.send("GET", f"/Categories?$expand={item}")
    assert answer.status_code == 400, answer.text
    assert "position" in answer.json["error"]
