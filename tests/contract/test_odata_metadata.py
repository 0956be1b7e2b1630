"""The metadata over HTTP, and every claim of it that can be tried."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import pytest
from flask import Flask

from app.container.model import container
from app.odata.csdl.annotations import CAPABILITIES, CORE, MEASURES, VALIDATION
from tests.contract.conftest import Api
from tests.contract.records import make
from tests.odata.csdl.rules import problems

# An expression with each function that the metadata names.
EXPRESSIONS = {
    "concat": "concat(name,'x') eq 'x'", "contains": "contains(name,'x')",
    "endswith": "endswith(name,'x')", "indexof": "indexof(name,'x') eq 1",
    "length": "length(name) eq 1", "startswith": "startswith(name,'x')",
    "substring": "substring(name,1) eq 'x'", "matchespattern": "matchesPattern(name,'^x')",
    "hassubset": "hassubset(tags,['x'])", "hassubsequence": "hassubsequence(tags,['x'])",
    "tolower": "tolower(name) eq 'x'", "toupper": "toupper(name) eq 'X'",
    "trim": "trim(name) eq 'x'", "date": "date(createdAt) eq 2026-01-31",
    "day": "day(createdAt) eq 1", "fractionalseconds": "fractionalseconds(createdAt) lt 1",
    "hour": "hour(createdAt) eq 1", "maxdatetime": "createdAt lt maxdatetime()",
    "mindatetime": "createdAt gt mindatetime()", "minute": "minute(createdAt) eq 1",
    "month": "month(createdAt) eq 1", "now": "createdAt lt now()",
    "second": "second(createdAt) eq 1", "time": "time(createdAt) gt 01:00:00",
    "totaloffsetminutes": "totaloffsetminutes(createdAt) eq 0",
    "totalseconds": "totalseconds(duration'PT1M') eq 60", "year": "year(createdAt) eq 2026",
    "ceiling": "ceiling(revenue) eq 1", "floor": "floor(revenue) eq 1",
    "round": "round(revenue) eq 1", "cast": "cast(revenue,Edm.String) eq '1'",
    "isof": "isof(name,Edm.String)", "case": "case(revenue gt 5:true,true:false)",
}  # fmt: skip


DESCRIPTION = "@Org.OData.Core.V1.Description"


@pytest.fixture
def schema(admin: Api) -> dict[str, Any]:
    answer = admin.get("/odata/$metadata?$format=json")
    assert answer.status_code == 200
    found: dict[str, Any] = json.loads(answer.text)["BusinessPlatform"]
    return found


def capability(schema: dict[str, Any], name: str, term: str) -> Any:
    return schema["Default"][name][f"@{CAPABILITIES}.{term}"]


# --- the documents --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "version"),
    [({}, "4.0"), ({"OData-MaxVersion": "4.0"}, "4.0"), ({"OData-MaxVersion": "4.01"}, "4.01")],
)
def test_versions(admin: Api, headers: dict[str, str], version: str) -> None:
    answer = admin.get("/odata/$metadata", headers=headers)
    assert answer.status_code == 200
    assert answer.mimetype == "application/xml"
    assert answer.headers["OData-Version"] == version
    root = ElementTree.fromstring(answer.data)
    assert root.get("Version") == version
    assert problems(root) == []


def test_json_by_accept_and_by_format(admin: Api) -> None:
    by_header = admin.get("/odata/$metadata", headers={"Accept": "application/json"})
    by_option = admin.get("/odata/$metadata?$format=application/json")
    assert by_header.mimetype == "application/json"
    assert by_header.data == by_option.data
    assert by_header.json["$EntityContainer"] == "BusinessPlatform.Default"
    assert admin.get("/odata/$metadata?$format=atom").status_code in (400, 406, 415)


def test_the_document_is_kept_by_its_tag(admin: Api) -> None:
    first = admin.get("/odata/$metadata")
    assert "no-store" not in first.headers["Cache-Control"]
    again = admin.get("/odata/$metadata", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")
    other = admin.get("/odata/$metadata", headers={"If-None-Match": '"other"'})
    assert other.status_code == 200
    assert admin.get("/odata/v1/$metadata").headers["ETag"] == first.headers["ETag"]


def test_the_service_document(admin: Api) -> None:
    answer = admin.get("/odata/")
    assert answer.status_code == 200
    names = [item["name"] for item in answer.json["value"]]
    functions = ["PipelineSummary", "MissingArticles"]
    assert names == [*container().sets, *container().singletons, *functions]
    for item in answer.json["value"]:
        assert admin.get(f"/odata/{item['url']}").status_code == 200


def test_a_schema_version_that_is_not_there(admin: Api, schema: dict[str, Any]) -> None:
    version = schema["@Core.SchemaVersion"]
    for asked, status in ((version, 200), ("*", 200), ("99", 404)):
        assert admin.get(f"/odata/$metadata?$schemaversion={asked}").status_code == status


# --- the model ------------------------------------------------------------------------------------


def test_what_the_contract_names(schema: dict[str, Any]) -> None:
    client = schema["Client"]
    assert client["revenue"]["$Type"] == "Edm.Decimal"
    assert client["revenue"][f"@{MEASURES}.ISOCurrency"] == {"$Path": "currency"}
    assert client["createdAt"]["$Type"] == "Edm.DateTimeOffset"
    assert client["createdAt"][f"@{CORE}.Computed"] is True
    assert client["billingAddress"]["$Type"] == "BusinessPlatform.Address"
    values = client["status"][f"@{VALIDATION}.AllowedValues"]
    assert [value["Value"] for value in values] == ["Prospect", "Active", "Inactive", "Blocked"]
    assert list(schema["Priority"])[1:5] == ["Low", "Normal", "High", "Urgent"]
    assert schema["CustomFields"]["$OpenType"] is True
    assert schema["Document"]["$HasStream"] is True
    assert schema["Task"]["Subtasks"]["$Partner"] == "ParentTask"
    assert schema["Invoice"]["LineItems"]["$ContainsTarget"] is True
    assert schema["Invoice"]["Client"]["$ReferentialConstraint"] == {"clientId": "id"}
    keys = [key["Key"][0]["Name"] for key in client[f"@{CORE}.AlternateKeys"]]
    assert keys == ["externalId", "number"]


def test_no_two_names_differ_only_by_case(schema: dict[str, Any]) -> None:
    for element in schema.values():
        if isinstance(element, dict):
            names = [name.lower() for name in element if name[0] not in "$@"]
            assert len(names) == len(set(names))


def test_everything_is_described(schema: dict[str, Any]) -> None:
    """Types, their properties and relations, operations and their parameters."""
    silent = []
    for name, element in schema.items():
        if isinstance(element, list):  # an operation
            for overload in element:
                parts = [one for one in overload.get("$Parameter", []) if one["$Name"] != "binding"]
                silent += [name for one in (overload, *parts) if DESCRIPTION not in one]
        elif isinstance(element, dict) and element.get("$Kind") in ("EntityType", "ComplexType"):
            members = {part: one for part, one in element.items() if isinstance(one, dict)}
            silent += [f"{name}.{part}" for part, one in members.items() if DESCRIPTION not in one]
            silent += [] if DESCRIPTION in element else [name]
    assert silent == []


def test_entities_have_the_declared_properties(admin: Api, schema: dict[str, Any]) -> None:
    made = admin.post("/odata/Clients", {"name": "ACME"}).json
    on_request = {prop.name for prop in container().types["Client"].properties.values()
                  if prop.on_request}  # fmt: skip
    declared = {name for name, item in schema["Client"].items()
                if name[0] not in "$@" and item.get("$Kind") != "NavigationProperty"}  # fmt: skip
    assert {name for name in made if not name.startswith("@")} == declared - on_request


# --- the claims -----------------------------------------------------------------------------------


def test_every_function_can_be_used(admin: Api, schema: dict[str, Any]) -> None:
    claimed = schema["Default"][f"@{CAPABILITIES}.FilterFunctions"]
    assert set(claimed) == set(EXPRESSIONS)
    for name in claimed:
        answer = admin.get("/odata/Clients", query_string={"$filter": EXPRESSIONS[name]})
        assert answer.status_code == 200, (name, answer.text)


@pytest.mark.parametrize("name", container().sets)
def test_filters_and_sorting_except_what_they_say(
    admin: Api, schema: dict[str, Any], name: str
) -> None:
    unfiltered = capability(schema, name, "FilterRestrictions").get("NonFilterableProperties", [])
    unsorted = capability(schema, name, "SortRestrictions").get("NonSortableProperties", [])
    for prop in container().sets[name].type.properties.values():
        test = (
            f"{prop.name}/$count eq 0"
            if prop.name in ("tags", "taxBreakdown")
            else (f"{prop.name} eq null")
        )
        filtered = admin.get(f"/odata/{name}", query_string={"$filter": test})
        ordered = admin.get(f"/odata/{name}?$orderby={prop.name}")
        assert (filtered.status_code == 200) == (prop.name not in unfiltered), prop.name
        assert (ordered.status_code == 200) == (prop.name not in unsorted), prop.name


def test_search_where_it_is_said(admin: Api, schema: dict[str, Any]) -> None:
    for name in container().sets:
        if capability(schema, name, "SearchRestrictions")["Searchable"]:
            assert admin.get(f"/odata/{name}?$search=x").status_code == 200


def test_expanding_as_deep_as_is_said(admin: Api, schema: dict[str, Any]) -> None:
    depth = capability(schema, "Tasks", "ExpandRestrictions")["MaxLevels"]
    expand = "Subtasks"
    for _ in range(depth - 1):
        expand = f"Subtasks($expand={expand})"
    assert admin.get(f"/odata/Tasks?$expand={expand}").status_code == 200
    deeper = admin.get(f"/odata/Tasks?$expand=Subtasks($expand={expand})")
    assert deeper.status_code == 400


def test_the_depth_that_is_set_is_the_one_that_is_said(
    admin: Api, make_app: Callable[..., Flask]
) -> None:
    other = make_app(MAX_EXPAND_DEPTH=2).test_client()
    asked = {"query_string": "$format=json", "headers": admin.headers}
    schema = other.get("/odata/$metadata", **asked).json["BusinessPlatform"]
    assert capability(schema, "Tasks", "ExpandRestrictions")["MaxLevels"] == 2
    for levels, status in ((2, 200), (3, 400)):
        address = f"/odata/Tasks?$expand=Subtasks($levels={levels})"
        assert other.get(address, headers=admin.headers).status_code == status


def test_paging_counting_computing_selecting(admin: Api, schema: dict[str, Any]) -> None:
    for name in container().sets:
        for term in ("TopSupported", "SkipSupported", "IndexableByKey", "ComputeSupported"):
            assert capability(schema, name, term) is True
        assert capability(schema, name, "CountRestrictions") == {"Countable": True}
        query = "$top=1&$skip=1&$count=true&$select=id,x&$compute=id add 1 as x"
        assert admin.get(f"/odata/{name}?{query}").status_code == 200
    assert admin.get("/odata/Clients/1").status_code == 404  # a key as segment
    body = {"data": "$filter=name eq 'x'", "content_type": "text/plain"}
    answer = admin.client.post("/odata/Clients/$query", headers=admin.headers, **body)
    assert answer.status_code == 200


def test_writing_where_it_is_said(admin: Api, schema: dict[str, Any]) -> None:
    for name, entity_set in container().sets.items():
        writable = entity_set.service is not None
        for term, able, method, path in (
            ("InsertRestrictions", "Insertable", "POST", name),
            ("UpdateRestrictions", "Updatable", "PATCH", f"{name}(999999)"),
            ("DeleteRestrictions", "Deletable", "DELETE", f"{name}(999999)"),
        ):
            assert capability(schema, name, term)[able] is writable
            answer = admin.client.open(
                f"/odata/{path}", method=method, json={}, headers=admin.headers
            )
            assert (answer.status_code == 405) is not writable, (name, method)


def test_relations_that_take_new_entities(admin: Api, schema: dict[str, Any]) -> None:
    for name, entity_set in container().sets.items():
        restrictions = capability(schema, name, "InsertRestrictions")
        if not restrictions["Insertable"]:
            continue
        closed = set(restrictions.get("NonInsertableNavigationProperties", ()))
        for nav in entity_set.type.navigation.values():
            if nav.collection:
                answer = admin.post(f"/odata/{name}(999999)/{nav.name}", {})
                assert (answer.status_code == 405) == (nav.name in closed), (name, nav.name)


def test_upserts_where_it_is_said(admin: Api, schema: dict[str, Any]) -> None:
    assert capability(schema, "Clients", "UpdateRestrictions")["Upsertable"] is True
    answer = admin.patch("/odata/Clients(externalId='x')", {"name": "x"})
    assert answer.status_code == 201


def test_many_at_once_where_it_is_said(admin: Api, schema: dict[str, Any]) -> None:
    for name, declared in schema["Default"].items():
        if isinstance(declared, dict) and declared.get("$Collection"):
            change = capability(schema, name, "UpdateRestrictions")
            answer = admin.patch(f"/odata/{name}", {"value": []})
            assert (answer.status_code == 200) == change.get("DeltaUpdateSupported", False), name
            none = f"/odata/{name}/$filter(false)/$each"
            changed = admin.patch(none, {}).status_code == 204
            assert changed == change.get("FilterSegmentSupported", False), name
            removal = capability(schema, name, "DeleteRestrictions")
            removed = admin.delete(none).status_code == 204
            assert removed == removal.get("FilterSegmentSupported", False), name


def test_cross_joins_as_it_is_said(admin: Api, schema: dict[str, Any]) -> None:
    assert schema["Default"][f"@{CAPABILITIES}.CrossJoinSupported"] is True
    assert admin.get("/odata/$crossjoin(Clients,Contacts)").status_code == 200


def test_batches_as_it_is_said(admin: Api, schema: dict[str, Any]) -> None:
    """Each statement but the formats has its test in test_odata_batch*.py."""
    said = schema["Default"][f"@{CAPABILITIES}.BatchSupport"]
    assert said.pop("SupportedFormats") == ["multipart/mixed", "application/json"]
    assert set(said.values()) == {True}
    assert admin.post("/odata/$batch", {"requests": []}).status_code == 200


@pytest.mark.parametrize(
    ("accept", "version", "kind"),
    [
        ("application/json", None, "application/json"),
        ("application/json", "4.01", "application/json"),
        ("application/json", "4.0", "application/json"),
        ("application/json, application/xml;q=0.9", None, "application/json"),
        ("application/json, application/xml;q=0.9", "4.01", "application/json"),
        ("application/json, application/xml;q=0.9", "4.0", "application/xml"),
        ("application/json, */*;q=0.1", "4.0", "application/xml"),
        ("application/xml, application/json;q=0.9", "4.01", "application/xml"),
    ],
)
def test_csdl_in_json_is_for_those_who_may_know_it(
    admin: Api, accept: str, version: str | None, kind: str
) -> None:
    headers = {"Accept": accept} | ({"OData-MaxVersion": version} if version else {})
    assert admin.get("/odata/$metadata", headers=headers).mimetype == kind


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "Clients(1)", None),
        ("GET", "KbSearch(q='printer')", None),
        ("POST", "Clients", {"name": "New"}),
        ("PATCH", "Clients(1)", {"name": "New"}),
        ("PUT", "Clients(1)/name", {"value": "New"}),
        ("DELETE", "Clients(1)", None),
        ("POST", "Leads(1)/BusinessPlatform.Convert", {}),
    ],
)
def test_nothing_is_done_for_another_version_of_the_schema(
    admin: Api, method: str, path: str, body: Any
) -> None:
    make(admin, "Clients", name="ACME")
    make(admin, "Leads", lastName="Doe")
    send = getattr(admin, method.lower())
    given = [] if body is None else [body]
    answer = send(f"/odata/{path}?$schemaversion=0.1", *given)
    assert (answer.status_code, answer.json["error"]["code"]) == (404, "NOT_FOUND"), answer.text
    assert [one["name"] for one in admin.get("/odata/Clients").json["value"]] == ["ACME"]
    assert admin.get("/odata/Leads(1)").json["status"] == "New"
