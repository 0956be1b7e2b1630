"""``$metadata`` of the reference model: both forms, and the words that clients look for in it."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from tests.reference.conftest import Reference
from tests.reference.model import NAMESPACE

EDM = "{http://docs.oasis-open.org/odata/ns/edm}"


@pytest.mark.parametrize(
    "words",
    [
        "<edmx:Edmx", "<edmx:DataServices", "</edmx:Edmx>", "<Schema", 'EntityType Name="Product"',
        'Name="ProductType"', '<ComplexType Name="', '<TypeDefinition Name="', 'IsFlags="true"',
        'HasStream="true"', 'Type="Edm.Stream"', 'Type="Edm.GeographyPoint"',
        'Type="ComplianceService.Address"', "Org.OData.Core.V1.Computed",
        "Org.OData.Core.V1.Immutable", "Org.OData.Core.V1.Description",
        "Org.OData.Core.V1.OptimisticConcurrency", "Org.OData.Capabilities.V1.InsertRestrictions",
        'Core.SchemaVersion" String="1.0"', 'BaseType="ComplianceService.Product"',
        "Product display name",
    ],
)  # fmt: skip
def test_the_xml_has_what_clients_search_for(reference: Reference, words: str) -> None:
    assert words in reference.send("GET", "/$metadata").text


def test_the_first_namespace_in_double_quotes_is_that_of_the_model(reference: Reference) -> None:
    text = reference.send("GET", "/$metadata").text
    found = re.search(r'Namespace="([^"]*)"', text)
    assert found is not None and found[1] == "ComplianceService"


def test_every_property_names_itself_before_its_type(reference: Reference) -> None:
    for line in reference.send("GET", "/$metadata").text.splitlines():
        if line.startswith("<Property "):
            assert line.index("Name=") < line.index("Type=")


def test_a_derived_type_declares_only_what_it_adds(reference: Reference) -> None:
    root = ElementTree.fromstring(reference.send("GET", "/$metadata").text)
    special = root.find(f".//{EDM}EntityType[@Name='SpecialProduct']")
    assert special is not None
    assert [one.get("Name") for one in special.findall(f"{EDM}Property")] == [
        "SpecialProperty", "SpecialFeature",
    ]  # fmt: skip
    assert special.find(f"{EDM}Key") is None


def test_what_cannot_be_written_says_so(reference: Reference) -> None:
    root = ElementTree.fromstring(reference.send("GET", "/$metadata").text)
    found = root.find(f".//{EDM}EntitySet[@Name='ReadOnlyItems']")
    assert found is not None
    text = ElementTree.tostring(found, encoding="unicode")
    for property_ in ("Insertable", "Updatable", "Deletable"):
        assert re.search(rf'Property="{property_}" Bool="false"', text)


def test_both_forms_tell_the_same(reference: Reference) -> None:
    as_json = reference.get("/$metadata", Accept="application/json")
    schema = as_json["ComplianceService"]
    assert as_json["$Version"] == "4.0"
    assert as_json["$EntityContainer"] == "ComplianceService.Container"
    assert [one for one in schema.values() if one_kind(one) == "EntityContainer"]
    assert schema["Product"]["Name"]["@Org.OData.Core.V1.Description"] == "Product display name"
    assert schema["SpecialProduct"]["$BaseType"] == "ComplianceService.Product"
    assert schema["ReleaseDateValue"]["$UnderlyingType"] == "Edm.Date"
    root = ElementTree.fromstring(reference.send("GET", "/$metadata").text)
    product = root.find(f".//{EDM}EntityType[@Name='Product']")
    assert product is not None
    for one in product.findall(f"{EDM}Property"):
        assert one.get("Name") in schema["Product"]
    again = reference.get("/$metadata?$format=json")
    assert again == as_json


def one_kind(element: object) -> str | None:
    return element.get("$Kind") if isinstance(element, dict) else None


def test_versions_and_methods(reference: Reference) -> None:
    new = reference.send("GET", "/$metadata", OData_MaxVersion="4.01")
    assert 'Version="4.01"' in new.text
    assert reference.send("GET", "/$metadata?$schemaversion=*").status_code == 200
    assert reference.send("GET", "/$metadata?$schemaversion=1.0").status_code == 200
    assert reference.send("GET", "/$metadata?$schemaversion=9.9").status_code == 404
    for address in ("/", "/$metadata"):
        assert "no-store" not in reference.send("GET", address).headers.get("Cache-Control", "")
        for method in ("POST", "PUT", "DELETE"):
            refused = reference.send(method, address)
            assert refused.status_code == 405
            assert refused.headers["Allow"]


def test_times_have_as_many_digits_as_are_declared(reference: Reference) -> None:
    model = reference.get("/$metadata?$format=json")[NAMESPACE]["Product"]
    values = {"OpenTime": "10:11:12.123456", "Offset": "PT1.123456S"}
    made = reference.send("POST", "/Products", {"Name": "Pen", "Price": 1, **values}).json
    shown = reference.get(f"/Products({made['ID']})")
    for name, given in values.items():
        digits = shown[name].rstrip("S").partition(".")[2]
        assert len(digits) <= model[name]["$Precision"], name
        assert shown[name] == given
