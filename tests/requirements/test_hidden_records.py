"""A record that the caller may not read is answered as one that is not there, at every address."""

from __future__ import annotations

import re

import orjson
import pytest
from flask import Flask

from app.auth.roles import create_role, scopes_of
from app.auth.users import create_user
from app.db.engines import transaction
from app.http.security import acting_as, system_caller
from app.openapi.routes import openapi
from app.permissions import NEVER_BY_KEY, PERMISSIONS
from tests.contract.conftest import PASSWORD, Api
from tests.openapi.reading import Operation, operations
from tests.requirements.test_refused_first import example

MISSING = 987654
# Name of a parameter of an address -> the set whose key it is.
SETS = {
    "lead_id": "Leads", "client_id": "Clients", "invoice_id": "Invoices", "ticket_id": "Tickets",
    "document_id": "Documents", "article_id": "KbArticles", "payment_id": "Payments",
}  # fmt: skip


@pytest.fixture
def owner(app: Flask) -> Api:
    """Who has every right that can be held for own records only for these, and all others."""
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        rights = {name: scopes_of(name) for name in PERMISSIONS if name not in NEVER_BY_KEY}
        create_role("Owner", {name: "own" if "own" in of else "all" for name, of in rights.items()})
        create_user(
            username="owner", email="o@example.com", display_name=None, password=PASSWORD,
            roles=["Owner"],
        )  # fmt: skip
    client = app.test_client()
    answer = client.post("/api/auth/login", json={"username": "owner", "password": PASSWORD})
    return Api(client, {"Authorization": f"Bearer {answer.json['accessToken']}"})


def set_of(operation: Operation) -> str | None:
    """The set whose key comes first in the address."""
    if of_odata := re.match(r"/odata/(\w+)\(\{", operation.path):
        return of_odata[1]
    first = re.search(r"\{(\w+)\}", operation.path)
    return SETS.get(first[1]) if first else None


@pytest.mark.requirement("SEC-42")
@pytest.mark.only_on("sqlite")
@pytest.mark.costly(0)
def test_what_is_hidden_is_answered_as_what_is_missing(
    app: Flask, admin: Api, made: dict[str, int], owner: Api
) -> None:
    payment = {"amount": 1, "date": "2026-01-01", "method": "transfer"}
    paid = admin.post(f"/api/invoices/{made['Invoices']}/payments", payment)
    assert paid.status_code == 201, paid.text
    keys = {**made, "Payments": paid.json["id"]}
    wrong, hidden = [], 0
    for operation in operations(orjson.loads(openapi.of(app).text())):
        if (key := keys.get(set_of(operation) or "")) is None:
            continue
        body = example(operation) if has_json(operation) else None
        texts = []
        for number in (key, MISSING):
            path = re.sub(r"\{[^}]*\}", str(number), operation.path, count=1)
            answer = owner.send(
                operation.method.upper(), re.sub(r"\{[^}]*\}", "1", path), json=body
            )
            texts.append(f"{answer.status_code} {answer.text}")
        hidden += texts[1].startswith("404")
        if texts[0] != texts[1].replace(str(MISSING), str(key)):
            wrong.append(f"{operation}: {texts[0][:200]}; {texts[1][:200]}")
    assert not wrong, "\n".join(wrong)
    assert hidden > 150


def has_json(operation: Operation) -> bool:
    content = operation.value.get("requestBody", {}).get("content", {})
    return "application/json" in content
