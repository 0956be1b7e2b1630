"""Specification sections 4.1 and 5: tokens, sessions, API keys and their errors."""

from __future__ import annotations

import base64
from typing import Any

import jwt
import pytest

from tests.contract.conftest import PASSWORD, Api


@pytest.mark.requirement("SEC-08")
def test_login_answers_exactly_four_fields(admin: Api, anonymous: Api) -> None:
    answer = anonymous.post("/api/auth/login", {"username": "admin", "password": PASSWORD})
    assert answer.status_code == 200
    assert set(answer.json) == {"accessToken", "refreshToken", "expiresIn", "tokenType"}
    assert (answer.json["expiresIn"], answer.json["tokenType"]) == (900, "Bearer")
    claims = jwt.decode(answer.json["accessToken"], options={"verify_signature": False})
    assert claims["exp"] - claims["iat"] == answer.json["expiresIn"]


def test_refresh_gives_a_new_pair_that_works(admin: Api, anonymous: Api) -> None:
    first = anonymous.post("/api/auth/login", {"username": "admin", "password": PASSWORD}).json
    second = anonymous.post("/api/auth/refresh", {"refreshToken": first["refreshToken"]})
    assert second.status_code == 200
    assert second.json["refreshToken"] != first["refreshToken"]
    headers = {"Authorization": f"Bearer {second.json['accessToken']}"}
    assert anonymous.get("/api/auth/me", headers=headers).json["username"] == "admin"


def test_logout_ends_the_session_at_once(admin: Api) -> None:
    assert admin.get("/api/auth/me").status_code == 200
    answer = admin.post("/api/auth/logout")
    assert (answer.status_code, answer.data) == (204, b"")
    assert admin.get("/api/auth/me").status_code == 401


@pytest.mark.parametrize(
    "path", ["/api/auth/me", "/api/v1/auth/me", "/odata/Clients", "/odata/", "/api/nothing"]
)
def test_without_credentials_401(anonymous: Api, path: str) -> None:
    answer = anonymous.get(path)
    assert answer.status_code == 401
    assert answer.json["error"]["code"] == "TOKEN_MISSING"
    assert "WWW-Authenticate" in answer.headers


@pytest.mark.requirement("SEC-15")
def test_wrong_password_401_then_locked_423(admin: Api, anonymous: Api) -> None:
    body = {"username": "admin", "password": "wrong password here"}
    statuses = [anonymous.post("/api/auth/login", body).status_code for _ in range(6)]
    assert statuses == [401, 401, 401, 401, 401, 423]
    locked = anonymous.post("/api/auth/login", {"username": "admin", "password": PASSWORD})
    assert (locked.status_code, locked.json["error"]["code"]) == (423, "ACCOUNT_LOCKED")
    assert int(locked.headers["Retry-After"]) > 0
    assert admin.get("/api/auth/me").status_code == 200


def test_api_key_works_in_its_header_and_as_basic_on_odata(admin: Api, anonymous: Api) -> None:
    made = admin.post(
        "/api/admin/api-keys",
        {"name": "ERP", "role": "Viewer", "scopes": ["clients:read"], "expiresAt": None},
    )
    assert made.status_code == 201, made.text
    key = made.json["key"]
    assert anonymous.get("/odata/Clients", headers={"X-API-Key": key}).status_code == 200
    basic = base64.b64encode(f"any:{key}".encode()).decode()
    headers = {"Authorization": f"Basic {basic}"}
    assert anonymous.get("/odata/Clients", headers=headers).status_code == 200
    assert anonymous.get("/api/auth/me", headers=headers).status_code == 401
    refused = anonymous.get("/odata/Leads", headers={"X-API-Key": key})
    assert (refused.status_code, refused.json["error"]["code"]) == (403, "INSUFFICIENT_SCOPE")


BODIES: dict[str, dict[str, Any]] = {
    "Clients": {"name": "ACME"}, "Contacts": {"lastName": "Doe"}, "Leads": {"lastName": "Doe"},
    "Tickets": {"subject": "Printer"}, "KbArticles": {"title": "Printers", "body": "Text."},
    "Documents": {"name": "Contract"}, "Tasks": {"title": "Call"}, "Projects": {"name": "Rollout"},
    "Products": {"name": "Advice", "unitPrice": 128},
}  # fmt: skip
RESOURCES = {"KbArticles": "kb"}


@pytest.mark.parametrize("wanted", [None, "return=minimal", "return=representation"])
@pytest.mark.parametrize("name", BODIES)
def test_a_key_that_may_only_create_is_told_where_it_is(
    admin: Api, name: str, wanted: str | None
) -> None:
    scope = f"{RESOURCES.get(name, name.lower())}:create"
    body = {"name": "Form", "role": "Admin", "scopes": [scope]}
    key = admin.post("/api/v1/admin/api-keys", body).json["key"]
    headers = {"X-API-Key": key} | ({"Prefer": wanted} if wanted else {})
    answer = admin.client.post(f"/odata/{name}", json=BODIES[name], headers=headers)
    assert (answer.status_code, answer.data) == (204, b""), answer.text
    address = answer.headers["Location"].replace("http://localhost", "")
    assert answer.headers["OData-EntityId"].endswith(address)
    assert admin.get(address).json.items() >= BODIES[name].items()
    refused = admin.client.get(address, headers={"X-API-Key": key})
    assert (refused.status_code, refused.json["error"]["code"]) == (403, "INSUFFICIENT_SCOPE")
