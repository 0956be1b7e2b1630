"""Roles: the built-in ones stay as they are, one's own may narrow what is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from app.permissions import ROLES
from tests.contract.conftest import Api

SignIn = Callable[..., Api]
ROLE = {"name": "FieldSales", "permissions": {"clients:read": "own", "clients:update": "own"}}


def test_built_in_roles_come_first_with_their_rights(admin: Api) -> None:
    listed = admin.get("/api/admin/roles").json
    assert [item["name"] for item in listed["items"]] == list(ROLES)
    for item in listed["items"]:
        assert item["isBuiltin"]
        assert item["permissions"] == dict(ROLES[item["name"]])


def test_a_role_of_ones_own_is_made_changed_and_removed(admin: Api, sign_in: SignIn) -> None:
    made = admin.post("/api/admin/roles", {**ROLE, "description": "Visits clients"})
    assert made.status_code == 201
    path = made.headers["Location"]
    assert admin.get(path).json == made.json
    assert made.json["permissions"] == ROLE["permissions"]
    user = sign_in("FieldSales")
    assert user.get("/api/auth/me").json["permissions"] == ["clients:read", "clients:update"]
    changed = admin.patch(path, {"name": "Field", "permissions": {"clients:read": "all"}})
    assert changed.json["name"] == "Field"
    assert changed.json["description"] == "Visits clients"
    assert user.get("/api/auth/me").json["permissions"] == ["clients:read"]
    in_use = admin.delete(path)
    assert (in_use.status_code, in_use.json["error"]["code"]) == (409, "IN_USE")
    user_id = user.get("/api/auth/me").json["id"]
    admin.patch(f"/api/admin/users/{user_id}", {"roles": ["Viewer"]})
    assert admin.delete(path).status_code == 204
    assert admin.get(path).status_code == 404


def test_a_role_of_a_key_is_in_use(admin: Api) -> None:
    path = admin.post("/api/admin/roles", ROLE).headers["Location"]
    admin.post("/api/admin/api-keys", {"name": "ERP", "role": "FieldSales"})
    assert admin.delete(path).status_code == 409


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"name": ""}, ["name"]),
        ({"name": "x" * 51}, ["name"]),
        ({"permissions": None}, ["permissions"]),
        ({"permissions": ["clients:read"]}, ["permissions"]),
        ({"permissions": {"clients:fly": "all"}}, ["permissions.clients:fly"]),
        ({"permissions": {"clients:read": "some"}}, ["permissions.clients:read"]),
        ({"permissions": {"clients:read": "published"}}, ["permissions.clients:read"]),
        ({"permissions": {"clients:create": "own"}}, ["permissions.clients:create"]),
        ({"permissions": {"invoices:send": "own"}}, ["permissions.invoices:send"]),
        ({"permissions": {"users:manage": "all"}}, ["permissions.users:manage"]),
        ({"permissions": {"roles:manage": "all"}}, ["permissions.roles:manage"]),
        ({"permissions": {"api-keys:manage": "all"}}, ["permissions.api-keys:manage"]),
        ({"permissions": {"clients:read": 1}}, ["permissions.clients:read"]),
        ({"isBuiltin": True}, ["isBuiltin"]),
    ],
)
def test_bad_fields_are_named(admin: Api, changes: dict[str, Any], fields: list[str]) -> None:
    answer = admin.post("/api/admin/roles", {**ROLE, **changes})
    assert answer.status_code == 400, answer.text
    assert [detail["field"] for detail in answer.json["error"]["details"]] == fields


def test_articles_may_be_read_when_published(admin: Api) -> None:
    made = admin.post(
        "/api/admin/roles", {"name": "Reader", "permissions": {"kb:read": "published"}}
    )
    assert made.json["permissions"] == {"kb:read": "published"}


def test_a_name_is_taken_once(admin: Api) -> None:
    assert admin.post("/api/admin/roles", ROLE).status_code == 201
    again = admin.post("/api/admin/roles", ROLE)
    assert (again.status_code, again.json["error"]["code"]) == (409, "DUPLICATE")
    assert admin.post("/api/admin/roles", {**ROLE, "name": "Admin"}).status_code == 409


def test_built_in_roles_cannot_be_changed(admin: Api) -> None:
    (admin_role,) = [
        item for item in admin.get("/api/admin/roles").json["items"] if item["name"] == "Admin"
    ]
    path = f"/api/admin/roles/{admin_role['id']}"
    for answer in (admin.patch(path, {"permissions": {}}), admin.delete(path)):
        assert (answer.status_code, answer.json["error"]["code"]) == (409, "INVALID_STATE")
    assert admin.get("/api/auth/me").status_code == 200


def test_a_change_that_names_nothing_changes_nothing(admin: Api) -> None:
    path = admin.post("/api/admin/roles", ROLE).headers["Location"]
    before = admin.get(path).json
    assert admin.patch(path, {}).json == before
    assert admin.patch("/api/admin/roles/999999", {}).status_code == 404
