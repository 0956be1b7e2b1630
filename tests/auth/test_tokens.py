"""Access tokens: ours, and what others would like to pass for one."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from typing import Any

import jwt
import pytest
import time_machine

from app.auth.tokens import LIFETIME_SECONDS, AccessTokens, Claims
from app.clock import utc_now
from app.config import Config
from app.errors import InvalidCredentialsError, TokenExpiredError
from app.keys import derived_keys

CONFIG = Config(SECRET_KEY="not-a-secret-only-for-the-tests-of-this-run")
TOKENS = AccessTokens(CONFIG)
KEY = derived_keys(CONFIG, "access-token")[0]
HEADER = {"alg": "HS256", "typ": "at+jwt", "kid": KEY.id}


def part(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def claims(**changes: Any) -> dict[str, Any]:
    made = jwt.decode(TOKENS.make(7, "session"), options={"verify_signature": False})
    return {name: value for name, value in {**made, **changes}.items() if value is not ...}


def signed(header: dict[str, Any], body: dict[str, Any], key: bytes = KEY.secret) -> str:
    """A token with a right HMAC over whatever header and body it has."""
    text = f"{part(header)}.{part(body)}"
    digest = jwt.algorithms.HMACAlgorithm(jwt.algorithms.HMACAlgorithm.SHA256).sign(
        text.encode(), key
    )
    return f"{text}.{base64.urlsafe_b64encode(digest).decode().rstrip('=')}"


@pytest.mark.requirement("SEC-08")
def test_a_token_says_whose_it_is_and_until_when() -> None:
    token = TOKENS.make(7, "session")
    body = claims()
    assert body.keys() == {"sub", "iat", "exp", "jti", "sid"}
    assert body["exp"] - body["iat"] == LIFETIME_SECONDS == 900
    found = TOKENS.read(token)
    assert (found.user_id, found.session_key) == (7, "session")
    assert jwt.get_unverified_header(token) == HEADER


def test_no_two_tokens_are_the_same() -> None:
    assert TOKENS.make(7, "session") != TOKENS.make(7, "session")


def test_a_token_ends_after_its_time_to_the_second() -> None:
    with time_machine.travel("2026-01-01T00:00:00Z", tick=False) as clock:
        token = TOKENS.make(7, "session")
        clock.shift(899)
        assert TOKENS.read(token).user_id == 7
        clock.shift(1)
        with pytest.raises(TokenExpiredError):
            TOKENS.read(token)


@pytest.mark.requirement("OPS-05")
def test_a_token_of_a_worker_whose_clock_is_ahead_is_read() -> None:
    with time_machine.travel("2026-01-01T00:02:00Z", tick=False):
        token = TOKENS.make(7, "session")
    with time_machine.travel("2026-01-01T00:00:00Z", tick=False):
        assert TOKENS.read(token).user_id == 7


def test_a_self_made_token_with_the_right_key_is_read() -> None:
    assert TOKENS.read(signed(HEADER, claims())) == Claims(7, "session", claims()["exp"])


MADE_AT = utc_now()
FORGED = {
    "no signature": f"{part(HEADER)}.{part(claims())}.",
    "signature stripped": f"{part(HEADER)}.{part(claims())}",
    "alg none": f"{part({**HEADER, 'alg': 'none'})}.{part(claims())}.",
    "alg None": f"{part({**HEADER, 'alg': 'None'})}.{part(claims())}.",
    "alg nOnE, signed": signed({**HEADER, "alg": "nOnE"}, claims()),
    "HS384 in the header": signed({**HEADER, "alg": "HS384"}, claims()),
    "HS512": jwt.encode(claims(), KEY.secret * 2, "HS512", {"kid": KEY.id, "typ": "at+jwt"}),
    "RS256 in the header": signed({**HEADER, "alg": "RS256"}, claims()),
    "ES256 in the header": signed({**HEADER, "alg": "ES256"}, claims()),
    "another key": signed(HEADER, claims(), b"x" * 32),
    "the secret itself as key": signed(HEADER, claims(), CONFIG.SECRET_KEY.encode()),
    "empty key": signed(HEADER, claims(), b""),
    "jku": signed({**HEADER, "jku": "http://127.0.0.1:1/jwks"}, claims()),
    "x5u": signed({**HEADER, "x5u": "http://127.0.0.1:1/cert"}, claims()),
    "jwk": signed({**HEADER, "jwk": {"kty": "oct", "k": "AAAA"}}, claims()),
    "crit": signed({**HEADER, "crit": ["exp"], "exp": 1}, claims()),
    "unknown kid": signed({**HEADER, "kid": "0"}, claims()),
    "kid is a path": signed({**HEADER, "kid": "../../dev/null"}, claims(), b""),
    "kid is a list": signed({**HEADER, "kid": [KEY.id]}, claims()),
    "no kid": signed({"alg": "HS256", "typ": "at+jwt"}, claims()),
    "typ of another use": signed({**HEADER, "typ": "JWT"}, claims()),
    "no exp": signed(HEADER, claims(exp=...)),
    "exp is text": signed(HEADER, claims(exp="never")),
    "exp is infinite": signed(HEADER, claims(exp=float("inf"))),
    "no sub": signed(HEADER, claims(sub=...)),
    "sub is a number": signed(HEADER, claims(sub=7)),
    "sub is no number": signed(HEADER, claims(sub="admin")),
    "no sid": signed(HEADER, claims(sid=...)),
    "sid is a list": signed(HEADER, claims(sid=["session"])),
    "no jti": signed(HEADER, claims(jti=...)),
    "body is a list": f"{part(HEADER)}.{part([])}.AAAA",
    "empty": "",
    "dots": "..",
    "four parts": "a.b.c.d",
    "not base64": "!.!.!",
    "a refresh token": "bpr_" + "A" * 43,
    "very long": "A" * 100_000 + ".B.C",
    "header is no JSON": f"{base64.urlsafe_b64encode(b'{').decode()}.{part(claims())}.AAAA",
    "deeply nested header": base64.urlsafe_b64encode(b"[" * 900).decode() + ".e30.AAAA",
}


@pytest.mark.requirement("SEC-04", "SEC-05", "SEC-06")
@pytest.mark.parametrize("token", FORGED.values(), ids=FORGED.keys())
def test_what_is_not_ours_is_refused(token: str) -> None:
    # A run may take longer than a token lives: none of these is to be refused for its age.
    with time_machine.travel(MADE_AT), pytest.raises(InvalidCredentialsError):
        TOKENS.read(token)


@pytest.mark.requirement("SEC-05")
def test_any_changed_character_breaks_the_signature() -> None:
    token = TOKENS.make(7, "session")
    head, _, signature = token.split(".")
    for text in (f"{head}.{part({**claims(), 'sub': '1'})}.{signature}", token[:-4] + "AAAA"):
        with pytest.raises(InvalidCredentialsError):
            TOKENS.read(text)


@pytest.mark.requirement("OPS-19")
def test_a_new_key_reads_the_tokens_of_the_one_before() -> None:
    old = AccessTokens(CONFIG)
    changed = replace(CONFIG, SECRET_KEY="n" * 40, SECRET_KEY_PREVIOUS=(CONFIG.SECRET_KEY,))
    new = AccessTokens(changed)
    assert new.read(old.make(7, "session")).user_id == 7
    with pytest.raises(InvalidCredentialsError):
        old.read(new.make(7, "session"))
    forgotten = AccessTokens(replace(changed, SECRET_KEY_PREVIOUS=()))
    with pytest.raises(InvalidCredentialsError):
        forgotten.read(old.make(7, "session"))
