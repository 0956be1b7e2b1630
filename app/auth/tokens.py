"""Access tokens: JWTs of 15 minutes, signed with HS256 by a key that ``kid`` names."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any

import jwt

from app.clock import unix_seconds
from app.config import Config
from app.errors import InvalidCredentialsError, TokenExpiredError
from app.keys import derived_keys

LIFETIME_SECONDS = 900
_ALGORITHM = "HS256"
_TYPE = "at+jwt"
# Ours have these and no others: no ``jku``, ``x5u``, ``jwk`` or ``crit`` is ever looked at.
_HEADER = frozenset(("alg", "typ", "kid"))
_CLAIMS = ("sub", "iat", "exp", "jti", "sid")
_MAXIMUM_LENGTH = 2_000


@dataclass(frozen=True, slots=True)
class Claims:
    """What an access token says: whose it is, of which session, and until when."""

    user_id: int
    session_key: str
    expires: int


class AccessTokens:
    """Makes and reads access tokens."""

    def __init__(self, config: Config) -> None:
        keys = derived_keys(config, "access-token")
        self._current = keys[0]
        self._keys = {key.id: key.secret for key in keys}

    def make(self, user_id: int, session_key: str) -> str:
        """A token of ``user_id`` in the session, good from now on for ``LIFETIME_SECONDS``."""
        now = int(unix_seconds())
        claims = {
            "sub": str(user_id),
            "iat": now,
            "exp": now + LIFETIME_SECONDS,
            "jti": secrets.token_urlsafe(12),
            "sid": session_key,
        }
        header = {"typ": _TYPE, "kid": self._current.id}
        return jwt.encode(claims, self._current.secret, _ALGORITHM, header)

    def read(self, token: str) -> Claims:
        """The claims of ``token``, its signature checked.

        Raises: TokenExpiredError, it was ours; InvalidCredentialsError, it is none of ours.
        """
        try:
            claims = jwt.decode(
                token,
                self._key_of(token),
                algorithms=[_ALGORITHM],
                # A worker whose clock is ahead may have made it: ``iat`` is not compared.
                options={"require": list(_CLAIMS), "verify_iat": False},
            )
            return Claims(int(claims["sub"]), _text(claims["sid"]), int(claims["exp"]))
        except jwt.ExpiredSignatureError as error:
            raise TokenExpiredError("The access token has expired: refresh it.") from error
        except (jwt.PyJWTError, ValueError, TypeError) as error:
            raise InvalidCredentialsError("The access token is not valid.") from error

    def _key_of(self, token: str) -> bytes:
        if len(token) > _MAXIMUM_LENGTH:
            raise jwt.InvalidTokenError("too long")
        header: dict[str, Any] = jwt.get_unverified_header(token)
        if header.keys() != _HEADER or header["typ"] != _TYPE or header["alg"] != _ALGORITHM:
            raise jwt.InvalidTokenError("a header of another kind")
        key = self._keys.get(_text(header["kid"]))
        if key is None:
            raise jwt.InvalidTokenError("an unknown key")
        return key


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise jwt.InvalidTokenError("not a text")
    return value
