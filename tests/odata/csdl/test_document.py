"""The metadata is valid in both forms, says the same in both, and says what is true."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest

from app.odata.csdl.annotations import CAPABILITIES, CORE, MEASURES, VALIDATION
from app.odata.csdl.document import metadata, service_document
from app.odata.model import edm
from app.odata.protocol.negotiation import BARE, Format
from tests.odata.bookshop import AUTHOR, BOOK, bookshop
from tests.odata.csdl.rules import EDM, problems


class NoService:
    """Stands for a service; the metadata only asks whether there is one."""

    def create(self, values: dict[str, Any]) -> Any:
        raise NotImplementedError

    def update(self, key: Any, changes: dict[str, Any], version: int | None = None) -> None:
        raise NotImplementedError

    def delete(self, key: Any, version: int | None = None) -> None:
        raise NotImplementedError


def shop() -> edm.EntityContainer:
    """The bookshop with authors and books that can be written, operations and a singleton."""
    operations = (
        edm.Operation(
            name="Promote", is_action=True, handler=print, bound_to="Author", returns=AUTHOR,
            description="Make an author famous.",
            parameters=(edm.Parameter(name="reason", type=edm.STRING),),
        ),
        edm.Operation(
            name="BestSellers", is_action=False, handler=print, import_name="BestSellers",
            returns=BOOK, returns_collection=True, composable=True,
            parameters=(edm.Parameter(name="count", type=edm.INT32, nullable=False),),
        ),
        edm.Operation(
            name="BestSellers", is_action=False, handler=print, import_name="BestSellers",
            returns=BOOK, returns_collection=True,
        ),
        edm.Operation(
            name="Restock", is_action=True, handler=print, bound_to="Book",
            bound_to_collection=True,
        ),
        edm.Operation(name="Close", is_action=True, handler=print, import_name="Close"),
    )  # fmt: skip
    flags = edm.EnumType("Formats", {"Paper": 1, "Audio": 2}, True, "Edm.Byte", "Forms.")
    whole = bookshop(Authors=NoService(), Books=NoService())
    return replace(
        whole,
        operations=operations,
        enum_types={**whole.enum_types, "Formats": flags},
        singletons={"Me": edm.Singleton(name="Me", type=AUTHOR, key=lambda: 1)},
    )


SHOP = shop()


def xml(version: Any = "4.01") -> ElementTree.Element:
    return ElementTree.fromstring(metadata(SHOP, version, as_json=False).body)


def csdl(version: Any = "4.01") -> dict[str, Any]:
    whole: dict[str, Any] = json.loads(metadata(SHOP, version, as_json=True).body)
    return whole


@pytest.mark.parametrize("version", ["4.0", "4.01"])
def test_the_xml_is_valid(version: str) -> None:
    root = xml(version)
    assert problems(root) == []
    assert root.get("Version") == version


def test_the_rules_find_what_is_wrong() -> None:
    text = metadata(SHOP, "4.01", as_json=False).body.decode()
    for good, bad in (
        ('Name="Author"', 'Nom="Author"'),
        ('Type="Edm.Int64"', 'Type="Int64"'),
        ("<Key>", "<Key/><Key>"),
        ('MaxLength="50"', 'MaxLength="0"'),
        ('<Member Name="Paper"', '<Limb Name="Paper"'),
    ):
        assert problems(ElementTree.fromstring(text.replace(good, bad).replace("</Limb>", "")))


def test_both_forms_declare_the_same() -> None:
    schema = csdl()["Bookshop"]
    root = xml()
    types = {element.get("Name"): element for element in root.iter(f"{EDM}EntityType")}
    assert set(types) == {
        name
        for name, element in schema.items()
        if isinstance(element, dict) and element.get("$Kind") == "EntityType"
    }
    for name, element in types.items():
        declared = schema[name]
        assert [ref.get("Name") for ref in element.iter(f"{EDM}PropertyRef")] == declared["$Key"]
        members = [*element.findall(f"{EDM}Property"), *element.findall(f"{EDM}NavigationProperty")]
        assert {member.get("Name") for member in members} == {
            key for key in declared if key[0] not in "$@"
        }
        for member in members:
            other = declared[member.get("Name")]
            type_ = member.get("Type", "")
            collection = type_.startswith("Collection(")
            bare = type_.removeprefix("Collection(").removesuffix(")")
            assert bare == other.get("$Type", "Edm.String")
            assert collection == other.get("$Collection", False)
            if not collection:
                assert (member.get("Nullable") != "false") == other.get("$Nullable", False)
            terms = {annotation.get("Term") for annotation in member.findall(f"{EDM}Annotation")}
            assert terms == {key[1:] for key in other if key.startswith("@")}
    sets = {element.get("Name") for element in root.iter(f"{EDM}EntitySet")}
    container = schema["Container"]
    assert sets == {
        name
        for name, child in container.items()
        if isinstance(child, dict) and "$Collection" in child
    }


def test_every_target_of_a_binding_and_partner_is_there() -> None:
    schema = csdl()["Bookshop"]
    for name, child in schema["Container"].items():
        if name[0] in "$@":
            continue
        for path, target in child.get("$NavigationPropertyBinding", {}).items():
            assert target in schema["Container"]
            type_ = schema[child["$Type"].removeprefix("Bookshop.")]
            for step in path.split("/"):
                type_ = schema[type_[step]["$Type"].removeprefix("Bookshop.")]
            assert schema["Container"][target]["$Type"] == f"Bookshop.{_name(schema, type_)}"
    for type_ in schema.values():
        for member in type_.values() if isinstance(type_, dict) else ():
            if isinstance(member, dict) and "$Partner" in member:
                other = schema[member["$Type"].removeprefix("Bookshop.")][member["$Partner"]]
                assert other["$Kind"] == "NavigationProperty"


def _name(schema: dict[str, Any], element: dict[str, Any]) -> str:
    return next(name for name, found in schema.items() if found is element)


def test_contained_entities_are_bound_through_their_owner() -> None:
    books = csdl()["Bookshop"]["Container"]["Books"]
    assert books["$NavigationPropertyBinding"] == {
        "Author": "Authors",
        "Chapters/Reviewer": "Authors",
        "Reviews": "Reviews",
        "Translations": "Translations",
        "Genres": "Genres",
    }
    assert csdl()["Bookshop"]["Book"]["Chapters"]["$ContainsTarget"] is True


def test_facets_of_properties() -> None:
    author = csdl()["Bookshop"]["Author"]
    assert author["fee"] == {
        "$Type": "Edm.Decimal",
        "$Precision": 10,
        "$Scale": 2,
        "$DefaultValue": 0,
        f"@{VALIDATION}.Minimum": 0,
        f"@{MEASURES}.ISOCurrency": {"$Path": "name"},
    }
    assert author["bookCount"][f"@{CORE}.Computed"] is True
    assert author["bookCount"][f"@{CORE}.Permissions"] == "Read"
    assert f"@{CORE}.Computed" not in author["id"]
    assert author["id"][f"@{CORE}.Permissions"] == "Read"
    assert author["penName"][f"@{CORE}.Immutable"] is True
    assert author["name"][f"@{CORE}.Description"] == "Name on the cover."
    assert author["labels"] == {"$Collection": True}
    assert author[f"@{CORE}.AlternateKeys"] == [
        {"Key": [{"Name": "externalId", "Alias": "externalId"}]}
    ]
    assert csdl()["Bookshop"]["Extra"]["$OpenType"] is True
    assert csdl()["Bookshop"]["Formats"] == {
        "$Kind": "EnumType",
        "$IsFlags": True,
        "$UnderlyingType": "Edm.Byte",
        "Paper": 1,
        "Audio": 2,
        f"@{CORE}.Description": "Forms.",
    }


def test_operations() -> None:
    schema = csdl()["Bookshop"]
    assert schema["Promote"] == [
        {
            "$Kind": "Action",
            "$IsBound": True,
            "$Parameter": [
                {"$Name": "binding", "$Type": "Bookshop.Author"},
                {"$Name": "reason", "$Nullable": True},
            ],
            "$ReturnType": {"$Type": "Bookshop.Author"},
            f"@{CORE}.Description": "Make an author famous.",
        }
    ]
    assert [len(overload.get("$Parameter", [])) for overload in schema["BestSellers"]] == [1, 0]
    assert schema["Restock"][0]["$Parameter"] == [
        {"$Name": "binding", "$Collection": True, "$Type": "Bookshop.Book"}
    ]
    assert schema["Container"]["BestSellers"] == {
        "$Function": "Bookshop.BestSellers",
        "$EntitySet": "Books",
        "$IncludeInServiceDocument": True,
    }
    assert schema["Container"]["Close"] == {"$Action": "Bookshop.Close"}
    assert schema["Container"]["Me"]["$Type"] == "Bookshop.Author"


def test_capabilities_follow_the_services() -> None:
    container = csdl()["Bookshop"]["Container"]

    def capability(name: str, term: str) -> Any:
        return container[name][f"@{CAPABILITIES}.{term}"]

    assert capability("Authors", "InsertRestrictions")["Insertable"] is True
    assert capability("Genres", "InsertRestrictions") == {"Insertable": False}
    assert capability("Authors", "UpdateRestrictions")["Upsertable"] is True
    assert capability("Books", "UpdateRestrictions")["Upsertable"] is False
    assert capability("Genres", "UpdateRestrictions") == {"Updatable": False}
    assert capability("Genres", "DeleteRestrictions") == {"Deletable": False}
    assert capability("Authors", "SearchRestrictions") == {"Searchable": True}
    assert capability("Books", "SearchRestrictions") == {"Searchable": False}
    assert capability("Books", "InsertRestrictions")["NonInsertableNavigationProperties"] == [
        "Reviews",
        "Translations",
        "Genres",
    ]
    assert container["Authors"][f"@{CORE}.OptimisticConcurrency"] == []
    assert f"@{CORE}.OptimisticConcurrency" not in container["Translations"]


def test_the_first_namespace_in_the_text_is_that_of_the_model() -> None:
    text = metadata(SHOP, "4.01", as_json=False).body.decode()
    assert re.findall('Namespace="([^"]*)"', text) == ["Bookshop"]
    assert 'Core.SchemaVersion" String="1.0"' in text
    assert f'Term="{CORE}.Computed"' in text


def test_the_container_says_which_versions_it_speaks() -> None:
    assert csdl()["Bookshop"]["Container"][f"@{CORE}.ODataVersions"] == "4.0 4.01"
    assert csdl("4.0")["$Version"] == "4.0"


def test_text_is_escaped() -> None:
    odd = edm.EntityType(
        name="Odd",
        table=AUTHOR.table,
        key=("id",),
        properties={
            "id": AUTHOR.properties["id"],
            "name": edm.Property(
                name="name",
                type=edm.STRING,
                attribute="name",
                default='<"&">',
                description='Short & "sharp" <b>.\nAnd a long story.',
            ),
        },
    )
    container = replace(SHOP, types={"Odd": odd}, sets={}, singletons={}, operations=())
    container = replace(container, sets={"Odds": edm.EntitySet(name="Odds", type=odd)})
    root = ElementTree.fromstring(metadata(container, "4.01", as_json=False).body)
    (name,) = (element for element in root.iter(f"{EDM}Property") if element.get("Name") == "name")
    assert name.get("DefaultValue") == '<"&">'
    notes = {note.get("Term"): note.get("String") for note in name}
    assert notes[f"{CORE}.Description"] == 'Short & "sharp" <b>.'
    assert notes[f"{CORE}.LongDescription"] == 'Short & "sharp" <b>.\nAnd a long story.'
    assert problems(root) == []


def test_documents_are_made_once_and_have_their_own_tags() -> None:
    documents = [
        metadata(SHOP, version, as_json=as_json)
        for version in ("4.0", "4.01")
        for as_json in (False, True)
    ]
    assert len({document.etag for document in documents}) == 4
    assert metadata(SHOP, "4.0", as_json=False) is documents[0]
    assert metadata(shop(), "4.0", as_json=False).body == documents[0].body
    assert documents[0].content_type == "application/xml"
    assert documents[1].content_type == "application/json"


def test_service_document() -> None:
    document = json.loads(service_document(SHOP, "http://host/odata/", Format()))
    assert document["@odata.context"] == "http://host/odata/$metadata"
    assert document["value"][0] == {"name": "Authors", "kind": "EntitySet", "url": "Authors"}
    assert document["value"][-2:] == [
        {"name": "Me", "kind": "Singleton", "url": "Me"},
        {"name": "BestSellers", "kind": "FunctionImport", "url": "BestSellers"},
    ]
    assert "@context" in json.loads(
        service_document(SHOP, "http://host/odata/", Format(version="4.01"))
    )
    assert list(json.loads(service_document(SHOP, "/", BARE))) == ["value"]
