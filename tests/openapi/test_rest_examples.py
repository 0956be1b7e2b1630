"""The examples of the REST operations work when they are sent as they stand."""

from __future__ import annotations

import re
from io import BytesIO
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.contract.conftest import PASSWORD, Api
from tests.openapi.conftest import Problems
from tests.openapi.preparations import BEFORE, PNG, V1, login, made
from tests.openapi.reading import Operation, operations

# Credentials stand for themselves in examples: these are the caller's own.
CREDENTIALS: dict[str, Any] = {
    "POST /auth/login": lambda api: {"username": "admin", "password": PASSWORD},
    "POST /auth/refresh": lambda api: {"refreshToken": made(login(api, "admin"))["refreshToken"]},
    "POST /auth/password": lambda api: {"currentPassword": PASSWORD},
}
# Whose success ends what the test goes on with.
LAST = ("POST /auth/password", "POST /auth/logout")
AREAS = (
    "auth", "admin", "crm", "invoices", "payments", "mail", "tickets", "documents", "kb", "ai",
    "webhooks", "events", "bi", "s",
)  # fmt: skip


def name_of(operation: Operation) -> str:
    return str(operation).replace(V1, "")


def rest(document: dict[str, Any], area: str) -> list[Operation]:
    """The operations of an area, in the order in which each leaves the next something to do."""
    found = [
        operation
        for operation in operations(document)
        if re.match(rf"({V1})?/{area}(/|$)", operation.path)
    ]
    return sorted(found, key=lambda one: (order(name_of(one)), one.method == "delete"))


def order(name: str) -> int:
    return LAST.index(name) if name in LAST else -1


@pytest.fixture
def filled(records: Api) -> Api:
    """The records that examples name by key."""
    for path, body in (("Clients", {"name": "Other"}), ("Tickets", {"subject": "Other"})):
        assert made(records.post(f"/odata/{path}", body))["id"] == 2
    return records


def test_every_area_is_named(document: dict[str, Any]) -> None:
    tried = {str(one) for area in AREAS for one in rest(document, area)}
    known = {str(one) for one in operations(document) if not one.path.startswith("/odata")}
    assert known - tried == {"GET /healthz", "GET /readyz"}
    assert {name.replace(" ", f" {V1}") for name in BEFORE if " /s/" not in name} <= tried


@pytest.mark.parametrize("area", AREAS)
def test_every_example_works(
    filled: Api, document: dict[str, Any], problems: Problems, area: str
) -> None:
    answers = [(one, send(filled, one)) for one in rest(document, area)]
    assert [text for one, answer in answers for text in problems(one, answer)] == []


@pytest.mark.parametrize("area", AREAS)
def test_every_parameter_works(
    filled: Api, document: dict[str, Any], problems: Problems, area: str
) -> None:
    answers = [
        (one, send(filled, one, parameter))
        for one in rest(document, area)
        if one.method == "get"
        for parameter in one.parameters
        if parameter["in"] == "query" and example(parameter) is not None
    ]
    assert [text for one, answer in answers for text in problems(one, answer)] == []


def example(parameter: dict[str, Any]) -> Any:
    """What the document shows for a parameter; None where it shows nothing."""
    schema = parameter["schema"]
    first = schema.get("enum", [None])[0]
    return parameter.get("example", schema.get("example", schema.get("default", first)))


def send(api: Api, operation: Operation, parameter: dict[str, Any] | None = None) -> Any:
    """Call an operation with its example, its required parameters and one more."""
    prepare = BEFORE.get(name_of(operation))
    values = dict((prepare and prepare(api)) or {})
    path = re.sub(r"{(\w+)}", lambda match: str(values.get(match[1], 1)), operation.path)
    wanted = [one for one in operation.parameters if one["in"] == "query" and one.get("required")]
    query = {
        one["name"]: values.get(one["name"], example(one))
        for one in (*wanted, *([parameter] if parameter else []))
    }
    return api.client.open(
        f"{path}?{urlencode({name: text(value) for name, value in query.items()})}",
        method=operation.method.upper(),
        headers=api.headers,
        **body(api, operation),
    )


def text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def body(api: Api, operation: Operation) -> dict[str, Any]:
    """The first of its bodies, for the test client."""
    for kind, described in operation.value.get("requestBody", {}).get("content", {}).items():
        value = described["example"]
        if kind == "application/json":
            own = CREDENTIALS.get(name_of(operation))
            return {"json": {**value, **own(api)} if own else value}
        if kind == "multipart/form-data":
            # A picture is not written in the document.
            content = value["file"].encode() or PNG
            file_name = "logo.png" if content == PNG else "file.txt"
            return {"data": {**value, "file": (BytesIO(content), file_name)}}
        return {"data": value, "content_type": kind}
    return {}
