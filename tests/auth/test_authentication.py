"""Who is let in: tokens, keys, Basic, combinations, and how long what was verified is believed."""

from __future__ import annotations

import base64
from collections.abc import Callable

import pytest
from argon2 import PasswordHasher
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app.auth.api_keys import create_api_key, revoke_api_key
from app.auth.credentials import new_api_key
from app.auth.passwords import passwords
from app.auth.roles import create_role, update_role
from app.auth.users import find_user_id, update_user
from app.db.engines import transaction
from app.http.security import acting_as, system_caller
from app.models.user import User
from tests.conftest import KeepApp
from tests.contract.conftest import PASSWORD, Api
from tests.services import SERVICES

SignIn = Callable[..., Api]


def me(client: FlaskClient, headers: dict[str, str], path: str = "/api/auth/me") -> int:
    return client.get(path, headers=headers).status_code


def code(client: FlaskClient, headers: dict[str, str], path: str = "/api/auth/me") -> str:
    return str(client.get(path, headers=headers).json["error"]["code"])


def key_of(app: Flask, role: str = "Viewer") -> str:
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        return create_api_key(name="integration", role=role).key


def basic(user: str, password: str) -> dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()}


@pytest.mark.requirement("SEC-02", "SEC-03", "SEC-26")
@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, "TOKEN_MISSING"),
        ({"Authorization": ""}, "TOKEN_MISSING"),
        ({"Authorization": "Bearer"}, "TOKEN_MISSING"),
        ({"Authorization": "Token abc"}, "TOKEN_MISSING"),
        ({"Authorization": "Bearer abc def"}, "TOKEN_MISSING"),
        ({"Authorization": "Bearer abc"}, "INVALID_CREDENTIALS"),
        ({"Authorization": "Bearer a.b.c"}, "INVALID_CREDENTIALS"),
        ({"X-API-Key": ""}, "API_KEY_INVALID"),
        ({"X-API-Key": "abc"}, "API_KEY_INVALID"),
        ({"X-API-Key": "ü" * 67}, "API_KEY_INVALID"),
        ({"X-API-Key": new_api_key().key}, "API_KEY_INVALID"),
    ],
)
def test_bad_credentials_are_401_with_a_challenge(
    client: FlaskClient, headers: dict[str, str], expected: str
) -> None:
    for path in ("/api/auth/me", "/api/v1/auth/me", "/api/nothing", "/odata/Clients", "/nothing"):
        answer = client.get(path, headers=headers)
        assert (answer.status_code, answer.json["error"]["code"]) == (401, expected), path
        challenges = answer.headers.getlist("WWW-Authenticate")
        assert challenges[0].startswith("Bearer realm=")
        assert len(challenges) == (2 if path.startswith("/odata") else 1)


@pytest.mark.parametrize("method", ["GET", "OPTIONS"])
def test_the_scheme_is_read_in_any_case(
    app: Flask, client: FlaskClient, admin: Api, method: str
) -> None:
    """RFC 9110, 11.1; a credential that is remembered is not read again."""
    token, password = admin.headers["Authorization"].split()[1], basic("any", key_of(app))
    for credential in (f"Bearer {token}", password["Authorization"]):
        scheme, _, rest = credential.partition(" ")
        for written in (scheme.lower(), scheme.upper(), scheme.swapcase(), scheme):
            headers = {"Authorization": f"{written} {rest}"}
            answer = client.open("/odata/Clients", method=method, headers=headers)
            assert answer.status_code == {"GET": 200, "OPTIONS": 204}[method], written


@pytest.mark.requirement("SEC-09")
def test_a_refresh_token_is_no_access_token_and_the_other_way_round(
    sign_in: SignIn, client: FlaskClient
) -> None:
    sign_in("Viewer")
    pair = client.post("/api/auth/login", json={"username": "viewer", "password": PASSWORD}).json
    assert me(client, {"Authorization": f"Bearer {pair['refreshToken']}"}) == 401
    answer = client.post("/api/auth/refresh", json={"refreshToken": pair["accessToken"]})
    assert (answer.status_code, answer.json["error"]["code"]) == (401, "INVALID_CREDENTIALS")


@pytest.mark.requirement("SEC-27")
def test_credentials_in_the_query_are_none(admin: Api, app: Flask, client: FlaskClient) -> None:
    token, key = admin.headers["Authorization"].split()[1], key_of(app)
    for query in (f"access_token={token}", f"token={token}", f"api_key={key}", f"X-API-Key={key}"):
        assert me(client, {}, f"/api/auth/me?{query}") == 401


def test_basic_with_a_key_is_for_odata_only(app: Flask, client: FlaskClient, admin: Api) -> None:
    key = key_of(app)
    assert client.get("/odata/nothing", headers=basic("any", key)).status_code == 404
    assert me(client, basic("any", key)) == 401  # remembered, and still not taken here
    assert code(client, basic("admin", PASSWORD), "/odata/") == "API_KEY_INVALID"
    another = key[:-1] + ("1" if key.endswith("0") else "0")
    assert code(client, basic("any", another), "/odata/") == "API_KEY_INVALID"


@pytest.mark.requirement("SEC-35")
def test_a_bad_credential_beside_a_good_one_is_refused(
    app: Flask, client: FlaskClient, admin: Api
) -> None:
    good_key, bad_key = {"X-API-Key": key_of(app)}, {"X-API-Key": "bad"}
    good_token, bad_token = admin.headers, {"Authorization": "Bearer bad"}
    assert me(client, good_key | bad_token) == 401
    assert me(client, bad_key | good_token) == 401
    assert me(client, bad_key | bad_token) == 401
    both = client.get("/api/auth/me", headers=good_key | good_token)
    assert (both.status_code, both.json["username"]) == (200, "admin")
    # Again, now that all good ones are remembered.
    assert me(client, good_key | bad_token) == 401
    assert me(client, bad_key | good_token) == 401


@pytest.mark.requirement("SEC-25")
def test_me_tells_who_one_is_and_no_secret(app: Flask, client: FlaskClient, admin: Api) -> None:
    person = admin.get("/api/auth/me").json
    assert person.keys() == {
        "id", "username", "email", "displayName", "status", "roles", "permissions", "language",
        "timezone", "lastLoginAt", "createdAt", "auth",
    }  # fmt: skip
    assert person["auth"].keys() == {"type", "sessionId", "keyPrefix", "scopes", "expiresAt"}
    assert (person["auth"]["type"], person["roles"]) == ("jwt", ["Admin"])
    assert "users:manage" in person["permissions"]
    key = key_of(app, "Admin")
    integration = client.get("/api/auth/me", headers={"X-API-Key": key})
    assert integration.json["auth"] == {
        "type": "apiKey", "sessionId": None, "keyPrefix": key[:17], "scopes": [], "expiresAt": None,
    }  # fmt: skip
    assert "users:manage" not in integration.json["permissions"]
    assert key not in integration.text
    assert "argon2" not in admin.get("/api/auth/me").text


@pytest.fixture(
    params=["without redis", pytest.param("with redis", marks=pytest.mark.needs("redis"))]
)
def two_apps(request: pytest.FixtureRequest, keep_app: KeepApp) -> tuple[Flask, Flask]:
    """Two processes of one service: what one changes, the other must see."""
    url = SERVICES["redis"].url if request.param == "with redis" else None
    return keep_app(number=1, REDIS_URL=url), keep_app(number=2, REDIS_URL=url)


@pytest.mark.requirement("SEC-10", "SEC-11")
def test_logout_ends_the_session_in_every_process_at_once(
    two_apps: tuple[Flask, Flask], sign_in: SignIn
) -> None:
    here, there = two_apps
    user = sign_in("Viewer", here)
    for _ in range(20):
        pair = (
            here.test_client()
            .post("/api/auth/login", json={"username": "viewer", "password": PASSWORD})
            .json
        )
        headers = {"Authorization": f"Bearer {pair['accessToken']}"}
        assert me(there.test_client(), headers) == me(here.test_client(), headers) == 200
        assert here.test_client().post("/api/auth/logout", headers=headers).status_code == 204
        assert code(there.test_client(), headers) == "TOKEN_REVOKED"
        refresh = {"refreshToken": pair["refreshToken"]}
        answer = there.test_client().post("/api/auth/refresh", json=refresh)
        assert (answer.status_code, answer.json["error"]["code"]) == (401, "TOKEN_REVOKED")
    assert user.get("/api/auth/me").status_code == 200  # another session stays


def test_a_role_taken_away_is_gone_at_the_next_request(
    two_apps: tuple[Flask, Flask], sign_in: SignIn
) -> None:
    here, there = two_apps
    admin, user = sign_in("Admin", here), sign_in("Manager", here)
    seen = there.test_client()
    assert me(seen, user.headers, "/api/admin/audit") == 200
    with here.app_context():
        user_id = here.test_client().get("/api/auth/me", headers=user.headers).json["id"]
    for role, expected in (("Viewer", 403), ("Manager", 200), ("Sales", 403)):
        changed = admin.patch(f"/api/admin/users/{user_id}", {"roles": [role]})
        assert changed.status_code == 200
        assert me(seen, user.headers, "/api/admin/audit") == expected


@pytest.mark.requirement("SEC-29")
def test_a_disabled_user_is_out_at_once(two_apps: tuple[Flask, Flask], sign_in: SignIn) -> None:
    here, there = two_apps
    user = sign_in("Viewer", here)
    assert me(there.test_client(), user.headers) == 200
    with here.app_context(), transaction(), acting_as(system_caller("cli")):
        user_id = find_user_id("viewer")
        assert user_id is not None
        update_user(user_id, {"status": "disabled"})
    assert me(there.test_client(), user.headers) == 401


@pytest.mark.requirement("SEC-34")
def test_a_key_that_is_revoked_stops_at_once(two_apps: tuple[Flask, Flask]) -> None:
    here, there = two_apps
    with here.app_context(), transaction(), acting_as(system_caller("test")):
        made = create_api_key(name="integration", role="Viewer")
    headers = {"X-API-Key": made.key}
    assert me(there.test_client(), headers) == 200
    with here.app_context(), transaction(), acting_as(system_caller("cli")):
        revoke_api_key(made.id)
    assert code(there.test_client(), headers) == "API_KEY_INVALID"


def test_a_custom_role_changes_for_its_holders_at_once(
    two_apps: tuple[Flask, Flask], sign_in: SignIn
) -> None:
    here, there = two_apps
    with here.app_context(), transaction(), acting_as(system_caller("test")):
        role_id = create_role("Auditor", {"audit:read": "all"})
    user = sign_in("Auditor", here)
    assert me(there.test_client(), user.headers, "/api/admin/audit") == 200
    with here.app_context(), transaction(), acting_as(system_caller("test")):
        update_role(role_id, {"permissions": {"clients:read": "own"}})
    assert me(there.test_client(), user.headers, "/api/admin/audit") == 403


@pytest.mark.requirement("INS-01")
def test_logging_in_renews_a_hash_of_other_parameters(
    app: Flask, sign_in: SignIn, client: FlaskClient, session: Session
) -> None:
    sign_in("Viewer")
    older = PasswordHasher(time_cost=2, memory_cost=1024, parallelism=1).hash(PASSWORD)
    with app.app_context(), transaction() as writing:
        writing.execute(update(User).values(password_hash=older))
    body = {"username": "viewer", "password": PASSWORD}

    def log_in() -> str:
        assert client.post("/api/auth/login", json=body).status_code == 200
        session.rollback()
        return session.scalars(select(User.password_hash)).one()

    renewed = log_in()
    assert renewed != older
    assert not passwords.of(app).is_outdated(renewed)
    assert log_in() == renewed


def test_what_is_rolled_back_ends_nothing(two_apps: tuple[Flask, Flask], sign_in: SignIn) -> None:
    here, there = two_apps
    user = sign_in("Viewer", here)
    assert me(there.test_client(), user.headers) == 200
    with (
        pytest.raises(ZeroDivisionError),
        here.app_context(),
        transaction(),
        acting_as(system_caller("test")),
    ):
        update_user(find_user_id("viewer") or 0, {"status": "disabled"})
        raise ZeroDivisionError
    assert me(there.test_client(), user.headers) == 200
