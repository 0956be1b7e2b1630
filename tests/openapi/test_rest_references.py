"""References in bodies to what is nowhere, and to what the caller may not read: one answer.

Operations and their members are those of the OpenAPI document. The caller holds every right and
reads own records alone; what the examples name belongs to the administrator.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from io import BytesIO
from typing import Any, NamedTuple

import pytest

from tests.contract.conftest import Api
from tests.openapi.bad_values import changed, plain, types_of
from tests.openapi.preparations import V1, made
from tests.openapi.reading import Operation
from tests.openapi.test_rest_bad_fields import rows
from tests.openapi.test_rest_examples import filled, name_of, operations

__all__ = ["filled"]

NOWHERE = 999_999
# The administrator's records have the key 1 in every set.
THEIRS = 1
OWN_ONLY = (
    "clients", "contacts", "leads", "opportunities", "tickets", "invoices", "kb", "documents",
    "tasks", "projects",
)  # fmt: skip
RESERVED = ("users:manage", "roles:manage", "api-keys:manage")
SETS = ("Clients", "Contacts", "Leads", "Opportunities", "Tickets", "Invoices", "Documents")
# What a body needs besides the reference.
BESIDES: dict[str, dict[str, Any]] = {"entityId": {"entityType": "Client"}}
# Users are read by everybody who may see who there is.
READABLE = ("ownerId",)


class Reference(NamedTuple):
    """A member that names a record or a conversation; ``path`` leads to it in the body."""

    operation: Operation
    path: tuple[str | int, ...]
    is_form: bool

    @property
    def name(self) -> str:
        return next(str(step) for step in reversed(self.path) if isinstance(step, str))

    def __str__(self) -> str:
        return f"{name_of(self.operation)} {'.'.join(map(str, self.path))}"


@pytest.fixture
def narrow(filled: Api, sign_in: Callable[..., Api]) -> Api:
    """Somebody with every right who reads own records alone."""
    roles = made(filled.get(f"{V1}/admin/roles"))["items"]
    everything = next(role for role in roles if role["name"] == "Admin")["permissions"]
    rights = {
        right: "own" if right.partition(":")[0] in OWN_ONLY and right.endswith(":read") else "all"
        for right in everything
        if right not in RESERVED
    }
    made(filled.post(f"{V1}/admin/roles", {"name": "Narrow", "permissions": rights}))
    found = sign_in("Narrow")
    for name in SETS:
        assert filled.get(f"/odata/{name}({THEIRS})").status_code == 200
        assert found.get(f"/odata/{name}({THEIRS})").status_code == 404
    return found


def references(document: dict[str, Any]) -> Iterator[Reference]:
    """Every member of every body that names something by its key."""
    for operation in operations(document):
        if operation.path.startswith("/odata"):
            continue
        content = operation.value.get("requestBody", {}).get("content", {})
        for kind in ("application/json", "multipart/form-data"):
            if kind in content:
                for path in members(document, content[kind].get("schema", {})):
                    yield Reference(operation, path, kind.startswith("multipart"))


def members(document: dict[str, Any], schema: Any) -> Iterator[tuple[str | int, ...]]:
    schema = plain(document, schema)
    for name, member in schema.get("properties", {}).items():
        member = plain(document, member)
        kinds = types_of(member)
        if member.get("readOnly"):
            continue
        if re.search("Id$", name) and ("integer" in kinds or name == "sessionId"):
            yield (name,)
        elif re.search("Ids$", name) and "array" in kinds:
            yield (name, 0)
        elif member.get("properties"):
            yield from ((name, *path) for path in members(document, member))


def test_the_references_are_found(document: dict[str, Any]) -> None:
    names = [str(one) for one in references(document)]
    assert len(names) > 15
    assert {"POST /crm/leads/{lead_id}/convert clientId", "POST /kb/from-ticket ticketId",
            "POST /invoices/send invoiceIds.0", "POST /documents/upload documentId",
            "POST /ai/chat context.entityId", "POST /tickets/{ticket_id}/merge sourceId",
            "POST /crm/clients/{client_id}/merge sourceId"} <= set(names)  # fmt: skip


def test_what_is_nowhere_and_what_is_not_yours_are_answered_alike(
    filled: Api, narrow: Api, document: dict[str, Any]
) -> None:
    found = []
    for reference in references(document):
        path = address(narrow, reference.operation)
        nowhere, theirs = values(filled, reference)
        before = rows(narrow.client.application)
        first = send(narrow, reference, path, nowhere)
        second = send(narrow, reference, path, theirs) if theirs is not None else first
        if rows(narrow.client.application) != before:
            found.append(f"{reference} left something")
        if told(first, nowhere) != told(second, theirs if theirs is not None else nowhere):
            found.append(f"{reference}: {first.text[:200]} {second.text[:200]}")
        if not is_refused(reference, first):
            found.append(f"{reference}: {first.status_code} {first.text[:300]}")
    assert found == []


def address(api: Api, operation: Operation) -> str:
    """The path, on a record of the caller's own."""
    own = {
        "lead_id": ("Leads", {"lastName": "Own"}),
        "client_id": ("Clients", {"name": "Own"}),
        "ticket_id": ("Tickets", {"subject": "Own"}),
    }

    def key(match: re.Match[str]) -> str:
        name, body = own[match[1]]
        return str(made(api.post(f"/odata/{name}", body))["id"])

    return re.sub(r"{(\w+)}", key, operation.path)


def values(admin: Api, reference: Reference) -> tuple[Any, Any]:
    """Something that is nowhere, and something of the administrator's; None where all may read."""
    if reference.name == "sessionId":
        body = {"message": "hello"} if "/ai/" in reference.operation.path else {
            "question": "how many clients"}  # fmt: skip
        return "nowhere", made(admin.post(reference.operation.path, body))["sessionId"]
    return NOWHERE, None if reference.name in READABLE else THEIRS


def send(api: Api, reference: Reference, path: str, value: Any) -> Any:
    content = reference.operation.value["requestBody"]["content"]
    besides = BESIDES.get(reference.name, {}) if reference.is_form else {}
    if reference.is_form:
        form = {"file": (BytesIO(b"A turbine.\n"), "a.txt"), **besides}
        return api.client.open(
            path, method=reference.operation.method.upper(), headers=api.headers,
            data={**form, reference.name: str(value)},
        )  # fmt: skip
    described = content["application/json"]
    needed = needed_of(described["example"], reference.path)
    body = changed(needed, reference.path, value)
    return api.client.open(
        path, method=reference.operation.method.upper(), headers=api.headers, json=body
    )


def needed_of(example: Any, path: tuple[str | int, ...]) -> Any:
    """The example without references of its own, but for objects on the way to the member."""
    kept = {name: value for name, value in example.items() if not re.search("Ids?$", name)}
    if len(path) > 1 and isinstance(path[1], int):
        kept[str(path[0])] = [0]
    return {name: value for name, value in kept.items() if name == path[0] or not isinstance(
        value, dict)}  # fmt: skip


def told(answer: Any, value: Any) -> str:
    """The answer, as if it had been asked for the administrator's."""
    return json.dumps([answer.status_code, answer.json]).replace(str(value), str(THEIRS))


def is_refused(reference: Reference, answer: Any) -> bool:
    """Whether it is refused, and the member is named."""
    if reference.operation.path.endswith("/invoices/send"):  # each invoice has its own answer
        (result,) = answer.json["results"]
        return not result["ok"] and result["error"]["code"] == "NOT_FOUND"
    named = ".".join(map(str, reference.path))
    fields = [detail["field"] for detail in answer.json["error"]["details"]]
    return answer.status_code in (400, 404, 409) and named in fields
