"""The document is whole: nothing missing, nothing dangling, every example fits its schema."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask

from app.config import Config
from app.container.model import container
from app.openapi.rest_operations import rate_limits
from tests.openapi.reading import METHODS, Validator, operations, references, resolve

pytestmark = pytest.mark.only_on("sqlite")


PERMISSION = re.compile(
    r"Permission: (`[a-z-]+:[a-z-]+`( and `[a-z-]+:[a-z-]+`)*|any signed-in caller)\."
)
RATE_LIMITS = re.compile(
    r"Rate limit: \d+ requests a minute for a user, \d+ requests a minute for an API key\."
)


def test_the_rate_limits_are_those_of_the_settings() -> None:
    limits = rate_limits(Config(SECRET_KEY="x"))
    assert limits.caller == (
        "Rate limit: 100 requests a minute for a user, 1000 requests a minute for an API key."
    )
    assert limits.sign_in == "Rate limit: 20 requests a minute from one address."


def test_version_and_title(document: dict[str, Any]) -> None:
    assert document["openapi"] == "3.1.0"
    assert document["info"]["title"] == "Business Platform API"


def test_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    for reference in set(references(document)):
        assert resolve(document, {"$ref": reference})


def test_every_component_is_used(document: dict[str, Any]) -> None:
    used = set(references(document))
    for kind in ("schemas", "parameters", "responses", "headers"):
        unused = {
            name
            for name in document["components"][kind]
            if f"#/components/{kind}/{name}" not in used
        }
        assert unused == set(), kind


def test_operation_ids_are_unique(document: dict[str, Any]) -> None:
    ids = [operation.value["operationId"] for operation in operations(document)]
    assert len(ids) == len(set(ids))


def test_the_parameters_of_a_path_are_declared(document: dict[str, Any]) -> None:
    for operation in operations(document):
        declared = {item["name"] for item in operation.parameters if item["in"] == "path"}
        assert declared == set(re.findall(r"{(\w+)}", operation.path)), operation
        names = [(item["in"], item["name"]) for item in operation.parameters]
        assert len(names) == len(set(names)), operation


def test_every_operation_says_what_it_does_and_needs(document: dict[str, Any]) -> None:
    tags = {tag["name"] for tag in document["tags"]}
    for operation in operations(document):
        value = operation.value
        assert value["summary"], operation
        assert set(value["tags"]) <= tags, operation
        if value.get("security") == []:
            assert "No credentials needed." in value["description"], operation
        else:
            assert PERMISSION.search(value["description"]), operation
            assert RATE_LIMITS.search(value["description"]), operation
            assert {"401", "403"} <= value["responses"].keys() or operation.method == "get"
        if "Not counted by the rate limit" not in value["description"]:
            assert {"400", "429"} <= value["responses"].keys(), operation


def test_both_security_schemes(document: dict[str, Any]) -> None:
    schemes = document["components"]["securitySchemes"]
    assert schemes["bearerAuth"]["scheme"] == "bearer"
    assert (schemes["apiKeyAuth"]["in"], schemes["apiKeyAuth"]["name"]) == ("header", "X-API-Key")
    assert document["security"] == [{"bearerAuth": []}, {"apiKeyAuth": []}]


def test_every_body_has_an_example_that_fits(
    document: dict[str, Any], validator: Validator
) -> None:
    for operation in operations(document):
        content = operation.value.get("requestBody", {}).get("content", {})
        for media_type, body in content.items():
            assert "example" in body, operation
            if media_type == "application/json":
                assert validator.problems(body["schema"], body["example"]) == [], operation


def test_every_answer_has_an_example_that_fits(
    document: dict[str, Any], validator: Validator
) -> None:
    for operation in operations(document):
        for status, answer in operation.value["responses"].items():
            answer = resolve(document, answer)
            assert answer["description"], (operation, status)
            for media_type, body in answer.get("content", {}).items():
                assert "example" in body, (operation, status)
                if media_type == "application/json":
                    found = validator.problems(body["schema"], body["example"])
                    assert found == [], (str(operation), status)


def test_examples_of_answers_say_what_is_there(document: dict[str, Any]) -> None:
    """A text that stands for any text tells a reader nothing of the answer."""
    assert [
        f"{operation} {status}: {path}"
        for operation in operations(document)
        for status, answer in operation.value["responses"].items()
        if "application/json" in answer.get("content", {})
        for path, text in texts_in(answer["content"]["application/json"].get("example"))
        if text == "text" and not path.endswith("columns/0/type")
    ] == []


def texts_in(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Path and text of each text in a value of JSON."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict | list):
        for name, member in value.items() if isinstance(value, dict) else enumerate(value):
            yield from texts_in(member, f"{path}/{name}")


def test_days_and_instants_are_described_as_such(document: dict[str, Any]) -> None:
    assert [
        f"{schema}.{name}"
        for schema, described in document["components"]["schemas"].items()
        for name, member in described.get("properties", {}).items()
        if name.endswith("At") and "string" in member.get("type", ())
        if member.get("format") not in ("date", "date-time")
    ] == []


def test_the_examples_of_parameters_fit(document: dict[str, Any], validator: Validator) -> None:
    for operation in operations(document):
        for parameter in operation.parameters:
            assert parameter["description"], operation
            for example in parameter["schema"].get("examples", []):
                assert validator.problems(parameter["schema"], example) == []


def test_every_route_of_the_rest_api_is_described(app: Flask, document: dict[str, Any]) -> None:
    described = {(operation.path, operation.method) for operation in operations(document)}
    for rule in app.url_map.iter_rules():
        if rule.rule.startswith("/api/v1/"):
            path = re.sub(r"<(?:[^:<>]+:)?(\w+)>", r"{\1}", rule.rule)
            for method in {name.lower() for name in rule.methods or ()} & set(METHODS):
                assert (path, method) in described


def test_every_entity_set_is_described(document: dict[str, Any]) -> None:
    paths = document["paths"]
    for entity_set in container().sets.values():
        writable = entity_set.service is not None
        assert ("post" in paths[f"/odata/{entity_set.name}"]) == writable
        assert "get" in paths[f"/odata/{entity_set.name}/$count"]
        entity = paths[f"/odata/{entity_set.name}({{id}})"]
        assert ({"patch", "put", "delete"} <= entity.keys()) == writable
        for nav in entity_set.type.navigation:
            assert "get" in paths[f"/odata/{entity_set.name}({{id}})/{nav}"]


def test_what_a_client_may_send(document: dict[str, Any], validator: Validator) -> None:
    schemas = document["components"]["schemas"]
    created = schemas["BusinessPlatform.Client-create"]
    assert created["required"] == ["name"]
    assert created["additionalProperties"] is False
    assert not {"id", "number", "createdAt"} & created["properties"].keys()
    assert created["properties"]["status"]["enum"] == ["Prospect", "Active", "Inactive", "Blocked"]
    read = schemas["BusinessPlatform.Client"]["properties"]
    assert read["number"]["readOnly"] is True
    for bad in ({}, {"name": ""}, {"name": "x", "id": 1}, {"name": "x", "status": "Odd"},
                {"name": "x", "revenue": "much"}, {"name": "x" * 201}):  # fmt: skip
        assert validator.problems(created, bad), bad
    for good in ({"name": "x", "Contacts": [{"lastName": "y"}]}, {"name": "x", "email": None},
                 {"name": "x", "Owner@odata.bind": "Users(1)"}):  # fmt: skip
        assert validator.problems(created, good) == [], good


def test_the_length_of_a_tag_is_that_of_each(
    document: dict[str, Any], validator: Validator
) -> None:
    created = document["components"]["schemas"]["BusinessPlatform.Client-create"]
    assert validator.problems(created, {"name": "x", "tags": ["t" * 50]}) == []
    assert validator.problems(created, {"name": "x", "tags": ["t" * 51]})


def test_rules_that_a_type_does_not_tell_stand_in_the_description(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    for name in ("BusinessPlatform.Invoice-create", "BusinessPlatform.Invoice-update"):
        due = schemas[name]["properties"]["dueDate"]["description"]
        assert due.startswith("Payable until") and due.endswith("Of the years 1000 to 9999.")
    at = schemas["BusinessPlatform.Ticket-create"]["properties"]
    texts = [value["description"] for value in at.values() if value.get("format") == "date-time"]
    assert texts and all(text.endswith("Of the years 1000 to 9998.") for text in texts)
    assert "years" in schemas["PaymentBody"]["properties"]["date"]["description"]
    line = schemas["BusinessPlatform.LineItem-create"]["properties"]["unitCode"]
    assert "Recommendation 20 or 21" in line["description"]
    read = schemas["BusinessPlatform.Invoice"]["properties"]["dueDate"]
    assert "years" not in read["description"]  # what is stored may be older


def test_what_changes_many_records(document: dict[str, Any], validator: Validator) -> None:
    delta = document["components"]["schemas"]["BusinessPlatform.Client-delta"]
    removed = {"@removed": {"reason": "deleted"}, "@id": "Clients(1)"}
    good: dict[str, Any] = {"value": [{"id": 1, "phone": None}, {"name": "x"}, removed]}
    good["value"].append({"id": None, "name": "x"})
    assert validator.problems(delta, good) == []
    for bad in ({}, {"value": {}}, {"value": [{"name": 1}]}, {"value": [{"nmae": "x"}]}):
        assert validator.problems(delta, bad), bad


def test_what_a_request_of_a_batch_may_leave_out_may_be_null(
    document: dict[str, Any], validator: Validator
) -> None:
    content = document["paths"]["/odata/$batch"]["post"]["requestBody"]["content"]
    request = {"id": "1", "method": "get", "url": "Clients"}
    nothing = dict.fromkeys(("atomicityGroup", "dependsOn", "if", "headers", "body"))
    schema = content["application/json"]["schema"]
    assert validator.problems(schema, {"requests": [request | nothing]}) == []
    for name in request:
        assert validator.problems(schema, {"requests": [request | {name: None}]}), name


def test_null_is_a_value_of_what_may_be_left_out(
    document: dict[str, Any], validator: Validator
) -> None:
    given = document["paths"]["/odata/PipelineSummary"]["get"]["parameters"]
    schemas = {one["name"]: one["schema"] for one in given}
    assert validator.problems(schemas["to"], "null") == []
    assert validator.problems(schemas["to"], "soon")


@pytest.mark.requirement("OPS-15")
@pytest.mark.parametrize(
    ("path", "method", "status"),
    [
        ("/api/v1/invoices/{invoice_id}/link", "get", "409"),  # documents have no page, or a draft
        ("/api/v1/invoices/{invoice_id}/einvoice", "get", "409"),  # a draft
        ("/api/v1/documents/{document_id}/download", "get", "409"),  # in quarantine
        ("/api/v1/documents/upload", "post", "404"),  # the document that gets a new version
    ],
)
def test_refusals_that_the_method_does_not_tell_are_described(
    document: dict[str, Any], path: str, method: str, status: str
) -> None:
    assert status in document["paths"][path][method]["responses"]
