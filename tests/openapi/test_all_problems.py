"""A body with many faults is told of all of them at once, each field by its name.

Operations, members and their bounds are those of the OpenAPI document, and valid bodies are its
examples, so an operation that is added is tested without a word here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.architecture.test_wording import STYLE
from tests.contract.conftest import Api
from tests.openapi.bad_values import Wrong, body_of, changed, plain, wrong_members
from tests.openapi.test_rest_bad_fields import WITH_BODIES, bodies, filled, prepared, send

__all__ = ["filled"]


def faults(
    document: dict[str, Any], schema: dict[str, Any], example: Any
) -> Iterator[dict[str, Wrong]]:
    """Bodies by their faults: of every member the first, the last, and one from in between."""
    by_name: dict[str, list[Wrong]] = {}
    for wrong in wrong_members(document, schema, example):
        if "\\ud" not in repr(wrong.value) and "\x00" not in str(wrong.value):  # is no JSON text
            by_name.setdefault(str(wrong.path[0]), []).append(wrong)
    for choose in (0, -1, 1):
        yield {
            name: values[(choose + at * abs(choose)) % len(values)]
            for at, (name, values) in enumerate(by_name.items())
        }


def body_with_all(example: Any, wrong: dict[str, Wrong]) -> bytes:
    body = example
    for fault in wrong.values():
        body = changed(body, fault.path, fault.value)
    return body_of(body)


@pytest.mark.only_on("sqlite")
@pytest.mark.parametrize("area", WITH_BODIES)
def test_every_fault_of_a_body_is_told(filled: Api, document: dict[str, Any], area: str) -> None:
    found: list[str] = []
    for operation, described in bodies(document, area):
        path, example = prepared(filled, operation, described["example"])
        for wrong in faults(document, plain(document, described["schema"]), example):
            answer = send(filled, operation, path, body_with_all(example, wrong))
            found += [f"{operation}: {text}" for text in missed(answer, wrong)]
    assert not found, "\n".join(["", *found])


def missed(answer: Any, wrong: dict[str, Wrong]) -> list[str]:
    """The faults that an answer does not name."""
    if not wrong:
        return []
    if answer.status_code != 400:
        return [f"{answer.status_code} {answer.text:.200}"]
    details = answer.json["error"]["details"]
    named = {re.split(r"[.\[]", detail["field"])[0] for detail in details}
    return [
        *(f"{name} = {fault.value!r:.60}" for name, fault in wrong.items() if name not in named),
        *(str(detail) for detail in details if not STYLE.fullmatch(detail["message"])),
    ]


@pytest.mark.only_on("sqlite")
@pytest.mark.parametrize(
    ("path", "body", "fields"),
    [
        (
            "invoices/1/payments", {"amount": -1, "date": "31.12.2026"},
            ["amount", "date", "method"],
        ),
        (
            "invoices/1/payments",
            {"amount": -1, "date": "31.12.2026", "method": "gold", "notes": 5, "nope": 1},
            ["amount", "date", "method", "nope", "notes"],
        ),
        (
            "webhooks", {"url": "ftp://x", "events": ["invoice.nothing"], "nope": 1},
            ["events[0]", "nope", "url"],
        ),
        ("webhooks", {"url": "ftp://x", "events": ["nothing.*"]}, ["events[0]", "url"]),
        ("webhooks", {"url": "ftp://x"}, ["events", "url"]),
        (
            "admin/users",
            {"username": "a\u200b", "email": "x", "password": "short", "language": "zz", "nope": 1},
            ["email", "language", "nope", "password", "roles", "username"],
        ),
        (
            "admin/users",
            {"username": "anna", "email": "x", "password": "short", "roles": ["Nobody"]},
            ["email", "password", "roles"],
        ),
        (
            "admin/api-keys",
            {"expiresAt": "2020-01-01T00:00:00Z", "name": "x", "nope": 1},
            ["expiresAt", "nope", "role"],
        ),
        (
            "admin/roles",
            {"permissions": {"nope": "all", "clients:read": "some"}, "description": 5},
            ["description", "name", "permissions.clients:read", "permissions.nope"],
        ),
        (
            "crm/leads/1/convert",
            {"client": {"email": "x", "nope": 1}, "opportunity": {"amount": "1", "stage": "No"},
             "clientId": "1"},
            ["client.email", "client.nope", "clientId", "opportunity.amount", "opportunity.stage"],
        ),
        (
            "crm/leads/1/convert",
            {"client": {"email": "x", "nope": 1}, "opportunity": {"amount": "1", "name": 5}},
            ["client.email", "client.nope", "opportunity.amount", "opportunity.name"],
        ),
        (
            "invoices/1/credit-note",
            {"lineItems": [{"description": "A", "unitPrice": "5"}, {"taxRate": 900}], "notes": 5,
             "issue": "yes"},
            ["issue", "lineItems[0].unitPrice", "lineItems[1].description", "lineItems[1].taxRate",
             "notes"],
        ),
        ("tickets/1/comments", {"body": 5, "isInternal": "no", "nope": 1},
         ["body", "isInternal", "nope"]),
    ],
)  # fmt: skip
def test_each_of_some_bodies(filled: Api, path: str, body: Any, fields: list[str]) -> None:
    answer = filled.post(f"/api/v1/{path}", body)
    assert answer.status_code == 400, answer.text
    named = sorted(detail["field"] for detail in answer.json["error"]["details"])
    assert set(fields) <= set(named), named
    assert len(named) == len(set(named))


@pytest.mark.only_on("sqlite")
@pytest.mark.parametrize(
    ("path", "body", "fields"),
    [
        (
            "Invoices(1)/BusinessPlatform.RegisterPayment",
            {"amount": -1, "date": "31.12.2026", "reference": 5, "nope": 1},
            ["amount", "date", "method", "nope", "reference"],
        ),
        (
            "Leads(1)/BusinessPlatform.Convert",
            {"client": {"email": "x"}, "opportunity": {"amount": "1"}, "clientId": "1"},
            ["client.email", "clientId", "opportunity.amount"],
        ),
        (
            "Leads(1)/BusinessPlatform.Convert",
            {"client": {"email": "x"}, "opportunity": {"amount": True}},
            ["client.email", "opportunity.amount"],
        ),
        (
            "Leads(1)/BusinessPlatform.Convert",
            {"client": {"email": "x"}, "nope.nope": None},
            ["client.email", "nope.nope"],
        ),
    ],
)
def test_parameters_of_actions(filled: Api, path: str, body: Any, fields: list[str]) -> None:
    answer = filled.post(f"/odata/{path}", body)
    assert answer.status_code == 400, answer.text
    named = {detail["target"] for detail in answer.json["error"]["details"]}
    assert set(fields) <= named
