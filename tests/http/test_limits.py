"""Limits as callers meet them (contract P11)."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
import time_machine
from flask import Flask
from flask.testing import FlaskClient

from app.auth.api_keys import create_api_key
from app.clock import utc_now
from app.config import ConfigError
from app.db.engines import transaction
from app.http.limits import charge, network
from app.http.security import acting_as, system_caller
from tests.conftest import KeepApp
from tests.contract.conftest import PASSWORD, Api

pytestmark = pytest.mark.only_on("sqlite")

SignIn = Callable[..., Api]
# Limits that a test reaches soon, of one application for all of them.
FEW = {"RATE_LIMIT_USER": "3/minute", "RATE_LIMIT_AUTH": "20/minute"}


def new_key(app: Flask) -> dict[str, str]:
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        return {"X-API-Key": create_api_key(name="integration", role="Viewer").key}


def statuses(client: FlaskClient, headers: dict[str, str], times: int) -> list[int]:
    return [client.get("/api/auth/me", headers=headers).status_code for _ in range(times)]


@pytest.mark.requirement("RATE-01")
def test_of_160_requests_at_once_exactly_100_pass(keep_app: KeepApp, sign_in: SignIn) -> None:
    app = keep_app(RATE_LIMIT_USER="100/minute")
    headers = sign_in("Viewer", app).headers
    with ThreadPoolExecutor(20) as pool:
        answers = list(
            pool.map(lambda _: app.test_client().get("/api/auth/me", headers=headers), range(160))
        )
    passed = [answer for answer in answers if answer.status_code == 200]
    assert len(passed) == 100
    # Asked for right after the count: another may have been counted in between.
    remaining = sorted(int(answer.headers["RateLimit-Remaining"]) for answer in passed)
    assert remaining[0] == 0
    assert all(told <= rank for rank, told in enumerate(remaining))


@pytest.mark.requirement("RATE-11", "RATE-12")
@pytest.mark.costly(0)
def test_a_key_has_1000(keep_app: KeepApp) -> None:
    app = keep_app(RATE_LIMIT_API_KEY="1000/minute")
    key, other = new_key(app), new_key(app)
    answers = statuses(app.test_client(), key, 1100)
    assert answers == [200] * 1000 + [429] * 100
    assert statuses(app.test_client(), other, 1) == [200]


@pytest.mark.requirement("RATE-02")
def test_a_refusal_says_when_to_come_back(keep_app: KeepApp, sign_in: SignIn) -> None:
    user = sign_in("Viewer", keep_app(**FEW))
    for _ in range(3):
        user.get("/api/auth/me")
    refused = user.get("/api/auth/me")
    assert refused.status_code == 429
    assert refused.json["error"]["code"] == "RATE_LIMITED"
    assert 1 <= int(refused.headers["Retry-After"]) <= 60
    assert refused.headers["RateLimit-Limit"] == "3"
    assert refused.headers["RateLimit-Remaining"] == "0"
    assert refused.headers["RateLimit-Reset"] == refused.headers["Retry-After"]


@pytest.mark.requirement("RATE-05", "RATE-06")
def test_all_tokens_of_a_user_count_together_and_others_are_not_touched(
    keep_app: KeepApp, sign_in: SignIn
) -> None:
    app = keep_app(**FEW)
    viewer, other = sign_in("Viewer", app), sign_in("Sales", app)
    again = app.test_client().post(
        "/api/auth/login", json={"username": "viewer", "password": PASSWORD}
    )
    second = {"Authorization": f"Bearer {again.json['accessToken']}"}
    assert statuses(app.test_client(), viewer.headers, 2) == [200, 200]
    assert statuses(app.test_client(), second, 2) == [200, 429]
    assert statuses(app.test_client(), other.headers, 1) == [200]


@pytest.mark.requirement("RATE-07")
@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/api/v1/auth/me", {}),
        ("/api/auth/sessions", {}),
        ("/api/nothing", {}),
        ("/odata/Nothing", {}),
        ("/api/auth/me", {"X-Forwarded-For": "192.0.2.1", "User-Agent": "another"}),
        ("/api/auth/me?x=1", {"X-Request-ID": "new"}),
    ],
)
def test_nothing_gets_round_the_limit(
    keep_app: KeepApp, sign_in: SignIn, path: str, headers: dict[str, str]
) -> None:
    user = sign_in("Viewer", keep_app(**FEW))
    assert [user.get("/api/auth/me").status_code for _ in range(3)] == [200] * 3
    assert user.get(path, headers=headers).status_code == 429


@pytest.mark.requirement("RATE-07")
def test_health_is_free(keep_app: KeepApp) -> None:
    client = keep_app(**FEW).test_client()
    answers = [client.get("/healthz") for _ in range(5)]
    assert [answer.status_code for answer in answers] == [200] * 5
    assert "RateLimit-Limit" not in answers[0].headers


def test_signing_in_is_limited_by_address(keep_app: KeepApp) -> None:
    client = keep_app(**FEW).test_client()
    names = [f"nobody {number}" for number in range(22)]
    answers = [
        client.post("/api/auth/login", json={"username": name, "password": "x"}).status_code
        for name in names
    ]
    assert answers == [401] * 20 + [429] * 2
    refresh = client.post("/api/auth/refresh", json={"refreshToken": "x"})
    assert refresh.status_code == 429
    elsewhere = client.post(
        "/api/auth/login",
        json={"username": "nobody", "password": "x"},
        environ_base={"REMOTE_ADDR": "192.0.2.9"},
    )
    assert elsewhere.status_code == 401


@pytest.mark.requirement("RATE-13")
def test_guessing_is_slowed_and_shuts_out_nobody(keep_app: KeepApp, sign_in: SignIn) -> None:
    app = keep_app(**FEW)
    user, key = sign_in("Viewer", app), new_key(app)
    known = key["X-API-Key"]
    guess = {"X-API-Key": known[:-1] + ("y" if known.endswith("x") else "x")}
    assert statuses(app.test_client(), guess, 8) == [401] * 3 + [429] * 5
    assert statuses(app.test_client(), key, 1) == [200]
    assert user.get("/api/auth/me").status_code == 200
    # Without credentials nothing is guessed.
    assert statuses(app.test_client(), {}, 8) == [401] * 8


@pytest.mark.requirement("RATE-14")
def test_parts_of_a_batch_count(keep_app: KeepApp, sign_in: SignIn) -> None:
    user = sign_in("Viewer", keep_app(_add_batch, RATE_LIMIT_USER="10/minute"))
    answer = user.get("/odata/batch/8")
    assert (answer.status_code, answer.headers["RateLimit-Remaining"]) == (200, "2")
    assert user.get("/odata/batch/4").status_code == 429  # itself counted, its parts did not fit
    assert user.get("/api/auth/me").status_code == 200
    assert user.get("/api/auth/me").status_code == 429


def _add_batch(app: Flask) -> None:
    """A request that counts as many as it has parts."""

    def batch(parts: int) -> dict[str, int]:
        charge(parts - 1)
        return {"parts": parts}

    app.add_url_rule("/odata/batch/<int:parts>", view_func=batch)


def test_two_applications_without_redis_count_for_themselves(
    keep_app: KeepApp, sign_in: SignIn
) -> None:
    first, second = (keep_app(number=number, **FEW) for number in (1, 2))
    headers = sign_in("Viewer", first).headers
    assert statuses(first.test_client(), headers, 4) == [200] * 3 + [429]
    assert statuses(second.test_client(), headers, 4) == [200] * 3 + [429]


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::", "2001:db8:1:2::/64"),
        (None, "unknown"),
        ("", "unknown"),
    ],
)
def test_addresses_are_counted_by_household(address: str | None, name: str) -> None:
    assert network(address) == name


@pytest.mark.requirement("RATE-03", "RATE-08", "RATE-09")
def test_the_rest_is_counted_down_and_a_refusal_prolongs_nothing(
    keep_app: KeepApp, sign_in: SignIn
) -> None:
    user = sign_in("Viewer", keep_app(RATE_LIMIT_USER="100/minute"))
    with time_machine.travel(utc_now(), tick=False) as clock:
        remaining = [user.get("/api/auth/me").headers["RateLimit-Remaining"] for _ in range(50)]
        clock.shift(20)
        remaining += [user.get("/api/auth/me").headers["RateLimit-Remaining"] for _ in range(50)]
        assert remaining == [str(number) for number in reversed(range(100))]
        for _ in range(3):
            refused = user.get("/api/auth/me")
            assert (refused.status_code, refused.headers["Retry-After"]) == (429, "40")
        clock.shift(39)
        assert user.get("/api/auth/me").headers["Retry-After"] == "1"
        # After what was told the first fifty have left, and nobody else.
        clock.shift(1.001)
        answers = [user.get("/api/auth/me").status_code for _ in range(51)]
        assert answers == [200] * 50 + [429]


@pytest.mark.parametrize("rate", ["", "many", "100", "0 a minute", "100/fortnight"])
def test_a_rate_that_cannot_be_read_is_refused_at_the_start(
    make_app: Callable[..., Flask], rate: str
) -> None:
    with pytest.raises(ConfigError, match="RATE_LIMIT_USER must look like 100/minute"):
        make_app(RATE_LIMIT_USER=rate)
