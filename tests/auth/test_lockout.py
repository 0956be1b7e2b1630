"""Five wrong passwords lock a name, whoever guesses, however fast."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from app.auth.lockout import FIRST_LOCK, FORGOTTEN_AFTER, LIMIT, LONGEST_LOCK, WINDOW, Guard
from app.models.event import AuditRecord, Event
from app.models.user import LoginGuard
from tests.contract.conftest import PASSWORD, Api

NOW = datetime(2026, 3, 1, tzinfo=UTC)
SignIn = Callable[..., Api]


def log_in(client: FlaskClient, username: str, password: str = "wrong-password") -> int:
    body = {"username": username, "password": password}
    return client.post("/api/auth/login", json=body).status_code


def guard(**changes: object) -> Guard:
    values = {"failures": 0, "window_started_at": NOW, "locked_until": None, "lock_count": 0}
    return Guard(**{**values, **changes})  # type: ignore[arg-type]


def test_locks_double_up_to_a_day() -> None:
    durations, current = [], guard()
    for _ in range(9):
        current = current.locked(NOW)
        assert current.locked_until is not None
        durations.append(current.locked_until - NOW)
    minutes = [15, 30, 60, 120, 240, 480, 960, 1440, 1440]
    assert durations == [timedelta(minutes=number) for number in minutes]


def test_a_window_ends_after_fifteen_minutes() -> None:
    current = guard(failures=4)
    assert current.opened(NOW + WINDOW - timedelta(seconds=1)) is current
    assert current.opened(NOW + WINDOW) == guard(window_started_at=NOW + WINDOW)


@pytest.mark.requirement("SEC-20")
def test_a_window_that_another_opened_a_moment_later_is_the_same() -> None:
    """Of many at once the first to ask is not the first to count; clocks of hosts differ, too."""
    current = guard(failures=4)
    assert current.opened(NOW - timedelta(milliseconds=1)) is current
    assert current.opened(NOW - WINDOW + timedelta(seconds=1)) is current
    long_before = NOW - WINDOW  # the clock has been set back
    assert current.opened(long_before) == guard(window_started_at=long_before)


def test_after_a_lock_counting_begins_anew_and_the_next_lock_is_longer() -> None:
    over = NOW + FIRST_LOCK
    current = guard(failures=LIMIT).locked(NOW)
    assert current.is_locked(over - timedelta(seconds=1))
    assert not current.is_locked(over)
    assert current.opened(over) == guard(window_started_at=over, lock_count=1)


def test_after_a_quiet_day_the_next_lock_is_a_first_one() -> None:
    later = NOW + LONGEST_LOCK + FORGOTTEN_AFTER
    assert guard(lock_count=3).opened(later).lock_count == 0


def test_a_locked_name_opens_again_with_time(sign_in: SignIn, client: FlaskClient) -> None:
    sign_in("Viewer")
    with time_machine.travel(NOW, tick=False) as clock:
        assert [log_in(client, "viewer") for _ in range(6)] == [401] * 5 + [423]
        assert log_in(client, "viewer", PASSWORD) == 423
        clock.shift(FIRST_LOCK - timedelta(seconds=1))
        assert log_in(client, "viewer", PASSWORD) == 423
        clock.shift(timedelta(seconds=1))
        assert log_in(client, "viewer", PASSWORD) == 200


@pytest.mark.requirement("SEC-16")
def test_a_success_forgets_the_failures(sign_in: SignIn, client: FlaskClient) -> None:
    sign_in("Viewer")
    for _ in range(3):
        assert [log_in(client, "viewer") for _ in range(4)] == [401] * 4
        assert log_in(client, "viewer", PASSWORD) == 200


def test_old_failures_do_not_count(sign_in: SignIn, client: FlaskClient) -> None:
    sign_in("Viewer")
    with time_machine.travel(NOW, tick=False) as clock:
        assert [log_in(client, "viewer") for _ in range(4)] == [401] * 4
        clock.shift(WINDOW)
        assert [log_in(client, "viewer") for _ in range(4)] == [401] * 4
        assert log_in(client, "viewer", PASSWORD) == 200


@pytest.mark.requirement("SEC-20")
def test_failures_counted_by_a_host_whose_clock_is_ahead_count(
    sign_in: SignIn, client: FlaskClient
) -> None:
    sign_in("Viewer")
    with time_machine.travel(NOW, tick=False) as clock:
        assert [log_in(client, "viewer") for _ in range(4)] == [401] * 4
        clock.shift(timedelta(seconds=-2))
        assert [log_in(client, "viewer") for _ in range(3)] == [401, 423, 423]


FULL_WIDTH = "\uff56\uff49\uff45\uff57\uff45\uff52"


@pytest.mark.requirement("SEC-21")
@pytest.mark.parametrize("spelling", ["VIEWER", " viewer ", "Viewer", FULL_WIDTH, "vIeWeR\t"])
def test_another_spelling_is_the_same_name(
    sign_in: SignIn, client: FlaskClient, spelling: str
) -> None:
    sign_in("Viewer")
    assert [log_in(client, spelling) for _ in range(5)] == [401] * 5
    assert log_in(client, "viewer", PASSWORD) == 423


@pytest.mark.requirement("SEC-21")
def test_a_forwarded_address_does_not_get_round_it(sign_in: SignIn, client: FlaskClient) -> None:
    sign_in("Viewer")
    for number in range(5):
        log_in(client, "viewer")
        headers = {"X-Forwarded-For": f"192.0.2.{number}"}
        body = {"username": "viewer", "password": PASSWORD}
    answer = client.post("/api/auth/login", json=body, headers=headers)
    assert answer.status_code == 423


@pytest.mark.requirement("SEC-18")
def test_unknown_names_answer_the_same(sign_in: SignIn, client: FlaskClient) -> None:
    sign_in("Viewer")
    answers = {}
    with time_machine.travel(NOW, tick=False):
        for name in ("viewer", "nobody"):
            body = {"username": name, "password": "wrong-password"}
            got = [client.post("/api/auth/login", json=body) for _ in range(6)]
            answers[name] = [
                (one.status_code, one.json, one.headers.get("Retry-After")) for one in got
            ]
    assert answers["viewer"] == answers["nobody"]
    assert answers["viewer"][5][0] == 423


@pytest.mark.requirement("SEC-17")
def test_the_lock_ends_no_session_and_no_refresh(sign_in: SignIn, client: FlaskClient) -> None:
    user = sign_in("Viewer")
    pair = client.post("/api/auth/login", json={"username": "viewer", "password": PASSWORD}).json
    for _ in range(6):
        log_in(client, "viewer")
    assert user.get("/api/auth/me").status_code == 200
    answer = client.post("/api/auth/refresh", json={"refreshToken": pair["refreshToken"]})
    assert answer.status_code == 200


@pytest.mark.requirement("SEC-20")
def test_of_forty_guesses_at_once_five_are_looked_at(sign_in: SignIn, app: Flask) -> None:
    sign_in("Viewer")
    with ThreadPoolExecutor(20) as pool:
        got = Counter(pool.map(lambda _: log_in(app.test_client(), "viewer"), range(40)))
    assert got == {401: 5, 423: 35}


def test_the_right_password_twenty_times_at_once_locks_nobody_out(
    sign_in: SignIn, app: Flask
) -> None:
    sign_in("Viewer")
    with ThreadPoolExecutor(20) as pool:
        got = Counter(pool.map(lambda _: log_in(app.test_client(), "viewer", PASSWORD), range(20)))
    assert got == {200: 20}


def test_attempts_that_were_cut_off_count_as_failed(
    client: FlaskClient,
    unit_of_work: Callable[[], AbstractContextManager[Any]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("app.auth.lockout.WAIT_SECONDS", 0.1)
    key = hashlib.sha256(b"nobody").hexdigest()
    with unit_of_work() as session:
        guard = {"name_key": key, "failures": LIMIT, "window_started_at": NOW, "lock_count": 0}
        session.execute(insert(LoginGuard).values(guard))
    with time_machine.travel(NOW, tick=False):
        assert log_in(client, "nobody") == 423


@pytest.mark.requirement("OPS-18")
def test_failures_and_locks_are_audited_without_secrets(
    sign_in: SignIn, client: FlaskClient, session: Session
) -> None:
    sign_in("Viewer")
    for _ in range(6):
        log_in(client, "viewer", "a-secret-typed-wrong")
        log_in(client, "a-secret-typed-as-name")
    rows = session.connection().execute(select(AuditRecord).order_by(AuditRecord.id)).all()
    actions = Counter((row.action, row.entity_id is not None) for row in rows)
    assert actions["auth.login_failed", True] == actions["auth.login_failed", False] == 5
    assert actions["auth.locked", True] == actions["auth.locked", False] == 1
    assert all(row.ip == "127.0.0.1" and row.request_id for row in rows if "login" in row.action)
    assert "secret" not in str([(row.before, row.after) for row in rows])
    events = session.execute(select(Event.type).where(Event.type == "user.locked")).scalars().all()
    assert events == ["user.locked"]


def test_an_administrator_unlocks(admin: Api, sign_in: SignIn, client: FlaskClient) -> None:
    user = sign_in("Viewer")
    for _ in range(5):
        log_in(client, "viewer")
    user_id = user.get("/api/auth/me").json["id"]
    assert log_in(client, "viewer", PASSWORD) == 423
    assert admin.post(f"/api/admin/users/{user_id}/unlock").status_code == 200
    assert log_in(client, "viewer", PASSWORD) == 200
