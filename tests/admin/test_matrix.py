"""Who may administer: every role, with a token and with a key, on every address."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

from app.admin.area import area
from app.auth.api_keys import create_api_key
from app.db.engines import transaction
from app.http.security import acting_as, system_caller
from app.permissions import NEVER_BY_KEY, ROLES, narrow
from tests.contract.conftest import Api

SignIn = Callable[..., Api]

# Which permission each address asks for; bodies are empty, so whoever may gets past 403.
OPERATIONS = {
    ("GET", "/users"): "users:manage",
    ("POST", "/users"): "users:manage",
    ("GET", "/users/0"): "users:manage",
    ("PATCH", "/users/0"): "users:manage",
    ("POST", "/users/0/unlock"): "users:manage",
    ("POST", "/users/0/reset-password"): "users:manage",
    ("GET", "/users/0/sessions"): "users:manage",
    ("DELETE", "/users/0/sessions/x"): "users:manage",
    ("GET", "/sessions"): "users:manage",
    ("DELETE", "/sessions/x"): "users:manage",
    ("GET", "/roles"): "roles:manage",
    ("POST", "/roles"): "roles:manage",
    ("GET", "/roles/0"): "roles:manage",
    ("PATCH", "/roles/0"): "roles:manage",
    ("DELETE", "/roles/0"): "roles:manage",
    ("GET", "/api-keys"): "api-keys:manage",
    ("POST", "/api-keys"): "api-keys:manage",
    ("GET", "/api-keys/0"): "api-keys:manage",
    ("DELETE", "/api-keys/0"): "api-keys:manage",
    ("GET", "/audit"): "audit:read",
}


def outcomes(api: Api, prefix: str) -> dict[tuple[str, str], bool]:
    """For each operation whether it was let through."""
    found = {}
    for method, path in OPERATIONS:
        body: Any = {} if method in ("POST", "PATCH") else None
        answer = api.client.open(prefix + path, method=method, json=body, headers=api.headers)
        assert answer.status_code in (200, 201, 204, 400, 403, 404), (method, path)
        if answer.status_code == 403:
            details = answer.json["error"]["details"]
            assert details == [{"field": "permission", "message": OPERATIONS[method, path]}]
        found[method, path] = answer.status_code != 403
    return found


def test_the_table_has_every_address_of_the_area(app: Flask) -> None:
    known = {
        (method, rule.rule.removeprefix("/api/v1/admin"))
        for rule in app.url_map.iter_rules()
        if rule.rule.startswith("/api/v1/admin/") and rule.endpoint.startswith(area.name)
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }
    listed = {(method, _as_rule(path)) for method, path in OPERATIONS}
    assert known >= listed
    assert {path for _, path in known - listed if path.startswith(_KINDS)} == set()


_KINDS = ("/users", "/roles", "/api-keys", "/audit", "/sessions")


def _as_rule(path: str) -> str:
    kind = path.split("/")[1]
    name = {"users": "user_id", "roles": "role_id", "api-keys": "key_id"}.get(kind, "")
    return path.replace("/0", f"/<int:{name}>").replace("/x", "/<session_id>")


@pytest.mark.parametrize("role", ROLES)
def test_with_a_token_the_role_decides(sign_in: SignIn, role: str) -> None:
    user = sign_in(role)
    for prefix in ("/api/admin", "/api/v1/admin"):
        assert outcomes(user, prefix) == {
            operation: permission in ROLES[role] for operation, permission in OPERATIONS.items()
        }


@pytest.mark.parametrize("role", ROLES)
def test_with_a_key_it_is_the_role_less_what_no_key_may(app: Flask, role: str) -> None:
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        key = create_api_key(name="integration", role=role).key
    api = Api(app.test_client(), {"X-API-Key": key})
    rights = narrow(ROLES[role], ())
    assert outcomes(api, "/api/admin") == {
        operation: permission in rights for operation, permission in OPERATIONS.items()
    }
    assert not {"users:manage", "roles:manage", "api-keys:manage"} & rights.keys()
    assert set(NEVER_BY_KEY) == {"users:manage", "roles:manage", "api-keys:manage"}


@pytest.mark.requirement("SEC-41")
def test_permission_comes_before_the_body(sign_in: SignIn) -> None:
    viewer = sign_in("Viewer")
    for body in ("{", "[]", '{"username": 7}', "x" * 100):
        answer = viewer.client.post(
            "/api/admin/users", data=body, content_type="application/json", headers=viewer.headers
        )
        assert answer.status_code == 403
