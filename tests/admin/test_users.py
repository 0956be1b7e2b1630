"""Accounts: making, changing, disabling them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models.event import AuditRecord, Event
from app.models.user import User
from tests.contract.conftest import PASSWORD, Api, statuses

SignIn = Callable[..., Api]
ANNA = {
    "username": "Anna",
    "email": "anna@Example.com",
    "password": "three-blue-kettles",
    "roles": ["Sales"],
}


def me(api: Api) -> Any:
    return api.get("/api/auth/me").json


def log_in(api: Api, password: str = "three-blue-kettles") -> int:
    body = {"username": "anna", "password": password}
    return api.client.post("/api/auth/login", json=body).status_code


def test_a_new_user_is_shown_as_me_without_auth(admin: Api, session: Session) -> None:
    made = admin.post("/api/admin/users", {**ANNA, "timezone": "Europe/Berlin", "language": "de"})
    assert made.status_code == 201
    assert made.headers["Location"] == f"/api/v1/admin/users/{made.json['id']}"
    assert made.json.keys() == me(admin).keys() - {"auth"}
    assert made.json["email"] == "anna@example.com"
    assert (made.json["displayName"], made.json["lastLoginAt"]) == ("Anna", None)
    assert (made.json["roles"], made.json["status"]) == (["Sales"], "active")
    assert "leads:convert" in made.json["permissions"]
    assert admin.get(f"/api/admin/users/{made.json['id']}").json == made.json
    assert log_in(admin) == 200
    stored = session.connection().execute(select(User).where(User.username == "Anna")).one()
    assert str(stored.password_hash).startswith("$argon2id$")
    assert "three-blue-kettles" not in made.text + str(stored.password_hash)
    audited = select(AuditRecord).where(AuditRecord.action == "user.created")
    row = session.connection().execute(audited.order_by(AuditRecord.id.desc())).first()
    assert row is not None
    assert row.after == {"username": "Anna", "roles": ["Sales"]}
    assert "kettles" not in str(session.execute(select(Event.payload)).all())


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"username": ""}, "username"),
        ({"username": "   "}, "username"),
        ({"username": "x" * 151}, "username"),
        ({"username": "an\u200bna\n"}, "username"),
        ({"username": 7}, "username"),
        ({"email": None}, "email"),
        ({"email": "anna"}, "email"),
        ({"email": "anna@example.com\r\nBcc: x@example.com"}, "email"),
        ({"password": "elevenchars"}, "password"),
        ({"password": "password1234"}, "password"),
        ({"password": None}, "password"),
        ({"roles": []}, "roles"),
        ({"roles": ["King"]}, "roles"),
        ({"roles": "Sales"}, "roles"),
        ({"language": "klingon"}, "language"),
        ({"timezone": "Mars/Olympus"}, "timezone"),
        ({"displayName": "x" * 201}, "displayName"),
        ({"status": "active"}, "status"),
        ({"id": 7}, "id"),
        ({"permissions": ["users:manage"]}, "permissions"),
    ],
)
def test_a_bad_field_is_named(admin: Api, changes: dict[str, Any], field: str) -> None:
    answer = admin.post("/api/admin/users", {**ANNA, **changes})
    assert answer.status_code == 400, answer.text
    assert [detail["field"] for detail in answer.json["error"]["details"]] == [field]
    assert admin.get("/api/admin/users").json["total"] == 1


@pytest.mark.parametrize("name", ["anna", "ANNA", " Anna ", "\uff21nna"])
def test_a_name_is_taken_in_every_spelling(admin: Api, name: str) -> None:
    assert admin.post("/api/admin/users", ANNA).status_code == 201
    again = admin.post("/api/admin/users", {**ANNA, "username": name})
    assert (again.status_code, again.json["error"]["code"]) == (409, "DUPLICATE")
    assert again.json["error"]["details"][0]["field"] == "username"


def test_one_name_is_taken_once_by_ten_at_the_same_time(admin: Api, app: Flask) -> None:
    def make(number: int) -> int:
        return (
            app.test_client().post("/api/admin/users", json=ANNA, headers=admin.headers).status_code
        )

    with ThreadPoolExecutor(10) as pool:
        assert sorted(pool.map(make, range(10))) == [201] + [409] * 9


def test_lists_are_paged_and_filtered(admin: Api, sign_in: SignIn) -> None:
    for role in ("Sales", "Support", "Viewer"):
        sign_in(role)
    everybody = admin.get("/api/admin/users").json
    names = [item["username"] for item in everybody["items"]]
    assert names == ["admin", "sales", "support", "viewer"]
    assert (everybody["total"], everybody["limit"], everybody["offset"]) == (4, 50, 0)
    page = admin.get("/api/admin/users?limit=2&offset=1").json
    assert [item["username"] for item in page["items"]] == ["sales", "support"]
    assert (page["total"], page["limit"], page["offset"]) == (4, 2, 1)

    def found(query: str) -> list[str]:
        answer = admin.get(f"/api/admin/users?{query}").json
        assert answer["total"] == len(answer["items"])
        return [item["username"] for item in answer["items"]]

    assert found("role=Sales") == ["sales"]
    assert found("q=PPO") == ["support"]
    assert found("q=%25") == found("q=_") == []
    assert found("q=viewer@example") == ["viewer"]
    assert found("status=disabled") == []
    assert found("status=active&role=Admin") == ["admin"]


@pytest.mark.parametrize(
    "query",
    ["limit=0", "limit=201", "limit=x", "limit=-1", "offset=-1", "offset=1e9", "status=asleep",
     "colour=red", "limit=99999999999999999999", "q="],
)  # fmt: skip
def test_a_bad_parameter_is_named(admin: Api, query: str) -> None:
    answer = admin.get(f"/api/admin/users?{query}")
    assert answer.status_code == 400
    (detail,) = answer.json["error"]["details"]
    assert detail["field"] == query.partition("=")[0]


def test_changes_are_kept_and_what_is_left_out_stays(admin: Api) -> None:
    user_id = admin.post("/api/admin/users", ANNA).json["id"]
    changed = admin.patch(
        f"/api/admin/users/{user_id}", {"displayName": "Anna B.", "roles": ["Support"]}
    )
    assert changed.status_code == 200
    assert (changed.json["displayName"], changed.json["roles"]) == ("Anna B.", ["Support"])
    assert changed.json["email"] == "anna@example.com"
    assert admin.patch(f"/api/admin/users/{user_id}", {}).status_code == 200
    bad = admin.patch(f"/api/admin/users/{user_id}", {"username": "other"})
    assert (bad.status_code, bad.json["error"]["details"][0]["field"]) == (400, "username")


def test_a_disabled_user_is_signed_out_and_enabled_again_signs_in(admin: Api) -> None:
    user_id = admin.post("/api/admin/users", ANNA).json["id"]
    token = admin.client.post(
        "/api/auth/login", json={"username": "anna", "password": ANNA["password"]}
    ).json["accessToken"]
    anna = Api(admin.client, {"Authorization": f"Bearer {token}"})
    path = f"/api/admin/users/{user_id}"
    assert admin.patch(path, {"status": "disabled"}).json["status"] == "disabled"
    assert anna.get("/api/auth/me").status_code == 401
    assert log_in(admin) == 401
    assert admin.patch(path, {"status": "active"}).status_code == 200
    assert log_in(admin) == 200
    assert anna.get("/api/auth/me").status_code == 401  # its session stays ended


def test_the_last_administrator_can_be_neither_disabled_nor_demoted(
    admin: Api, sign_in: SignIn
) -> None:
    path = f"/api/admin/users/{me(admin)['id']}"
    for change in ({"status": "disabled"}, {"roles": ["Sales"]}):
        answer = admin.patch(path, change)
        assert (answer.status_code, answer.json["error"]["code"]) == (409, "INVALID_STATE")
    assert me(admin)["roles"] == ["Admin"]
    admin.post("/api/admin/users", {**ANNA, "roles": ["Admin", "Sales"]})
    assert admin.patch(path, {"roles": ["Sales"]}).status_code == 200
    assert admin.get("/api/admin/users").status_code == 403


def test_two_administrators_cannot_demote_each_other_at_the_same_time(
    app: Flask, admin: Api
) -> None:
    for number in range(3):
        name = f"boss{number}"
        made = admin.post(
            "/api/admin/users",
            {**ANNA, "username": name, "email": f"{name}@example.com", "roles": ["Admin"]},
        )
        assert made.status_code == 201
    ids = [item["id"] for item in admin.get("/api/admin/users").json["items"]]

    def demote(user_id: int) -> int:
        return (
            app.test_client()
            .patch(f"/api/admin/users/{user_id}", json={"roles": ["Viewer"]}, headers=admin.headers)
            .status_code
        )

    with ThreadPoolExecutor(4) as pool:
        outcomes = list(pool.map(demote, ids))
    left = 4 - outcomes.count(200)
    assert left >= 1
    assert set(outcomes) <= {200, 403, 409}


def test_of_several_that_make_a_name_at_once_one_has_it(
    admin: Api, at_once: Callable[..., list[Any]]
) -> None:
    answers = at_once(lambda api, number: api.post("/api/admin/users", ANNA), 8)
    assert statuses(answers) == {201: 1, 409: 7}
    fields = {
        detail["field"]
        for answer in answers
        if answer.status_code == 409
        for detail in answer.json["error"]["details"]
    }
    assert fields == {"username"}


def test_roles_that_two_give_at_once_do_not_add_up(app: Flask, admin: Api) -> None:
    path = f"/api/admin/users/{admin.post('/api/admin/users', ANNA).json['id']}"
    begin = threading.Barrier(2)

    def give(role: str) -> set[int]:
        client = app.test_client()
        statuses = set()
        for _ in range(12):
            begin.wait()
            answer = client.patch(path, json={"roles": [role]}, headers=admin.headers)
            statuses.add(answer.status_code)
            begin.wait()
            held.append(admin.get(path).json["roles"])
        return statuses

    held: list[list[str]] = []
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(give, ("Viewer", "Accountant"))) == [{200}, {200}]
    assert {len(roles) for roles in held} == {1}


def test_a_reset_password_ends_all_sessions(admin: Api) -> None:
    user_id = admin.post("/api/admin/users", ANNA).json["id"]
    assert log_in(admin) == 200
    path = f"/api/admin/users/{user_id}"
    assert admin.get(f"{path}/sessions").json["total"] == 1
    made = admin.post(f"{path}/reset-password", {})
    assert made.status_code == 200
    assert admin.get(f"{path}/sessions").json["total"] == 0
    assert log_in(admin) == 401
    assert log_in(admin, made.json["password"]) == 200
    short = admin.post(f"{path}/reset-password", {"password": "short"})
    assert (short.status_code, short.json["error"]["details"][0]["field"]) == (400, "password")
    given = admin.post(f"{path}/reset-password", {"password": "seven-green-ladders"})
    assert given.json == {"id": user_id, "password": None}
    assert log_in(admin, "seven-green-ladders") == 200


def test_sessions_are_listed_and_ended(admin: Api, sign_in: SignIn) -> None:
    user = sign_in("Viewer")
    listed = admin.get("/api/admin/sessions").json
    assert listed["total"] == 2
    assert {item["username"] for item in listed["items"]} == {"admin", "viewer"}
    user_id = me(user)["id"]
    (own,) = admin.get(f"/api/admin/sessions?userId={user_id}").json["items"]
    assert own["userId"] == user_id
    assert (
        admin.delete(f"/api/admin/users/{me(admin)['id']}/sessions/{own['id']}").status_code == 404
    )
    assert admin.delete(f"/api/admin/users/{user_id}/sessions/{own['id']}").status_code == 204
    assert user.get("/api/auth/me").status_code == 401
    (mine,) = admin.get("/api/admin/sessions").json["items"]
    assert admin.delete(f"/api/admin/sessions/{mine['id']}").status_code == 204
    assert admin.get("/api/admin/sessions").status_code == 401


@pytest.mark.parametrize("user_id", ["0", "999999", "-1", "9223372036854775807", "x", "1.5"])
def test_what_is_no_user_is_404(admin: Api, user_id: str) -> None:
    path = f"/api/admin/users/{user_id}"
    assert admin.get(path).status_code == 404
    assert admin.patch(path, {"status": "disabled"}).status_code == 404
    assert admin.post(f"{path}/unlock").status_code == 404
    assert admin.post(f"{path}/reset-password", {}).status_code == 404


def test_the_account_of_a_key_is_no_person(admin: Api) -> None:
    admin.post("/api/admin/api-keys", {"name": "ERP", "role": "Viewer"})
    listed = admin.get("/api/admin/users").json
    assert [item["username"] for item in listed["items"]] == ["admin"]
    service_id = listed["items"][0]["id"] + 1
    assert admin.get(f"/api/admin/users/{service_id}").status_code == 404
    body = {"username": "bpk_live_", "password": PASSWORD}
    assert admin.client.post("/api/auth/login", json=body).status_code == 401
