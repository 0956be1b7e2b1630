"""Credentials of a request: read from its headers, checked for their form, not yet believed."""

from __future__ import annotations

import base64
import binascii
import re
import secrets
import zlib
from typing import Literal, NamedTuple

from app.errors import ApiKeyInvalidError, TokenMissingError

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_KEY = re.compile(r"bpk_live_([0-9A-Za-z]{8})_([0-9A-Za-z]{43})([0-9A-Za-z]{6})")
_PREFIX = "bpk_live_"
# A key is refused for its checksum before the database is asked; scanners find leaked ones by it.
_CHECKSUM_DIGITS = 6


class Credential(NamedTuple):
    """``secret`` is the access token or the API key."""

    kind: Literal["token", "key"]
    secret: str


def read_authorization(header: str, *, basic: bool) -> Credential:
    """The credential in an ``Authorization`` header.

    Args:
        basic: whether this address takes Basic, with an API key as the password.
    Raises: TokenMissingError, nothing that can be read is in it.
    """
    scheme, _, rest = header.strip().partition(" ")
    rest = rest.strip()
    match scheme.lower():
        case "bearer" if rest and " " not in rest and rest.isascii():
            return Credential("token", rest)
        case "basic" if basic:
            return Credential("key", _basic_password(rest))
    offered = "Bearer or Basic" if basic else "Bearer"
    raise TokenMissingError(f"The Authorization header cannot be read: {offered} is expected.")


def _basic_password(encoded: str) -> str:
    try:
        _, colon, password = base64.b64decode(encoded, validate=True).decode().partition(":")
    except (binascii.Error, ValueError) as error:
        raise TokenMissingError("The Basic credentials cannot be read.") from error
    if not colon:
        raise TokenMissingError("The Basic credentials have no colon.")
    return password


class NewKey(NamedTuple):
    """A fresh API key: shown once, and its public prefix."""

    key: str
    prefix: str


def new_api_key() -> NewKey:
    """``bpk_live_`` + 8 public characters + ``_`` + 256 random bits + checksum, base 62."""
    prefix = _PREFIX + _base62(secrets.randbits(64), 8)
    body = f"{prefix}_{_base62(secrets.randbits(256), 43)}"
    return NewKey(body + _checksum(body), prefix)


def check_api_key_form(key: str) -> None:
    """Refuse what cannot be a key of ours.

    Raises: ApiKeyInvalidError, wrong form or checksum.
    """
    if not _KEY.fullmatch(key) or _checksum(key[:-_CHECKSUM_DIGITS]) != key[-_CHECKSUM_DIGITS:]:
        raise ApiKeyInvalidError("The API key is not valid.")


def _checksum(text: str) -> str:
    return _base62(zlib.crc32(text.encode()), _CHECKSUM_DIGITS)


def _base62(number: int, length: int) -> str:
    """The last ``length`` digits; 43 of them hold 256 bits."""
    digits = []
    for _ in range(length):
        number, digit = divmod(number, 62)
        digits.append(_DIGITS[digit])
    return "".join(reversed(digits))
