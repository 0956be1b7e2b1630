"""API keys: shown once, narrowed by scopes, ended at once."""

from __future__ import annotations

import hashlib
import re
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.clock import utc_now
from app.db.types import iso_instant
from app.models.event import AuditRecord, Event
from app.models.user import ApiKey
from tests.contract.conftest import Api

ERP = {"name": "ERP", "role": "Viewer", "scopes": ["clients:read"], "expiresAt": None}


def make(admin: Api, **changes: Any) -> dict[str, Any]:
    made = admin.post("/api/admin/api-keys", {**ERP, **changes})
    assert made.status_code == 201, made.text
    return dict(made.json)


def me(admin: Api, key: str) -> Any:
    with admin.client.get("/api/auth/me", headers={"X-API-Key": key}, buffered=True) as answer:
        return answer


@pytest.mark.requirement("SEC-32", "INS-02")
def test_a_key_is_shown_once_and_kept_as_a_digest(admin: Api, session: Session) -> None:
    made = make(admin)
    assert made.keys() == {
        "id", "name", "key", "prefix", "role", "scopes", "expiresAt", "createdAt",
    }  # fmt: skip
    assert re.fullmatch(r"bpk_live_[0-9A-Za-z]{8}_[0-9A-Za-z]{49}", made["key"])
    assert made["key"].startswith(made["prefix"])
    listed = admin.get("/api/admin/api-keys")
    assert made["key"] not in listed.text
    (item,) = listed.json["items"]
    assert item == {
        **{name: value for name, value in made.items() if name != "key"},
        "status": "active", "lastUsedAt": None, "lastUsedIp": None, "revokedAt": None,
    }  # fmt: skip
    assert admin.get(f"/api/admin/api-keys/{made['id']}").json == item
    row = session.connection().execute(select(ApiKey)).one()
    assert row.key_hash == hashlib.sha256(made["key"].encode()).hexdigest()
    types = session.execute(select(Event.type)).scalars().all()
    assert types.count("api_key.created") == 1
    recorded = session.execute(select(AuditRecord.after)).all()
    assert made["key"] not in f"{recorded} {session.execute(select(Event.payload)).all()}"


@pytest.mark.requirement("SEC-33")
def test_scopes_narrow_and_never_widen(admin: Api) -> None:
    key = make(admin, role="Manager", scopes=["clients:read"])["key"]
    headers = {"X-API-Key": key}
    refused = admin.client.get("/api/admin/audit", headers=headers)
    assert (refused.status_code, refused.json["error"]["code"]) == (403, "INSUFFICIENT_SCOPE")
    assert refused.json["error"]["details"] == [{"field": "permission", "message": "audit:read"}]
    whole = {"X-API-Key": make(admin, role="Manager", scopes=[])["key"]}
    assert admin.client.get("/api/admin/audit", headers=whole).status_code == 200
    viewer = {"X-API-Key": make(admin, role="Viewer", scopes=[])["key"]}
    refused = admin.client.get("/api/admin/audit", headers=viewer)
    assert (refused.status_code, refused.json["error"]["code"]) == (403, "FORBIDDEN")


@pytest.mark.parametrize(
    ("path", "body", "scopes"),
    [
        ("crm/leads/1/convert", {}, ["leads:convert"]),
        ("crm/clients/1/merge", {"sourceId": 2}, ["clients:update", "clients:delete"]),
        ("tickets/1/comments", {"body": "x"}, ["tickets:update"]),
        ("tickets/1/merge", {"sourceId": 2}, ["tickets:merge"]),
        ("invoices/1/send", {}, ["invoices:send"]),
        ("invoices/1/payments", {"amount": 1, "date": "2026-03-01", "method": "card"},
         ["payments:create"]),
        ("invoices/1/void", {"reason": "x"}, ["invoices:void"]),
        ("invoices/1/uncollectible", {}, ["invoices:uncollectible"]),
        ("invoices/1/credit-note", {}, ["invoices:credit"]),
        ("payments/1/reverse", {"reason": "x"}, ["payments:reverse"]),
        ("documents/1/share", {}, ["documents:share"]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_an_operation_names_the_scope_to_read_its_record(
    admin: Api, path: str, body: dict[str, Any], scopes: list[str]
) -> None:
    """As OData does; that there is no such record would be untrue."""
    headers = {"X-API-Key": make(admin, role="Admin", scopes=scopes)["key"]}
    refused = admin.client.post(f"/api/{path}", json=body, headers=headers)
    error = refused.json["error"]
    assert (refused.status_code, error["code"]) == (403, "INSUFFICIENT_SCOPE"), refused.text
    assert error["details"][0]["message"].endswith(":read")


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"name": ""}, ["name"]),
        ({"name": "x" * 101}, ["name"]),
        ({"role": "King"}, ["role"]),
        ({"role": None}, ["role"]),
        ({"scopes": ["invoices:void"]}, ["scopes[0]"]),
        ({"scopes": ["clients:read", "nothing", ""]}, ["scopes[1]", "scopes[2]"]),
        ({"role": "Admin", "scopes": ["users:manage"]}, ["scopes[0]"]),
        ({"expiresAt": "2020-01-01T00:00:00Z"}, ["expiresAt"]),
        ({"expiresAt": "2099-01-01T00:00:00"}, ["expiresAt"]),
        ({"expiresAt": "2099-01-01"}, ["expiresAt"]),
        ({"expiresAt": 7}, ["expiresAt"]),
        ({"key": "mine"}, ["key"]),
    ],
)
def test_bad_fields_are_named(admin: Api, changes: dict[str, Any], fields: list[str]) -> None:
    answer = admin.post("/api/admin/api-keys", {**ERP, **changes})
    assert answer.status_code == 400, answer.text
    assert [detail["field"] for detail in answer.json["error"]["details"]] == fields
    assert admin.get("/api/admin/api-keys").json["total"] == 0


@pytest.mark.requirement("SEC-34")
def test_an_expired_key_stops_to_the_second_though_it_was_remembered(admin: Api) -> None:
    now = utc_now()
    expires = iso_instant(now + timedelta(minutes=5))
    key = make(admin, expiresAt=expires)["key"]
    assert me(admin, key).json["auth"]["expiresAt"] == expires
    with time_machine.travel(now + timedelta(minutes=4, seconds=59), tick=False):
        assert me(admin, key).status_code == 200
    with time_machine.travel(now + timedelta(minutes=5), tick=False):
        refused = me(admin, key)
        assert (refused.status_code, refused.json["error"]["code"]) == (401, "API_KEY_INVALID")
        headers = fresh_login(admin)
        answer = admin.client.get("/api/admin/api-keys?status=expired", headers=headers)
        assert answer.json["total"] == 1


def fresh_login(admin: Api) -> dict[str, str]:
    body = {"username": "admin", "password": "correct horse battery staple"}
    token = admin.client.post("/api/auth/login", json=body).json["accessToken"]
    return {"Authorization": f"Bearer {token}"}


def test_revoking_is_final_and_twice_is_once(admin: Api, session: Session) -> None:
    made = make(admin)
    assert me(admin, made["key"]).status_code == 200
    path = f"/api/admin/api-keys/{made['id']}"
    assert admin.delete(path).status_code == 204
    assert me(admin, made["key"]).status_code == 401
    assert admin.delete(path).status_code == 204
    item = admin.get(path).json
    assert (item["status"], item["revokedAt"] is not None) == ("revoked", True)
    types = session.execute(select(Event.type)).scalars().all()
    assert types.count("api_key.revoked") == 1
    assert admin.get("/api/admin/api-keys?status=active").json["total"] == 0
    assert admin.get("/api/admin/api-keys?status=revoked").json["total"] == 1
    assert admin.delete("/api/admin/api-keys/999").status_code == 404


@pytest.mark.requirement("SEC-33")
@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/api/admin/users", None),
        ("POST", "/api/admin/users", {}),
        ("PATCH", "/api/admin/users/1", {"roles": ["Admin"]}),
        ("POST", "/api/admin/users/1/reset-password", {}),
        ("GET", "/api/admin/api-keys", None),
        ("POST", "/api/admin/api-keys", ERP),
        ("DELETE", "/api/admin/api-keys/1", None),
        ("POST", "/api/admin/roles", {"name": "x", "permissions": {}}),
        ("GET", "/api/admin/sessions", None),
    ],
)
def test_keys_make_no_keys_and_no_users_whatever_their_role(
    admin: Api, method: str, path: str, body: Any
) -> None:
    key = make(admin, role="Admin", scopes=[])["key"]
    answer = admin.client.open(path, method=method, json=body, headers={"X-API-Key": key})
    assert (answer.status_code, answer.json["error"]["code"]) == (403, "INSUFFICIENT_SCOPE")
