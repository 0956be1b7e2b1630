"""Sections 1 to 5, 9.2 and 14: the service document, ``$metadata`` and what it declares."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

from tests.suite.registry import EXPECTATIONS, Expectation, expect_statuses, expects
from tests.suite.service import NAMESPACE, Service

EDM = "{http://docs.oasis-open.org/odata/ns/edm}"
SETS = {
    "Products": "Product",
    "Categories": "Category",
    "ProductDescriptions": "ProductDescription",
    "MediaItems": "MediaItem",
    "ReadOnlyItems": "ReadOnlyItem",
    "DecimalSamples": "DecimalSample",
}
PRODUCT = {
    "ID": "Guid",
    "Name": "String",
    "Description": "String",
    "Price": "Double",
    "Rating": "Byte",
    "Temperature": "SByte",
    "Quantity": "Int16",
    "Weight": "Single",
    "Data": "Binary",
    "OpenTime": "TimeOfDay",
    "ProcessingTime": "Duration",
    "Offset": "Duration",
    "CategoryID": "Guid",
    "Version": "Int32",
    "CreatedAt": "DateTimeOffset",
    "SerialNumber": "String",
    "ProductType": "String",
    "Location": "GeographyPoint",
    "Route": "GeographyLineString",
    "Area": "GeographyPolygon",
    "Photo": "Stream",
}
WORDS = (
    "<edmx:Edmx",
    "<edmx:DataServices",
    "</edmx:Edmx>",
    "<Schema",
    'EntityType Name="Product"',
    'Name="ProductType"',
    '<ComplexType Name="',
    "<edmx:Reference",
    "<edmx:Include ",
    "Org.OData.Core.V1.Computed",
    "Org.OData.Core.V1.Description",
    "Org.OData.Core.V1.Immutable",
    "Org.OData.Core.V1.OptimisticConcurrency",
    "Org.OData.Capabilities.V1.InsertRestrictions",
    "Org.OData.Capabilities.V1.UpdateRestrictions",
    "Org.OData.Capabilities.V1.DeleteRestrictions",
    'Core.SchemaVersion" String="',
)


def xml(service: Service, **headers: str) -> str:
    answer = service.send("GET", "/$metadata", **headers)
    assert answer.status_code == 200 and answer.mimetype == "application/xml"
    text: str = answer.text
    return text


def schema(service: Service) -> Any:
    return ElementTree.fromstring(xml(service)).find(f".//{EDM}Schema")


def properties(service: Service, kind: str, name: str) -> dict[str, dict[str, str]]:
    """The properties of a type, its attributes by name."""
    found = schema(service).find(f"{EDM}{kind}[@Name='{name}']")
    return {one.get("Name"): dict(one.attrib) for one in found.findall(f"{EDM}Property")}


def _word(word: str) -> None:
    def check(service: Service) -> None:
        assert word in xml(service)

    EXPECTATIONS.append(Expectation("3 XML of the metadata", f"has {word}", check))


for _each in WORDS:
    _word(_each)

expect_statuses(
    "1.1 Service",
    [
        ("the root answers", "GET /", 200),
        ("the metadata answers", "GET /$metadata", 200),
        ("each set answers, Products", "GET /Products", 200),
        ("each set answers, Categories", "GET /Categories", 200),
        ("each set answers, ProductDescriptions", "GET /ProductDescriptions", 200),
        ("each set answers, MediaItems", "GET /MediaItems", 200),
        ("each set answers, ReadOnlyItems", "GET /ReadOnlyItems", 200),
        ("each set answers, DecimalSamples", "GET /DecimalSamples", 200),
        ("the singleton answers", "GET /Company", 200),
        ("the model is filled anew", "POST /Reseed", 200),
    ],
)
expect_statuses(
    "9.1 Methods of the service",
    [
        (f"{method} of {address} is not allowed", f"{method} {address}", 405)
        for address in ("/", "/$metadata")
        for method in ("POST", "PUT", "DELETE")
    ],
)


@expects("1.1 Service", "the service document names all sets and the singleton")
def _service_document(service: Service) -> None:
    document = service.get("/")
    assert document["@odata.context"].endswith("$metadata")
    kinds = {one["name"]: one.get("kind", "EntitySet") for one in document["value"]}
    assert kinds == {**dict.fromkeys(SETS, "EntitySet"), "Company": "Singleton"} | {
        name: kind for name, kind in kinds.items() if kind == "FunctionImport"
    }
    assert all(one["url"] for one in document["value"])


@expects("1.1 Service", "neither document is kept from being stored")
def _cacheable(service: Service) -> None:
    for address in ("/", "/$metadata"):
        assert "no-store" not in service.send("GET", address).headers.get("Cache-Control", "")


@expects("2.1 Conformance", "each set is declared and has its type")
def _sets(service: Service) -> None:
    found = schema(service).findall(f".//{EDM}EntitySet")
    assert {one.get("Name"): one.get("EntityType").split(".")[-1] for one in found} == SETS


@expects("3 XML of the metadata", "the first namespace in the text is that of the model")
def _namespace_first(service: Service) -> None:
    match = re.search(r'Namespace="([^"]+)"', xml(service))
    assert match is not None and match[1] == NAMESPACE


@expects("3 XML of the metadata", "the name of a property stands before its type")
def _name_first(service: Service) -> None:
    assert not re.search(r"<Property [^>]*Type=[^>]*Name=", xml(service))


@expects("3 XML of the metadata", "the version is the one that is asked for")
def _versions(service: Service) -> None:
    for version in ("4.0", "4.01"):
        root = ElementTree.fromstring(xml(service, OData_MaxVersion=version))
        assert root.get("Version") == version


@expects("4.1 Types", "products have their properties with their types")
def _product(service: Service) -> None:
    found = properties(service, "EntityType", "Product")
    for name, type_ in PRODUCT.items():
        assert found[name]["Type"] == f"Edm.{type_}", name


@expects("4.1 Types", "keys are declared and never null")
def _keys(service: Service) -> None:
    for name in SETS.values():
        found = schema(service).find(f"{EDM}EntityType[@Name='{name}']")
        refs = [one.get("Name") for one in found.findall(f"{EDM}Key/{EDM}PropertyRef")]
        assert refs == (["ProductID", "LanguageKey"] if "Description" in name else ["ID"])
        declared = properties(service, "EntityType", name)
        assert all(declared[ref].get("Nullable") == "false" for ref in refs)


@expects("4.1 Types", "the status is a set of flags with five members")
def _status(service: Service) -> None:
    found = schema(service).find(f"{EDM}EnumType[@Name='ProductStatus']")
    members = {one.get("Name"): one.get("Value") for one in found.findall(f"{EDM}Member")}
    assert found.get("IsFlags") == "true"
    assert members == {
        "None": "0",
        "InStock": "1",
        "OnSale": "2",
        "Discontinued": "4",
        "Featured": "8",
    }


@expects("4.2 Structured types", "addresses and dimensions have their parts")
def _complex(service: Service) -> None:
    address = properties(service, "ComplexType", "Address")
    assert list(address) == ["Street", "City", "State", "PostalCode", "Country"]
    dimensions = properties(service, "ComplexType", "Dimensions")
    assert list(dimensions) == ["Length", "Width", "Height", "Unit"]
    declared = properties(service, "EntityType", "Product")
    assert declared["ShippingAddress"]["Type"] == f"{NAMESPACE}.Address"


@expects("4.2 Structured types", "special products derive from products")
def _derived(service: Service) -> None:
    found = schema(service).find(f"{EDM}EntityType[@Name='SpecialProduct']")
    assert found.get("BaseType") == f"{NAMESPACE}.Product"


@expects("4.2 Structured types", "media items are streams")
def _stream(service: Service) -> None:
    found = schema(service).find(f"{EDM}EntityType[@Name='MediaItem']")
    assert found.get("HasStream") == "true"


@expects("4.3 Navigation", "products lead to their category, texts and related products")
def _navigation(service: Service) -> None:
    found = schema(service).find(f"{EDM}EntityType[@Name='Product']")
    links = {one.get("Name"): one.get("Type") for one in found.findall(f"{EDM}NavigationProperty")}
    assert links == {
        "Category": f"{NAMESPACE}.Category",
        "Descriptions": f"Collection({NAMESPACE}.ProductDescription)",
        "RelatedProducts": f"Collection({NAMESPACE}.Product)",
    }
    home = schema(service).find(f".//{EDM}EntitySet[@Name='Products']")
    bound = {one.get("Path"): one.get("Target") for one in home}
    assert bound.get("Category") == "Categories"


@expects("4.4 Primitive types", "a definition gives a type another name")
def _definition(service: Service) -> None:
    found = schema(service).findall(f"{EDM}TypeDefinition")
    assert "Edm.Date" in {one.get("UnderlyingType") for one in found}


@expects("4.4 Primitive types", "texts have their greatest length")
def _lengths(service: Service) -> None:
    assert properties(service, "EntityType", "Product")["Name"]["MaxLength"] == "100"


@expects("4.6 Annotations", "what the service sets is computed, the serial number immutable")
def _annotations(service: Service) -> None:
    for name, term in (("CreatedAt", "Computed"), ("SerialNumber", "Immutable")):
        found = schema(service).find(
            f"{EDM}EntityType[@Name='Product']/{EDM}Property[@Name='{name}']"
        )
        terms = {one.get("Term") for one in found.findall(f"{EDM}Annotation")}
        assert f"Org.OData.Core.V1.{term}" in terms


@expects("9.2 Metadata as JSON", "has one container and the descriptions")
def _as_json(service: Service) -> None:
    for ask in ({"Accept": "application/json"}, {}):
        model = service.get("/$metadata" if ask else "/$metadata?$format=json", **ask)
        assert model["$Version"] in ("4.0", "4.01")
        assert model["$EntityContainer"].startswith(f"{NAMESPACE}.")
        name = model[NAMESPACE]["Product"]["Name"]
        assert name["@Org.OData.Core.V1.Description"] == "Product display name"
        kinds = [one.get("$Kind") for one in model[NAMESPACE].values() if isinstance(one, dict)]
        assert kinds.count("EntityContainer") == 1


@expects("12.1 Operations", "each overload is declared once")
def _overloads(service: Service) -> None:
    declared = []
    for kind in ("Function", "Action"):
        for one in schema(service).findall(f"{EDM}{kind}"):
            parameters = [(p.get("Name"), p.get("Type")) for p in one.findall(f"{EDM}Parameter")]
            declared.append((one.get("Name"), one.get("IsBound"), *parameters))
    assert len(declared) == len(set(declared))
    assert [one[0] for one in declared].count("GetTopProducts") == 3
