"""Resource paths: entities, properties, navigation, counts, references."""

from __future__ import annotations

import pytest

from tests.odata.reading import model
from tests.odata.reading.conftest import ROOT, Client

ROWS = {row["id"]: row for row in model.item_rows()}


@pytest.mark.parametrize(
    "path",
    ["Items(2)", "Items(id=2)", "Items/2", "items(2)", "Items(@k)?@k=2", "Items(code='K-001')",
     "Items(2)/Workshop.Item", "Items/Workshop.Item(2)", "Items/$filter(active)(2)"],
)  # fmt: skip
def test_an_entity_has_many_addresses(client: Client, path: str) -> None:
    found = client.get(path)
    assert found["@odata.context"] == f"{ROOT}$metadata#Items/$entity"
    assert (found["id"], found["name"]) == (2, ROWS[2]["name"])


def test_an_entity_shows_every_property_in_the_order_declared(client: Client) -> None:
    found = client.get("Items(2)")
    assert list(found) == ["@odata.context", "@odata.etag", *model.ITEM.properties]
    assert found["@odata.etag"] == 'W/"2"'
    assert found["level"] == "Urgent"
    assert found["place"] == {"street": "High Street 1", "city": "Köln"}


def test_its_tag_is_a_header_and_spares_the_body(client: Client) -> None:
    found = client.answer("Items(2)")
    assert ("ETag", 'W/"2"') in found.headers
    unchanged = client.answer("Items(2)", headers={"If-None-Match": 'W/"1", W/"2"'})
    assert (unchanged.status, unchanged.body) == (304, b"")
    assert client.answer("Items(2)", headers={"If-None-Match": 'W/"1"'}).status == 200


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("Items(2)/name", "alpha"),
        ("Items(2)/level", "Urgent"),
        ("Items(2)/place/city", "Köln"),
        ("Items(2)/labels", []),
        ("Items(1)/Maker/name", "Ärmel & Söhne"),
        ("Items(8)/Parent/Maker/rank", 3),
        ("Items(3)/extra/colour", "red"),
        ("Items(2)/active", True),
    ],
)
def test_a_property_by_itself(client: Client, path: str, value: object) -> None:
    found = client.get(path)
    assert found == {"@odata.context": found["@odata.context"], "value": value}


@pytest.mark.parametrize(
    ("address", "context"),
    [
        ("Items(@k)/name?@k=2", "Items(2)/name"),
        ("Items(id=@k)/place?@k=2", "Items(2)/place"),
        ("Items(%40k)/labels?@k=2", "Items(2)/labels"),
        ("Items(code=@key)/name?@key='K-001'", "Items(2)/name"),
        ("Items(code='K-001')/name", "Items(2)/name"),
        ("items/2/NAME", "Items(2)/name"),
        ("Items(2)/Place/CITY", "Items(2)/place/city"),
        ("Items(2)/place?$select=city", "Items(2)/place(city)"),
        ("Items(3)/extra/colour", "Items(3)/extra/colour"),
        ("Items(@k)/Children(@j)/name?@k=1&@j=8", "Items(8)/name"),
        ("Items(1)/Maker/name", "Makers(1)/name"),
        ("Items/$filter(name ne '@k')(2)/name?@k=3", "Items(2)/name"),
        ("Items(1)/labels/0", "Items(1)/labels/0"),
    ],
)
def test_the_context_of_a_property_has_the_canonical_url_of_its_entity(
    client: Client, address: str, context: str
) -> None:
    assert client.get(address)["@odata.context"] == f"{ROOT}$metadata#{context}"


def test_a_complex_property_by_itself_is_an_object(client: Client) -> None:
    found = client.get("Items(2)/place")
    context = {"@odata.context": f"{ROOT}$metadata#Items(2)/place"}
    assert found == {**context, "street": "High Street 1", "city": "Köln"}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("Items(2)/name/$value", "alpha"),
        ("Items(2)/price/$value", "100.00"),
        ("Items(2)/active/$value", "true"),
        ("Items(2)/level/$value", "Urgent"),
        ("Items(2)/id/$value", "2"),
        ("Items/$count", "60"),
        ("Items/$count?$filter=active&$top=1&$orderby=name", "40"),
        ("Items/$filter(active)/$count", "40"),
        ("Items(1)/Children/$count", "6"),
        ("Items(1)/Children/$count?$filter=active", "4"),
        ("Items(20)/Children/$count", "0"),
        ("Items(1)/labels/$count", "2"),
    ],
)
def test_plain_text(client: Client, path: str, text: str) -> None:
    assert client.get(path, Accept="application/json") == text


@pytest.mark.parametrize(
    "path", ["Items(1)/note", "Items(1)/note/$value", "Items(1)/place", "Items(1)/Parent",
             "Items(2)/Maker", "Items(2)/Maker/name"],
)  # fmt: skip
def test_null_is_no_content(client: Client, path: str) -> None:
    found = client.answer(path)
    assert (found.status, found.body) == ((204, b"") if path != "Items(2)/Maker/name" else (404,
                                          found.body))  # fmt: skip


def test_navigation_goes_any_way(client: Client) -> None:
    children = [row["id"] for row in ROWS.values() if row["parent_id"] == 1]
    assert client.values("Items(1)/Children?$select=id") == children
    assert client.get("Items(1)/Children(7)")["id"] == 7
    assert client.get("Items(1)/Children/7")["id"] == 7
    assert client.get("Items(7)/Parent")["id"] == 1
    assert client.get("Items(7)/Parent/Children(8)/Parent/Maker")["name"] == "Ärmel & Söhne"
    assert client.values("Items(20)/Children") == []


def test_options_apply_to_what_a_navigation_leads_to(client: Client) -> None:
    found = client.get(
        "Items(1)/Children?$filter=active&$orderby=id desc&$top=2&$count=true&$select=id"
        "&$expand=Parent($select=id)"
    )
    assert found["@odata.count"] == 4
    assert [row["id"] for row in found["value"]] == [12, 11]
    assert [row["Parent"]["id"] for row in found["value"]] == [1, 1]


def test_filter_as_a_segment(client: Client) -> None:
    some = client.values("Items/$filter(price gt 100)?$select=id")
    assert some == client.values("Items?$filter=price gt 100&$select=id")
    assert some == client.values("Items/$filter(@f)?@f=price gt 100&$select=id")


def test_references(client: Client) -> None:
    found = client.get("Items(1)/Children/$ref?$top=2")
    assert found == {
        "@odata.context": f"{ROOT}$metadata#Collection($ref)",
        "value": [{"@odata.id": "Items(7)"}, {"@odata.id": "Items(8)"}],
    }
    assert client.get("Items(7)/Parent/$ref")["@odata.id"] == "Items(1)"
    assert len(client.get("Items/$ref")["value"]) == 60


def test_a_slash_inside_a_key_is_no_separator(client: Client) -> None:
    assert client.refused("Items(code='a%2Fb')")["status"] == 404
