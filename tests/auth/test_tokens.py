"""Access tokens: ours, and what others would like to pass for one."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import jwt
import pytest
import time_machine
from flask import Flask

from app.auth.tokens import LEEWAY_SECONDS, LIFETIME_SECONDS
from app.config import Config
from app.sealing import derived_keys
from tests.conftest import KeepApp
from tests.contract.conftest import PASSWORD, Api

pytestmark = pytest.mark.only_on("sqlite")

SECRET = "not-a-secret-only-for-the-tests-of-this-run"
KEY = derived_keys(Config(SECRET_KEY=SECRET), "access-token")[0]
HEADER = {"alg": "HS256", "typ": "at+jwt", "kid": KEY.id}
REFUSED = (401, "INVALID_CREDENTIALS")


@pytest.fixture
def token(sign_in: Callable[..., Api]) -> str:
    """The access token of a user who has just signed in."""
    return sign_in("Viewer").headers["Authorization"].removeprefix("Bearer ")


def new_token(app: Flask) -> str:
    """One more token of that user."""
    login = {"username": "viewer", "password": PASSWORD}
    answer: Any = app.test_client().post("/api/auth/login", json=login).json
    return str(answer["accessToken"])


def outcome(app: Flask, token: str) -> tuple[int, str]:
    """The status, and the code of a refusal: of an OPTIONS, and of a GET after it."""
    headers = {"Authorization": f"Bearer {token}"}
    first: Any = app.test_client().options("/odata/Clients", headers=headers)
    answer: Any = app.test_client().get("/api/auth/me", headers=headers)
    if answer.status_code == 200:
        assert first.status_code == 204
        return 200, ""
    for refused in (first, answer):
        assert 'error="invalid_token"' in refused.headers["WWW-Authenticate"]
    assert first.json["error"]["code"] == answer.json["error"]["code"]
    return answer.status_code, answer.json["error"]["code"]


def part(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def signed(header: dict[str, Any], body: object, key: bytes = KEY.secret) -> str:
    """A token with a right HMAC over whatever header and body it has."""
    text = f"{part(header)}.{part(body)}"
    digest = jwt.algorithms.HMACAlgorithm(jwt.algorithms.HMACAlgorithm.SHA256).sign(
        text.encode(), key
    )
    return f"{text}.{base64.urlsafe_b64encode(digest).decode().rstrip('=')}"


def claims_of(token: str, **changes: Any) -> dict[str, Any]:
    """What ``token`` says, with ``changes``; ``...`` takes a claim away."""
    made = jwt.decode(token, options={"verify_signature": False})
    return {name: value for name, value in {**made, **changes}.items() if value is not ...}


@pytest.mark.requirement("SEC-08")
def test_a_token_says_whose_it_is_and_until_when(app: Flask, token: str) -> None:
    claims = claims_of(token)
    assert claims["exp"] - claims["iat"] == LIFETIME_SECONDS == 900
    assert claims["type"] == "access"
    assert jwt.get_unverified_header(token) == HEADER
    assert outcome(app, token) == (200, "")


def test_no_two_tokens_are_the_same(app: Flask, token: str) -> None:
    assert new_token(app) != token


def test_a_token_ends_with_its_time_and_what_clocks_may_differ(app: Flask, token: str) -> None:
    end = claims_of(token)["exp"] + LEEWAY_SECONDS
    with time_machine.travel(end - 1, tick=False) as clock:
        assert outcome(app, token) == (200, "")
        clock.shift(1)
        assert outcome(app, token) == (401, "TOKEN_EXPIRED")


@pytest.mark.requirement("OPS-05")
def test_a_token_of_a_host_whose_clock_is_ahead_is_read(app: Flask, token: str) -> None:
    made_at = claims_of(token)["iat"]
    with time_machine.travel(made_at - LEEWAY_SECONDS + 1, tick=False):
        assert outcome(app, token) == (200, "")


def test_a_self_made_token_with_the_right_key_is_read(app: Flask, token: str) -> None:
    assert outcome(app, signed(HEADER, claims_of(token))) == (200, "")


FORGED: dict[str, Callable[[dict[str, Any]], str]] = {
    "no signature": lambda c: f"{part(HEADER)}.{part(c)}.",
    "signature stripped": lambda c: f"{part(HEADER)}.{part(c)}",
    "alg none": lambda c: f"{part({**HEADER, 'alg': 'none'})}.{part(c)}.",
    "alg None": lambda c: f"{part({**HEADER, 'alg': 'None'})}.{part(c)}.",
    "alg nOnE, signed": lambda c: signed({**HEADER, "alg": "nOnE"}, c),
    "HS384 in the header": lambda c: signed({**HEADER, "alg": "HS384"}, c),
    "HS512": lambda c: jwt.encode(c, KEY.secret * 2, "HS512", {"kid": KEY.id, "typ": "at+jwt"}),
    "RS256 in the header": lambda c: signed({**HEADER, "alg": "RS256"}, c),
    "ES256 in the header": lambda c: signed({**HEADER, "alg": "ES256"}, c),
    "another key": lambda c: signed(HEADER, c, b"x" * 32),
    "the secret itself as key": lambda c: signed(HEADER, c, SECRET.encode()),
    "empty key": lambda c: signed(HEADER, c, b""),
    "jku": lambda c: signed({**HEADER, "jku": "http://127.0.0.1:1/jwks"}, c),
    "x5u": lambda c: signed({**HEADER, "x5u": "http://127.0.0.1:1/cert"}, c),
    "jwk": lambda c: signed({**HEADER, "jwk": {"kty": "oct", "k": "AAAA"}}, c),
    "crit": lambda c: signed({**HEADER, "crit": ["exp"], "exp": 1}, c),
    "unknown kid": lambda c: signed({**HEADER, "kid": "0"}, c),
    "kid is a path": lambda c: signed({**HEADER, "kid": "../../dev/null"}, c, b""),
    "kid is a list": lambda c: signed({**HEADER, "kid": [KEY.id]}, c),
    "no kid": lambda c: signed({"alg": "HS256", "typ": "at+jwt"}, c),
    "typ of another use": lambda c: signed({**HEADER, "typ": "JWT"}, c),
    "type of another use": lambda c: signed(HEADER, {**c, "type": "refresh"}),
    "no exp": lambda c: signed(HEADER, {k: v for k, v in c.items() if k != "exp"}),
    "exp is text": lambda c: signed(HEADER, {**c, "exp": "never"}),
    "no sub": lambda c: signed(HEADER, {k: v for k, v in c.items() if k != "sub"}),
    "sub is a number": lambda c: signed(HEADER, {**c, "sub": 7}),
    "sub is no number": lambda c: signed(HEADER, {**c, "sub": "admin"}),
    "no sid": lambda c: signed(HEADER, {k: v for k, v in c.items() if k != "sid"}),
    "sid is a list": lambda c: signed(HEADER, {**c, "sid": [c["sid"]]}),
    "body is a list": lambda c: signed(HEADER, []),
    "dots": lambda c: "..",
    "four parts": lambda c: "a.b.c.d",
    "not base64": lambda c: "!.!.!",
    "a refresh token": lambda c: "bpr_" + "A" * 43,
    "very long": lambda c: "A" * 100_000 + ".B.C",
    "header is no JSON": lambda c: f"{base64.urlsafe_b64encode(b'{').decode()}.{part(c)}.AAAA",
    "deeply nested header": lambda c: base64.urlsafe_b64encode(b"[" * 900).decode() + ".e30.AAAA",
}


@pytest.mark.requirement("SEC-04", "SEC-05", "SEC-06")
def test_what_is_not_ours_is_refused(app: Flask, token: str) -> None:
    claims = claims_of(token)
    outcomes = {name: outcome(app, forge(claims)) for name, forge in FORGED.items()}
    assert outcomes == dict.fromkeys(FORGED, REFUSED)


@pytest.mark.requirement("SEC-05")
def test_any_changed_character_breaks_the_signature(app: Flask, token: str) -> None:
    head, _, signature = token.split(".")
    changed = part(claims_of(token, sub="1"))
    for text in (f"{head}.{changed}.{signature}", token[:-4] + "AAAA"):
        assert outcome(app, text) == REFUSED


@pytest.mark.requirement("OPS-19")
def test_a_new_key_reads_the_tokens_of_the_one_before(
    app: Flask, keep_app: KeepApp, token: str
) -> None:
    secret = "another secret of the next year, long"
    successor = keep_app(SECRET_KEY=secret, SECRET_KEY_PREVIOUS=(SECRET,))
    assert outcome(successor, token) == (200, "")
    assert outcome(app, new_token(successor)) == REFUSED
    assert outcome(keep_app(SECRET_KEY=secret), token) == REFUSED
