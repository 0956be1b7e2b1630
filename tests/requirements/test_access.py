"""Who reaches what: without credentials, with a role that only reads, with own records only."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import orjson
import pytest
from flask import Flask

from app.openapi.routes import openapi
from app.permissions import CRUD, RESOURCES
from tests.contract.conftest import Api
from tests.openapi.reading import operations, resolve
from tests.requirements.conftest import BODIES

SignIn = Callable[..., Api]

# What a role that only reads may do besides: its own session, questions, its own reports, a vote.
OPEN_TO_VIEWERS = re.compile(
    r"/auth/|/ai/|/bi/|/feedback$|\.Rate$|^/s/|/\$batch$|/\$query$|^/odata/\$|/crm/search$"
)
HIDDEN = re.compile(r"password|secret|hash|token|sealed|key_?digest|username", re.IGNORECASE)
ODATA = (
    "/odata", "/odata/", "/odata/$metadata", "/odata/Clients", "/odata/Clients(1)",
    "/odata/Clients(x)", "/odata/Clients/$count", "/odata/$batch", "/odata/Nothing",
    "/odata/Clients?$filter=(((", "/odata/$crossjoin(Clients,Leads)", "/odata/$all",
    "/odata/Me", "/odata/Clients(1)/name/$value", "/odata/Users",
)  # fmt: skip


@pytest.mark.requirement("SEC-02")
@pytest.mark.only_on("sqlite")
@pytest.mark.parametrize("path", ODATA)
def test_no_odata_address_answers_without_credentials(anonymous: Api, path: str) -> None:
    for method in ("GET", "POST", "PATCH", "PUT", "DELETE", "HEAD", "OPTIONS", "TRACE", "FOO"):
        answer = anonymous.client.open(path, method=method)
        assert answer.status_code == 401, (method, path)
        assert "value" not in answer.text


@pytest.mark.requirement("SEC-40", "SEC-41")
@pytest.mark.only_on("sqlite")
def test_a_role_that_only_reads_is_refused_every_write_whatever_the_body_lacks(
    app: Flask, made: dict[str, int], sign_in: SignIn
) -> None:
    viewer = sign_in("Viewer")
    document = orjson.loads(openapi.of(app).text())
    asked = 0
    for operation in operations(document):
        if operation.method == "get" or OPEN_TO_VIEWERS.search(operation.path):
            continue
        name = operation.path.removeprefix("/odata/").partition("(")[0]
        path = re.sub(r"\{[^}]*\}", str(made.get(name, 1)), operation.path)
        body: dict[str, Any] = {}
        if operation.method in ("post", "put", "patch"):
            body = {"json": {}}
        answer = viewer.client.open(
            path, method=operation.method.upper(), headers=viewer.headers, **body
        )
        assert answer.status_code == 403, f"{operation}: {answer.status_code} {answer.text}"
        asked += 1
    assert asked > 120


@pytest.fixture
def outsider(admin: Api, sign_in: SignIn) -> Api:
    """Somebody who may do everything with own records, and has none."""
    rights: dict[str, str] = {
        f"{resource}:{action}": "all" if action == "create" else "own"
        for resource in RESOURCES
        for action in CRUD
    }
    rights |= {"leads:convert": "own", "documents:share": "own"} | dict.fromkeys(
        ("invoices:send", "payments:create", "invoices:void", "invoices:credit"), "all"
    )
    answer = admin.post("/api/admin/roles", {"name": "Outsider", "permissions": rights})
    assert answer.status_code == 201, answer.text
    return sign_in("Outsider")


@pytest.mark.requirement("SEC-42")
def test_a_record_of_somebody_else_is_out_of_reach(made: dict[str, int], outsider: Api) -> None:
    for name, key in made.items():
        one = f"/odata/{name}({key})"
        for path in (one, f"{one}/id", f"{one}/id/$value", f"{one}/$ref"):
            assert outsider.get(path).status_code == 404, path
        assert outsider.get(f"/odata/{name}").json["value"] == [], name
        assert outsider.get(f"/odata/{name}?$filter=id eq {key}").json["value"] == []
        assert outsider.get(f"/odata/{name}/$count").text == "0"
        assert outsider.get(f"/odata/{name}?$count=true&$top=0").json["@odata.count"] == 0
        assert outsider.get(f"/odata/{name}?$apply=aggregate($count as n)").json["value"] == [
            {"n@odata.type": "#Int64", "n": 0}
        ]
        assert outsider.patch(one, BODIES[name]).status_code == 404, name
        assert outsider.delete(one).status_code == 404, name


@pytest.mark.requirement("SEC-42")
def test_no_operation_reaches_a_record_of_somebody_else(
    admin: Api, made: dict[str, int], outsider: Api
) -> None:
    invoice, lead, document = made["Invoices"], made["Leads"], made["Documents"]
    today = {"amount": 1, "date": "2026-01-31", "method": "Transfer"}
    for method, path, body in (
        ("GET", f"/api/invoices/{invoice}/pdf", None),
        ("GET", f"/api/invoices/{invoice}/einvoice?format=ubl", None),
        ("GET", f"/api/invoices/{invoice}/preflight", None),
        ("GET", f"/api/invoices/{invoice}/deliveries", None),
        ("POST", f"/api/invoices/{invoice}/send", {}),
        ("POST", f"/api/invoices/{invoice}/payments", today),
        ("POST", f"/api/invoices/{invoice}/void", {"reason": "x"}),
        ("POST", f"/api/invoices/{invoice}/credit-note", {}),
        ("POST", f"/api/crm/leads/{lead}/convert", {}),
        ("POST", f"/odata/Leads({lead})/convert", {}),
        ("GET", f"/api/documents/{document}/download", None),
        ("POST", f"/api/documents/{document}/share", {}),
        ("GET", f"/api/documents/{document}/shares", None),
        ("POST", f"/api/tickets/{made['Tickets']}/comments", {"body": "hello"}),
        ("GET", f"/api/kb/articles/{made['KbArticles']}/html", None),
        ("GET", f"/api/kb/suggest?ticketId={made['Tickets']}", None),
    ):
        options = {} if body is None else {"json": body}
        answer = outsider.client.open(path, method=method, headers=outsider.headers, **options)
        assert answer.status_code in (403, 404), f"{method} {path}: {answer.text}"
    assert admin.get(f"/odata/Invoices({invoice})").json["status"] == "Draft"


@pytest.mark.requirement("SEC-42")
def test_no_new_record_points_at_one_of_somebody_else(made: dict[str, int], outsider: Api) -> None:
    client = made["Clients"]
    for name, extra in (
        ("Invoices", {}), ("Contacts", {}), ("Opportunities", {}), ("Projects", {}),
        ("Tickets", {}),
    ):  # fmt: skip
        answer = outsider.post(f"/odata/{name}", {**BODIES[name], **extra, "clientId": client})
        assert answer.status_code == 400, f"{name}: {answer.text}"
        bound = {**BODIES[name], "Client@odata.bind": f"Clients({client})"}
        answer = outsider.post(f"/odata/{name}", bound)
        assert answer.status_code in (400, 404), f"{name}: {answer.text}"
    found = outsider.get("/api/crm/search?q=ACME").json
    assert [item for item in found["items"] if item["id"] == client] == []


# Lists with an end of their own: what may be asked for, and the newest two hundred of votes.
NOT_PAGED = {
    "/api/v1/bi/reports", "/api/v1/kb/articles/{article_id}/feedback", "/odata/",
    "/odata/KbArticles({id})/BusinessPlatform.ListFeedback",
}  # fmt: skip


@pytest.mark.requirement("INS-10")
@pytest.mark.only_on("sqlite")
def test_every_list_is_paged(app: Flask) -> None:
    document = orjson.loads(openapi.of(app).text())
    lists = 0
    for operation in operations(document):
        answer = resolve(document, operation.value["responses"].get("200", {}))
        content = answer.get("content", {}).get("application/json", {})
        shape = resolve(document, content.get("schema", {}))
        members = shape.get("properties", {})
        held = resolve(document, members.get("items", members.get("value", {})))
        if operation.method != "get" or "array" not in (shape.get("type"), held.get("type")):
            continue
        named = {parameter["name"] for parameter in operation.parameters}
        if operation.path not in NOT_PAGED:
            assert named & {"limit", "$top", "top"}, operation
            lists += 1
    assert lists > 50


@pytest.mark.requirement("SEC-43")
@pytest.mark.only_on("sqlite")
def test_no_set_shows_a_secret(admin: Api, made: dict[str, int]) -> None:
    sets = [
        item["name"] for item in admin.get("/odata").json["value"] if item["kind"] == "EntitySet"
    ]
    assert len(sets) >= 10
    for name in sets:
        answer = admin.get(f"/odata/{name}?$expand=*&$top=5")
        assert answer.status_code == 200, answer.text
        assert [found for found in _names(answer.json) if HIDDEN.search(found)] == [], name


def _names(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set(value) | {name for item in value.values() for name in _names(item)}
    if isinstance(value, list):
        return {name for item in value for name in _names(item)}
    return set()


@pytest.mark.requirement("SEC-44", "SEC-45")
@pytest.mark.only_on("sqlite")
@pytest.mark.parametrize(
    "name",
    ["passwordHash", "password_hash", "__class__", "__table__", "metadata", "query", "rowid",
     "_sa_instance_state", "registry", "owner_id", "deletedAt", "searched"],
)  # fmt: skip
def test_names_of_the_inside_answer_as_names_that_do_not_exist(admin: Api, name: str) -> None:
    for pattern in (
        "Clients?$filter={} eq 'x'", "Clients?$orderby={}", "Clients?$select={}",
        "Clients?$expand={}", "Clients?$expand=Owner($select={})",
        "Clients?$filter=Owner/{} eq 'x'", "Clients?$filter=Contacts/any(c:c/{} eq 'x')",
        "Clients?$apply=groupby(({}))", "Clients?$compute={} as x", "Clients(1)/{}",
    ):  # fmt: skip
        answers = [
            admin.get(f"/odata/{pattern.format(text)}")
            for text in (name, "nosuchname"[: len(name)])
        ]
        assert answers[0].status_code in (400, 404), pattern
        assert answers[0].status_code == answers[1].status_code
        codes = [answer.json["error"]["code"] for answer in answers]
        assert codes[0] == codes[1]


@pytest.mark.requirement("SEC-46", "SEC-47", "SEC-48")
def test_what_the_service_sets_cannot_be_sent(admin: Api, made: dict[str, int]) -> None:
    sent = {
        "id": 999_999, "createdAt": "2001-01-01T00:00:00Z", "updatedAt": "2001-01-01T00:00:00Z",
        "number": "I-1", "total": 1, "subtotal": 1, "amountPaid": 119, "amountDue": 0,
    }  # fmt: skip
    body = {**BODIES["Invoices"], "clientId": made["Clients"], **sent}
    answer = admin.post("/odata/Invoices", body)
    assert answer.status_code == 201, answer.text
    invoice = answer.json
    assert invoice["id"] < 999_999 and invoice["createdAt"] > "2020"
    assert (invoice["total"], invoice["amountPaid"], invoice["amountDue"]) == (119, 0, 119)
    assert invoice["number"] != "I-1"
    for method in ("PATCH", "PUT"):
        path = f"/odata/Invoices({invoice['id']})"
        answer = admin.client.open(path, method=method, json=body, headers=admin.headers)
        assert answer.status_code in (200, 204), answer.text
        after = admin.get(path).json
        for name in sent.keys() - {"updatedAt"}:
            assert after[name] == invoice[name], name
        assert after["updatedAt"] > "2020"
    for status in ("Paid", "PartiallyPaid", "Overdue", "Uncollectible"):
        answer = admin.patch(f"/odata/Invoices({invoice['id']})", {"status": status})
        assert answer.status_code in (400, 409), status
        assert admin.get(f"/odata/Invoices({invoice['id']})").json["status"] == "Draft"


@pytest.mark.requirement("SEC-49")
@pytest.mark.only_on("sqlite")
def test_odd_methods_are_refused_and_no_set_is_deleted(admin: Api, made: dict[str, int]) -> None:
    for name in made:
        for method in ("DELETE", "PUT", "TRACE", "CONNECT", "PROPFIND", "get", "LINK"):
            answer = admin.client.open(f"/odata/{name}", method=method, headers=admin.headers)
            assert answer.status_code == 405, (method, name, answer.status_code)
        assert admin.get(f"/odata/{name}/$count").text != "0"


@pytest.mark.requirement("SEC-52", "SEC-61")
@pytest.mark.parametrize(
    "key",
    ["0", "-1", "1.0", "1e3", "+1", "01", "1,1", "'1'", "x", "null", "true", "", " ", "%20",
     "9223372036854775807", "9223372036854775808", "1" * 400, "1;DROP TABLE clients",
     "1 or 1=1", "1)/..", "$x", "@p", "id=1,id=2", "(1)", "%2e%2e%2f", "\uff11"],
)  # fmt: skip
def test_keys_are_typed_and_bounded(admin: Api, key: str) -> None:
    for method in ("GET", "PATCH", "DELETE"):
        options = {"json": {"name": "x"}} if method == "PATCH" else {}
        answer = admin.client.open(
            f"/odata/Clients({key})", method=method, headers=admin.headers, **options
        )
        assert answer.status_code in (400, 404, 405), (method, answer.status_code, answer.text)
    for path in (
        f"/api/invoices/{key}/pdf", f"/api/invoices/{key}/payments",
        f"/api/crm/leads/{key}/convert",
        f"/api/documents/{key}/download", f"/api/tickets/{key}/comments",
        f"/api/admin/users/{key}", f"/api/webhooks/{key}",
    ):  # fmt: skip
        for method in ("GET", "POST"):
            if not key and path.endswith(("/users/", "/webhooks/")):
                continue  # the list itself
            answer = admin.client.open(path, method=method, headers=admin.headers, json={})
            assert 400 <= answer.status_code < 500, (method, path, answer.status_code)
            assert answer.json["error"]["code"]
