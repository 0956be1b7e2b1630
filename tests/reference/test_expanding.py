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
