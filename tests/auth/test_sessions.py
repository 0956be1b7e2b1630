"""Sessions: refresh tokens are exchanged once, and a stolen one ends the session."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import func, select
from sqlalchemy.orm import Session as Reading

from app import sealing
from app.extensions import configuration
from app.models.event import AuditRecord
from app.models.user import RefreshToken, Session
from app.sealing import sealer
from tests.contract.conftest import PASSWORD, Api

NOW = datetime(2026, 3, 1, tzinfo=UTC)
SignIn = Callable[..., Api]
Pair = dict[str, Any]


@pytest.fixture
def log_in(sign_in: SignIn, client: FlaskClient) -> Callable[[], Pair]:
    sign_in("Viewer")

    def again() -> Pair:
        body = {"username": "viewer", "password": PASSWORD}
        answer = client.post("/api/auth/login", json=body)
        assert answer.status_code == 200
        return dict(answer.json)

    return again


def refresh(client: FlaskClient, pair: Pair) -> Any:
    return client.post("/api/auth/refresh", json={"refreshToken": pair["refreshToken"]})


def is_in(client: FlaskClient, pair: Pair) -> bool:
    headers = {"Authorization": f"Bearer {pair['accessToken']}"}
    return client.get("/api/auth/me", headers=headers).status_code == 200


def code(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json["error"]["code"]


@pytest.mark.requirement("SEC-12")
def test_refresh_rotates_and_leaves_other_sessions_alone(
    client: FlaskClient, log_in: Callable[[], Pair]
) -> None:
    first, other = log_in(), log_in()
    second = refresh(client, first).json
    assert second["refreshToken"] != first["refreshToken"]
    assert second["accessToken"] != first["accessToken"]
    assert (second["expiresIn"], second["tokenType"]) == (900, "Bearer")
    assert is_in(client, first) and is_in(client, second) and is_in(client, other)
    assert refresh(client, other).status_code == 200


def test_within_ten_seconds_the_same_token_gives_the_same_pair(
    client: FlaskClient, log_in: Callable[[], Pair]
) -> None:
    with time_machine.travel(NOW, tick=False) as clock:
        first = log_in()
        second = refresh(client, first).json
        clock.shift(9)
        assert refresh(client, first).json == second
        assert is_in(client, second)
        clock.shift(1)
        assert code(refresh(client, first)) == (401, "TOKEN_REUSED")
        assert not is_in(client, second)
        assert not is_in(client, first)
        assert code(refresh(client, second)) == (401, "TOKEN_REVOKED")


@pytest.mark.requirement("SEC-13")
def test_an_older_token_ends_the_session_at_once(
    client: FlaskClient, log_in: Callable[[], Pair], session: Reading
) -> None:
    first, other = log_in(), log_in()
    second = refresh(client, first).json
    third = refresh(client, second).json
    assert code(refresh(client, first)) == (401, "TOKEN_REUSED")
    assert not is_in(client, third)
    assert code(refresh(client, third)) == (401, "TOKEN_REVOKED")
    assert is_in(client, other)
    reasons = session.execute(select(Session.revoked_reason)).scalars().all()
    assert sorted(str(reason) for reason in reasons) == ["None", "None", "reuse"]
    audited = select(AuditRecord).where(AuditRecord.action == "auth.token_reused")
    assert len(session.connection().execute(audited).all()) == 1


@pytest.mark.requirement("SEC-14")
def test_ten_at_once_get_one_new_pair(
    app: Flask, log_in: Callable[[], Pair], session: Reading
) -> None:
    first = log_in()
    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(lambda _: refresh(app.test_client(), first), range(10)))
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.json["refreshToken"] for answer in answers}) == 1
    assert len({answer.json["accessToken"] for answer in answers}) == 1
    unused = select(func.count()).select_from(RefreshToken).where(RefreshToken.used_at.is_(None))
    # Of this session one, of the one that the fixture opened another.
    assert session.execute(unused).scalar() == 2


def test_an_unused_session_ends_after_thirty_days_and_any_after_ninety(
    client: FlaskClient, log_in: Callable[[], Pair]
) -> None:
    with time_machine.travel(NOW, tick=False) as clock:
        idle, busy = log_in(), log_in()
        for _ in range(3):
            clock.shift(timedelta(days=29))
            busy = refresh(client, busy).json
        assert code(refresh(client, idle)) == (401, "TOKEN_EXPIRED")
        clock.shift(timedelta(days=3))
        assert code(refresh(client, busy)) == (401, "TOKEN_EXPIRED")


@pytest.mark.parametrize("token", ["", "x", "bpr_" + "A" * 43, "ü", "eyJ.eyJ.x"])
def test_what_is_no_refresh_token_is_refused(client: FlaskClient, token: str) -> None:
    answer = refresh(client, {"refreshToken": token})
    assert code(answer) == (401, "INVALID_CREDENTIALS")


@pytest.mark.requirement("INS-02")
def test_tokens_are_not_in_the_database(log_in: Callable[[], Pair], session: Reading) -> None:
    pair = log_in()
    rows = session.connection().execute(select(RefreshToken)).all()
    kept = "".join(f"{row.token_hash} {row.successor}" for row in rows)
    assert pair["refreshToken"] not in kept
    assert all(len(row.token_hash) == 64 for row in rows)


def test_a_repeated_pair_is_sealed_and_opens_with_the_key_before(
    app: Flask, client: FlaskClient, log_in: Callable[[], Pair], session: Reading
) -> None:
    first = log_in()
    second = refresh(client, first).json
    sealed = session.execute(
        select(RefreshToken.successor).where(RefreshToken.successor.is_not(None))
    ).scalar_one()
    assert second["refreshToken"] not in str(sealed)
    config = configuration.of(app)
    before = sealer.of(app)
    try:
        sealing.init_app(
            app, replace(config, SECRET_KEY="n" * 40, SECRET_KEY_PREVIOUS=(config.SECRET_KEY,))
        )
        assert refresh(client, first).json == second
        sealing.init_app(app, replace(config, SECRET_KEY="n" * 40))
        assert code(refresh(client, first)) == (401, "TOKEN_REVOKED")
    finally:
        sealer.bind(app, before)


def test_one_lists_and_ends_ones_own_sessions(
    client: FlaskClient, log_in: Callable[[], Pair], admin: Api
) -> None:
    here, there = log_in(), log_in()
    headers = {"Authorization": f"Bearer {here['accessToken']}", "User-Agent": "tests"}
    listed = client.get("/api/auth/sessions", headers=headers).json
    assert listed["total"] == len(listed["items"]) == 3
    assert [item["current"] for item in listed["items"]].count(True) == 1
    assert {item["username"] for item in listed["items"]} == {"viewer"}
    other = next(item["id"] for item in listed["items"] if not item["current"])
    foreign = admin.get("/api/auth/sessions").json["items"][0]["id"]
    assert client.delete(f"/api/auth/sessions/{foreign}", headers=headers).status_code == 404
    for item in listed["items"]:
        if not item["current"]:
            path = f"/api/auth/sessions/{item['id']}"
            assert client.delete(path, headers=headers).status_code == 204
    assert is_in(client, here) and not is_in(client, there)
    assert client.delete(f"/api/auth/sessions/{other}", headers=headers).status_code == 404


def test_a_new_password_ends_ones_other_sessions(
    client: FlaskClient, log_in: Callable[[], Pair]
) -> None:
    here, there = log_in(), log_in()
    headers = {"Authorization": f"Bearer {here['accessToken']}"}
    body = {"currentPassword": PASSWORD, "newPassword": "seven-green-ladders"}

    def change(**changes: str) -> Any:
        return client.post("/api/auth/password", json={**body, **changes}, headers=headers)

    wrong = change(currentPassword="not-my-password")
    assert (wrong.status_code, wrong.json["error"]["details"][0]["field"]) == (
        400,
        "currentPassword",
    )
    short = change(newPassword="short")
    assert (short.status_code, short.json["error"]["details"][0]["field"]) == (400, "newPassword")
    assert change().status_code == 204
    assert is_in(client, here) and not is_in(client, there)
    body = {"username": "viewer", "password": "seven-green-ladders"}
    assert client.post("/api/auth/login", json=body).status_code == 200


def test_guessing_the_current_password_locks_the_name(
    client: FlaskClient, log_in: Callable[[], Pair]
) -> None:
    headers = {"Authorization": f"Bearer {log_in()['accessToken']}"}
    body = {"currentPassword": "a guess", "newPassword": "seven-green-ladders"}
    got = [
        client.post("/api/auth/password", json=body, headers=headers).status_code for _ in range(6)
    ]
    assert got == [400] * 5 + [423]


def test_a_key_has_no_session_to_end(admin: Api, client: FlaskClient) -> None:
    key = admin.post("/api/admin/api-keys", {"name": "ERP", "role": "Viewer"}).json["key"]
    for path in ("/api/auth/logout", "/api/auth/password"):
        body = {"currentPassword": "x", "newPassword": "y"} if path.endswith("password") else None
        answer = client.post(path, json=body, headers={"X-API-Key": key})
        assert code(answer) == (403, "FORBIDDEN")
