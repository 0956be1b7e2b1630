"""Formats and versions: how much control information, and how it is spelled."""

from __future__ import annotations

from typing import Any

import pytest

from app.errors import ApiError
from app.odata.model import edm
from app.odata.protocol.negotiation import Format, form_for
from tests.odata.reading import model
from tests.odata.reading.conftest import ROOT, Client

FULL = "application/json;odata.metadata=full"


def form_of(accept: str | None, asked: str | None = None, **headers: str | None) -> Format:
    """The form for these headers, as far as they are sent, and this ``$format``."""
    sent = {"Accept": accept} | {name.replace("_", "-"): text for name, text in headers.items()}
    return form_for({name: text for name, text in sent.items() if text is not None}, asked)


@pytest.mark.parametrize(
    ("accept", "metadata", "ieee754"),
    [
        (None, "minimal", False),
        ("", "minimal", False),
        ("*/*", "minimal", False),
        ("application/*", "minimal", False),
        ("application/json", "minimal", False),
        ("application/json;odata.metadata=none", "none", False),
        ("application/json; metadata=full", "full", False),
        ("application/json;odata.metadata=minimal;IEEE754Compatible=true", "minimal", True),
        ("application/json;odata.streaming=true;charset=utf-8", "minimal", False),
        ("text/html,application/xml;q=0.9,*/*;q=0.8", "minimal", False),
        ("application/json;odata.metadata=none;q=0.5,application/json;odata.metadata=full", "full",
         False),
        ("application/atom+xml, application/json;odata.metadata=full;q=0.1", "full", False),
    ],
)  # fmt: skip
def test_accept_chooses_the_form(accept: str | None, metadata: str, ieee754: bool) -> None:
    found = form_of(accept)
    assert (found.metadata, found.ieee754, found.version) == (metadata, ieee754, "4.0")


@pytest.mark.parametrize(
    "accept",
    ["application/xml", "text/plain", "application/json;odata.metadata=some",
     "application/json;colour=blue", "application/json;charset=latin1", "application/json;q=0"],
)  # fmt: skip
def test_what_is_not_offered_is_406(accept: str) -> None:
    with pytest.raises(ApiError) as caught:
        form_of(accept)
    assert caught.value.status == 406
    assert "requested format" in caught.value.message


def test_format_goes_before_accept() -> None:
    assert form_of("application/xml", "json").metadata == "minimal"
    asked = "application/json;odata.metadata=none"
    assert form_of("*/*", asked).metadata == "none"
    with pytest.raises(ApiError):
        form_of("application/json", "atom")


@pytest.mark.parametrize(
    ("max_version", "spoken"), [(None, "4.0"), ("4.0", "4.0"), ("4.01", "4.01"), ("5.0", "4.01")]
)
def test_the_version_is_the_highest_that_both_speak(max_version: str | None, spoken: str) -> None:
    assert form_of(None, OData_MaxVersion=max_version).version == spoken


@pytest.mark.parametrize(
    ("max_version", "version"), [("3.0", None), ("x", None), (None, "3.0"), (None, "5.0")]
)
def test_other_versions_are_refused(max_version: str | None, version: str | None) -> None:
    with pytest.raises(ApiError) as caught:
        form_of(None, OData_MaxVersion=max_version, OData_Version=version)
    assert caught.value.status == 400


def test_an_empty_format_is_none_that_is_offered(client: Client) -> None:
    assert client.answer("Items", "$format=").status == 406
    assert client.answer("Items", "", {"Accept": ""}).status == 200


def test_none_leaves_out_all_but_the_number_and_the_link(client: Client) -> None:
    answer = client.answer(
        "Items", "$count=true&$select=id&$expand=Maker($select=name)",
        {"Accept": "application/json;odata.metadata=none"}, prefer="maxpagesize=2",
    )  # fmt: skip
    found = client.json(answer)
    assert list(found) == ["@odata.count", "value", "@odata.nextLink"]
    assert set(found["value"][0]) == {"id", "Maker"}
    assert set(found["value"][0]["Maker"]) == {"name"}
    headers = dict(answer.headers)
    assert headers["Content-Type"] == "application/json;odata.metadata=none"


def test_full_has_types_and_links(client: Client) -> None:
    found = client.get("Items(2)?$expand=Maker&$select=id,name,price,at,active", Accept=FULL)
    assert found["@odata.type"] == "#Workshop.Item"
    assert found["@odata.id"] == found["@odata.editLink"] == "Items(2)"
    assert found["id@odata.type"] == "#Int64"
    assert found["price@odata.type"] == "#Decimal"
    assert found["at@odata.type"] == "#DateTimeOffset"
    assert "name@odata.type" not in found and "active@odata.type" not in found
    assert found["Children@odata.navigationLink"] == "Items(2)/Children"
    assert found["Children@odata.associationLink"] == "Items(2)/Children/$ref"
    assert "Maker@odata.navigationLink" not in found
    whole = client.get("Items(2)", Accept=FULL)
    assert client.get("Items(2)") == {
        name: value
        for name, value in _without_types(whole).items()
        if "@odata" not in name or name in ("@odata.context", "@odata.etag")
    }


def _without_types(found: dict[str, Any]) -> dict[str, Any]:
    """An entity without the types inside its complex values."""
    return {
        name: {part: inner for part, inner in value.items() if "@odata" not in part}
        if isinstance(value, dict)
        else value
        for name, value in found.items()
    }


EVIDENT = (edm.STRING, edm.BOOLEAN, edm.DOUBLE, edm.UNTYPED)


def named(type_: edm.EdmType) -> str | None:
    """The type as an annotation beside a value tells it; None where there is none."""
    if isinstance(type_, edm.CollectionType):
        inner = type_.element
        own = inner.name if isinstance(inner, edm.PrimitiveType) else f"Workshop.{inner.name}"
        return f"#Collection({own.removeprefix('Edm.')})"
    if isinstance(type_, edm.EnumType):
        return f"#Workshop.{type_.name}"
    if isinstance(type_, edm.ComplexType) or type_ in EVIDENT:
        return None
    return f"#{type_.name.removeprefix('Edm.')}"


@pytest.mark.costly(2)
@pytest.mark.parametrize("version", ["4.0", "4.01"])
@pytest.mark.parametrize("name", list(model.ITEM.properties))
def test_full_tells_the_type_of_every_value(client: Client, name: str, version: str) -> None:
    """JSON Format 4.6.3: enumerations, collections and complex values, too."""
    type_ = model.ITEM.properties[name].type
    control = "@odata.type" if version == "4.0" else "@type"
    headers = {"Accept": FULL, "OData-MaxVersion": version}
    shown = client.json(client.answer("Items", f"$select=id,{name}", headers))["value"]
    assert {row.get(f"{name}{control}") for row in shown} == {named(type_)}
    values = [row[name] for row in shown if row[name] is not None]
    if isinstance(type_, edm.ComplexType):
        assert {value[control] for value in values} == {f"#Workshop.{type_.name}"}
        assert {next(iter(value)) for value in values} == {control}
    key = next(row["id"] for row in shown if row[name] is not None)
    alone = client.json(client.answer(f"Items({key})/{name}", "", headers))
    own = f"#Workshop.{type_.name}" if isinstance(type_, edm.ComplexType) else named(type_)
    assert alone.get(control) == own
    plain = client.json(client.answer("Items", f"$select=id,{name}", {}))["value"]
    assert not any(key.endswith("type") for row in plain for key in row)


def test_newer_clients_get_the_short_names(client: Client) -> None:
    answer = client.answer(
        "Items", "$count=true&$select=id&$expand=Children($count=true;$select=id)",
        {"OData-MaxVersion": "4.01"}, prefer="maxpagesize=1",
    )  # fmt: skip
    found = client.json(answer)
    assert list(found) == ["@context", "@count", "value", "@nextLink"]
    row = found["value"][0]
    assert list(row) == ["@etag", "id", "Children@count", "Children", "Children@nextLink"]
    headers = dict(answer.headers)
    assert headers["OData-Version"] == "4.01"
    assert headers["Content-Type"] == "application/json;metadata=minimal"


def test_long_numbers_can_be_texts(client: Client) -> None:
    accept = "application/json;IEEE754Compatible=true"
    found = client.get("Items?$count=true&$top=2&$select=id,price,cost,size", Accept=accept)
    assert found["@odata.count"] == "60"
    assert found["value"][1]["id"] == "2"
    assert found["value"][1]["price"] == "100.00"
    assert found["value"][0]["cost"] is None
    assert isinstance(found["value"][1]["size"], int)
    assert client.get("Items(2)/price", Accept=accept)["value"] == "100.00"


def test_nulls_can_be_left_out(client: Client) -> None:
    answer = client.answer("Items(1)", prefer="omit-values=nulls")
    whole, found = client.get("Items(1)"), client.json(answer)
    assert found == {name: value for name, value in whole.items() if value is not None}
    assert ("Preference-Applied", "omit-values=nulls") in answer.headers
    assert len(found) < len(whole)


def test_the_address_of_the_service_is_in_every_context(client: Client) -> None:
    assert client.get("Items?$top=1")["@odata.context"] == f"{ROOT}$metadata#Items"
    assert client.get("Items(1)/Children?$top=1")["@odata.context"] == f"{ROOT}$metadata#Items"
    assert client.get("Items(1)/labels")["@odata.context"] == f"{ROOT}$metadata#Items(1)/labels"


def test_schema_version(client: Client) -> None:
    assert client.get("Items?$schemaversion=*&$top=1")
    assert client.get("Items?$schemaversion=1.0&$top=1")
    assert client.refused("Items?$schemaversion=0.9")["status"] == 404


@pytest.mark.parametrize(
    ("address", "value"),
    [
        ("Items(2)?$select=lines", {"lines": [{"text": "a", "rate": "19.00"}]}),
        ("Items(3)?$select=lines",
         {"lines": [{"text": "b", "rate": "7.00"}, {"text": "c", "rate": None}]}),
        ("Items(1)?$select=lines", {"lines": []}),
        ("Items(3)?$select=lines($select=rate;$top=1)", {"lines": [{"rate": "7.00"}]}),
        ("Items(3)?$select=lines/rate", {"lines": [{"rate": "7.00"}, {"rate": None}]}),
        ("Items(2)/lines", {"value": [{"text": "a", "rate": "19.00"}]}),
        ("Items(2)/lines?$filter=rate gt 1&$count=true",
         {"@odata.count": "1", "value": [{"text": "a", "rate": "19.00"}]}),
        ("Items(2)/lines/0", {"text": "a", "rate": "19.00"}),
        ("Items(2)/lines/0/rate", {"value": "19.00"}),
        ("Items(3)?$select=extra", {"extra": {"colour": "red", "score": 5}}),
    ],
)  # fmt: skip
def test_long_numbers_are_strings_wherever_they_stand(
    client: Client, address: str, value: dict[str, Any]
) -> None:
    """JSON Format 3.2: in members of values kept as JSON, too; what no type declares stays."""
    body = client.get(address, Accept="application/json;IEEE754Compatible=true")
    assert {name: body[name] for name in value} == value
