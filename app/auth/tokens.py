"""Access tokens by Flask-JWT-Extended: 15 minutes, HS256, the key named by ``kid`` (ADR 0003)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from flask import Flask, Response, g, request
from flask_jwt_extended import (
    JWTManager,
    create_access_token,
    decode_token,
    get_current_user,
    verify_jwt_in_request,
)
from jwt import InvalidTokenError
from sqlalchemy import Engine

from app.auth.credentials import VerifiedCaller, find_by_session
from app.config import Config
from app.errors import (
    ApiError,
    InvalidCredentialsError,
    TokenExpiredError,
    TokenMissingError,
    TokenRevokedError,
)
from app.sealing import derived_keys

LIFETIME_SECONDS = 900
# How far the clocks of two hosts may be apart (RFC 7519, 4.1.4).
LEEWAY_SECONDS = 60
_ALGORITHM = "HS256"
_TYPE = "at+jwt"
# Ours have these and no others: no ``jku``, ``x5u``, ``jwk`` or ``crit`` is ever looked at.
_HEADER = frozenset(("alg", "typ", "kid"))

ErrorHandler = Callable[[ApiError], Response]


def init_app(app: Flask, config: Config, engine: Engine, answer: ErrorHandler) -> None:
    """Let Flask-JWT-Extended make and check the tokens of ``app``.

    Args:
        engine: where sessions are looked up, with every token that is not remembered.
        answer: makes the response to an error.
    """
    app.config.update(
        JWT_ALGORITHM=_ALGORITHM,
        JWT_TOKEN_LOCATION=["headers"],
        JWT_ACCESS_TOKEN_EXPIRES=timedelta(seconds=LIFETIME_SECONDS),
        JWT_DECODE_LEEWAY=LEEWAY_SECONDS,
        JWT_ENCODE_NBF=False,
    )
    manager = JWTManager(app)
    _use_keys(manager, config)
    _use_sessions(manager, engine)
    _answer_errors(manager, answer)


def make_access_token(user_id: int, session_key: str) -> str:
    """A token of ``user_id`` in the session, good from now on for ``LIFETIME_SECONDS``."""
    token: str = create_access_token(str(user_id), additional_claims={"sid": session_key})
    return token


def verify_token(token: str, engine: Engine) -> VerifiedCaller:
    """Whose the bearer ``token`` of this request is: signature, age, session and rights checked.

    Raises: TokenRevokedError; jwt.PyJWTError or JWTExtendedException, which the error loaders
        answer with 401.
    """
    # A scheme may be written in any case (RFC 9110, 11.1); the library knows one.
    request.environ["HTTP_AUTHORIZATION"] = f"Bearer {token}"
    verified = verify_jwt_in_request()
    if verified is None:  # the library looks at no token of an OPTIONS request
        claims = decode_token(token)
        if claims["type"] != "access":
            raise InvalidTokenError("a token of another use")
        session = _session_of(claims, engine)
    else:
        claims, session = verified[1], get_current_user()
    return replace(session, expires=min(session.expires, claims["exp"] + LEEWAY_SECONDS))


def _use_keys(manager: JWTManager, config: Config) -> None:
    keys = derived_keys(config, "access-token")
    secrets = {key.id: key.secret for key in keys}

    @manager.encode_key_loader
    def encode_key(identity: object) -> bytes:
        return keys[0].secret

    @manager.additional_headers_loader
    def headers(identity: object) -> dict[str, str]:
        return {"typ": _TYPE, "kid": keys[0].id}

    @manager.decode_key_loader
    def decode_key(header: Mapping[str, Any], claims: Mapping[str, Any]) -> bytes:
        if header.keys() != _HEADER or header["typ"] != _TYPE:
            raise InvalidTokenError("a header of another kind")
        secret = secrets.get(header["kid"]) if isinstance(header["kid"], str) else None
        if secret is None:
            raise InvalidTokenError("an unknown key")
        return secret


def _use_sessions(manager: JWTManager, engine: Engine) -> None:
    @manager.token_in_blocklist_loader
    def has_ended(header: Mapping[str, Any], claims: Mapping[str, Any]) -> bool:
        try:
            g.session_of_token = _session_of(claims, engine)
        except TokenRevokedError:
            return True
        return False

    @manager.user_lookup_loader
    def caller(header: Mapping[str, Any], claims: Mapping[str, Any]) -> VerifiedCaller:
        # One statement has told both, whether the session lives and what its user may.
        session: VerifiedCaller = g.pop("session_of_token")
        return session


def _session_of(claims: Mapping[str, Any], engine: Engine) -> VerifiedCaller:
    session_key = claims.get("sid")
    if not claims["sub"].isdecimal() or not isinstance(session_key, str) or "exp" not in claims:
        raise InvalidTokenError("a claim is missing")
    return find_by_session(engine, int(claims["sub"]), session_key)


def _answer_errors(manager: JWTManager, answer: ErrorHandler) -> None:
    @manager.expired_token_loader
    def expired(header: object, claims: object) -> Response:
        return answer(TokenExpiredError("The access token has expired: refresh it."))

    @manager.revoked_token_loader
    def revoked(header: object, claims: object) -> Response:
        return answer(TokenRevokedError("The session has ended: sign in again."))

    @manager.invalid_token_loader
    def invalid(reason: str) -> Response:
        return answer(InvalidCredentialsError("The access token is not valid."))

    @manager.unauthorized_loader
    def missing(reason: str) -> Response:
        return answer(TokenMissingError("Sign in: send a bearer token or an API key."))
