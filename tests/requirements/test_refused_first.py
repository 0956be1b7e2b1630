"""Who may not do something is told so before what was sent is told to be wrong."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import orjson
import pytest
from flask import Flask

from app.openapi.routes import openapi
from tests.contract.conftest import Api
from tests.openapi.reading import Operation, operations

WRONG = {"noSuchProperty": 1}
ROLES = ("Viewer", "Support", "Accountant", "Sales", "Manager")
# What else is refused is refused for the record at hand.
OF_THE_ROLE = "Your role does not have the permission"


def writes(app: Flask) -> list[Operation]:
    """Every operation with a body of JSON, but those on the caller's session and on many at once.

    A batch and a delta need what their parts need.
    """
    document = orjson.loads(openapi.of(app).text())
    return [
        operation
        for operation in operations(document)
        if "application/json" in operation.value.get("requestBody", {}).get("content", {})
        and not re.search(r"/auth/|\$batch", operation.path)
        and not (operation.method == "patch" and re.fullmatch(r"/odata/[A-Za-z]+", operation.path))
    ]


def example(operation: Operation) -> Any:
    content = operation.value["requestBody"]["content"]["application/json"]
    if "example" in content:
        return content["example"]
    return next(iter(content["examples"].values()))["value"]


def address(operation: Operation, made: dict[str, int]) -> str:
    name = operation.path.removeprefix("/odata/").partition("(")[0]
    return re.sub(r"\{[^}]*\}", str(made.get(name, 1)), operation.path)


@pytest.mark.requirement("SEC-41")
@pytest.mark.only_on("sqlite")
@pytest.mark.parametrize("role", ROLES)
def test_what_a_good_body_is_refused_for_a_bad_one_is_too(
    app: Flask, made: dict[str, int], sign_in: Callable[..., Api], role: str
) -> None:
    caller = sign_in(role)
    wrong, refused = [], 0
    for operation in writes(app):
        path = address(operation, made)
        options = {"method": operation.method.upper(), "headers": caller.headers}
        answer = caller.client.open(path, json=example(operation), **options)
        if answer.status_code != 403 or OF_THE_ROLE not in answer.text:
            continue
        refused += 1
        told = caller.client.open(path, json=WRONG, **options)
        if told.status_code != 403:
            wrong.append(f"{operation}: {told.status_code} {told.text[:150]}; {answer.text[:120]}")
    assert not wrong, "\n".join(wrong)
    assert refused > 10


@pytest.mark.requirement("SEC-41")
@pytest.mark.parametrize(
    ("role", "method", "path"),
    [
        ("Support", "POST", "/odata/Clients"),
        ("Support", "POST", "/odata/Clients({Clients})/Contacts"),
        ("Support", "PUT", "/odata/Clients(externalId='none')"),
        ("Sales", "PATCH", "/odata/Tickets({Tickets})"),
        ("Sales", "PUT", "/odata/Tickets({Tickets})/subject"),
        ("Sales", "POST", "/odata/Tickets({Tickets})/Comments"),
        ("Sales", "POST", "/odata/Invoices({Invoices})/LineItems"),
        ("Sales", "POST", "/odata/Invoices({Invoices})/Payments"),
        ("Sales", "PATCH", "/odata/Invoices/$each"),
        ("Viewer", "PATCH", "/odata/Clients"),
        ("Sales", "POST", "/odata/KbArticles({KbArticles})/Tickets"),
        ("Sales", "POST", "/odata/KbArticles({KbArticles})/Tickets/$ref"),
        ("Manager", "POST", "/odata/Invoices({Invoices})/CreditNotes"),
        ("Sales", "POST", "/odata/Users(1)/Leads"),
        ("Sales", "POST", "/odata/Clients({Clients})/Merge"),
        ("Sales", "POST", "/api/crm/clients/{Clients}/merge"),
    ],
)
def test_the_role_is_told_before_the_body(
    made: dict[str, int], sign_in: Callable[..., Api], role: str, method: str, path: str
) -> None:
    caller = sign_in(role)
    answer = caller.client.open(
        path.format_map(made), method=method, json=WRONG, headers=caller.headers
    )
    assert answer.status_code == 403, answer.text
    assert answer.json["error"]["code"] == "FORBIDDEN"


def test_a_part_of_the_rights_is_enough_for_a_set(
    made: dict[str, int], sign_in: Callable[..., Api]
) -> None:
    """Who may change clients, but make none, is refused only what makes one."""
    support = sign_in("Support")
    assert support.patch(f"/odata/Clients({made['Clients']})", {"notes": "n"}).status_code == 200
    assert support.patch(f"/odata/Clients({made['Clients']})", WRONG).status_code == 400
    unknown = {"value": [{"@id": f"Clients({made['Clients']})", "notes": "m"}]}
    assert support.patch("/odata/Clients", unknown).status_code == 200
