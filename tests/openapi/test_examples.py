"""The examples of the document are real: sent as they are, they work."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from app.container.model import container
from app.container.operations import OPERATIONS
from tests.contract.conftest import Api
from tests.openapi.conftest import Check
from tests.openapi.reading import Operation, operations

# What takes credentials has a placeholder for them; what ends a session ends the test's own.
NOT_SENT = re.compile(r"/auth/(login|refresh|logout|password)$|/reset-password$")

CREDIT_NOTES = "/odata/Invoices({id})/CreditNotes"
OPERATION = "BusinessPlatform."


def address(operation: Operation) -> str:
    """The path with the examples of its parameters: the record with the key 1."""
    path = operation.path
    for parameter in operation.parameters:
        if parameter["in"] == "path":
            path = path.replace(f"{{{parameter['name']}}}", str(parameter.get("example", 1)))
    return path


def test_every_read_works(records: Api, document: dict[str, Any], check: Check) -> None:
    for operation in operations(document):
        if operation.method == "get" and operation.path.startswith("/odata"):
            given = [one for one in operation.parameters if one["in"] == "query"]
            asked = {one["name"]: one["example"] for one in given if one.get("required")}
            check(operation, records.get(f"{address(operation)}?{urlencode(asked)}"))


def test_every_query_option_works(records: Api, document: dict[str, Any], check: Check) -> None:
    for operation in operations(document):
        # Along navigation the options are those of the set.
        if operation.method != "get" or not re.fullmatch(r"/odata/\w+", operation.path):
            continue
        for parameter in operation.parameters:
            if parameter["in"] != "query" or "examples" not in parameter["schema"]:
                continue
            (example,) = parameter["schema"]["examples"]
            text = str(example).lower() if isinstance(example, bool) else str(example)
            answer = records.get(f"{address(operation)}?{parameter['name']}={quote(text)}")
            check(operation, answer)


# One entity along navigation, such as the client of a contact: there need be none.
ONE_RELATED = re.compile(r"/odata/\w+\(\{\w+\}\)/[A-Z]\w+")


def is_of_one_related(operation: Operation) -> bool:
    """Whether an operation changes or deletes what a relation leads to."""
    return bool(ONE_RELATED.fullmatch(operation.path)) and operation.method != "post"


def test_every_change_works(records: Api, document: dict[str, Any], check: Check) -> None:
    for method in ("patch", "put", "post"):
        for operation in operations(document):
            if operation.method != method or NOT_SENT.search(operation.path):
                continue
            if not operation.path.startswith("/odata") or "{" not in operation.path:
                continue
            if operation.path == CREDIT_NOTES or OPERATION in operation.path:
                continue
            if is_of_one_related(operation):
                continue
            body = operation.value["requestBody"]["content"]["application/json"]["example"]
            answer = records.client.open(
                address(operation), method=method.upper(), json=body, headers=records.headers
            )
            check(operation, answer)


def test_what_is_related_is_changed(records: Api, document: dict[str, Any], check: Check) -> None:
    changed = []
    for operation in operations(document):
        if not is_of_one_related(operation) or operation.method not in ("patch", "put"):
            continue
        body = operation.value["requestBody"]["content"]["application/json"]["example"]
        answer = records.client.open(
            address(operation), method=operation.method.upper(), json=body, headers=records.headers
        )
        if records.get(address(operation)).status_code == 204:
            assert answer.status_code == 404, operation
        else:
            check(operation, answer)
            changed.append(str(operation))
    assert "PATCH /odata/Contacts({id})/Client" in changed
    assert "PUT /odata/Contacts({id})/Client" in changed


def test_what_is_related_is_deleted(records: Api, document: dict[str, Any], check: Check) -> None:
    (found,) = [
        operation
        for operation in operations(document)
        if str(operation) == "DELETE /odata/Tasks({id})/ParentTask"
    ]
    parent = records.post("/odata/Tasks", {"title": "Parent"}).json["id"]
    assert records.patch("/odata/Tasks(1)", {"parentTaskId": parent}).status_code == 200
    check(found, records.delete(address(found)))
    assert records.get(f"/odata/Tasks({parent})").status_code == 404
    assert records.delete(address(found)).status_code == 404


def test_many_are_changed(records: Api, document: dict[str, Any], check: Check) -> None:
    found = [
        operation
        for operation in operations(document)
        if operation.method == "patch" and re.fullmatch(r"/odata/\w+", operation.path)
    ]
    assert len(found) == 11
    for operation in found:
        body = operation.value["requestBody"]["content"]["application/json"]["example"]
        answer = records.patch(address(operation), body)
        check(operation, answer)
        assert [one["id"] for one in answer.json["value"]] == [1]
        refused = records.patch(address(operation), body["value"][0]).status_code
        assert (refused, "405" in operation.value["responses"]) == (405, True)


def test_credit_notes_of_an_issued_invoice(
    records: Api, document: dict[str, Any], check: Check
) -> None:
    assert records.patch("/odata/Invoices(1)", {"status": "Sent"}).status_code == 200
    (found,) = [
        operation
        for operation in operations(document)
        if (operation.path, operation.method) == (CREDIT_NOTES, "post")
    ]
    body = found.value["requestBody"]["content"]["application/json"]["example"]
    check(found, records.post(address(found), body))


def issue(api: Api) -> None:
    assert api.patch("/odata/Invoices(1)", {"status": "Sent"}).status_code == 200


def pay(api: Api) -> None:
    issue(api)
    body = {"amount": 1, "date": "2026-01-31", "method": "cash"}
    assert api.post("/odata/Invoices(1)/Payments", body).status_code == 201


def second(api: Api, name: str) -> None:
    body = {"name": "Other"} if name == "Clients" else {"subject": "Other"}
    assert api.post(f"/odata/{name}", body).status_code == 201


# What has to be there before an operation works on the record with the key 1, if anything.
BEFORE: Mapping[str, Callable[[Api], object]] = {
    "Reverse": pay,
    "Void": issue,
    "MarkUncollectible": issue,
    "CreateCreditNote": issue,
    "Restore": lambda api: api.delete("/odata/Documents(1)"),
    "Share": lambda api: api.client.put(
        "/api/documents/1/content", data=b"Dear", headers=api.headers
    ),
    "Rate": lambda api: api.patch("/odata/KbArticles(1)", {"status": "Published"}),
    "Merge": lambda api: (second(api, "Clients"), second(api, "Tickets")),
}


BOUND = sorted({operation.name for operation in OPERATIONS if operation.bound_to})


@pytest.mark.parametrize("name", BOUND)
def test_every_operation_works(
    records: Api, document: dict[str, Any], check: Check, name: str
) -> None:
    BEFORE.get(name, lambda api: None)(records)
    found = [one for one in operations(document) if one.path.endswith(OPERATION + name)]
    assert found
    for one in found:
        if one.method == "get":
            check(one, records.get(address(one)))
            continue
        body = one.value["requestBody"]["content"]["application/json"]["example"]
        check(one, records.post(address(one), body))


def test_every_operation_is_described_and_tried(document: dict[str, Any]) -> None:
    described = {
        one.path.rpartition(".")[2] for one in operations(document) if OPERATION in one.path
    }
    assert described == set(BOUND) >= set(BEFORE)
    imported = {one.import_name for one in container().operations if one.import_name}
    assert {f"/odata/{name}" for name in imported} <= set(document["paths"])


def test_every_deletion_works(records: Api, document: dict[str, Any], check: Check) -> None:
    # What refers to others goes before them.
    found = [
        operation
        for operation in operations(document)
        if operation.method == "delete"
        and operation.path.startswith("/odata")
        and not is_of_one_related(operation)
    ]
    assert len(found) == 11
    for operation in reversed(found):
        check(operation, records.delete(address(operation)))
