"""Keys for each purpose, derived from SECRET_KEY, and sealing: secrets that must be read again.

What is sealed lies in the database encrypted and authenticated; no two uses share a key.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Iterable
from dataclasses import dataclass

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from flask import Flask

from app.config import Config
from app.extensions import Extension


@dataclass(frozen=True, slots=True)
class Key:
    """A derived key of 32 bytes; ``id`` is public and tells it from those before and after it."""

    id: str
    secret: bytes


def derived_keys(config: Config, purpose: str) -> tuple[Key, ...]:
    """The key in use for ``purpose``, then those of ``SECRET_KEY_PREVIOUS``."""
    return tuple(
        _derive(secret, purpose) for secret in (config.SECRET_KEY, *config.SECRET_KEY_PREVIOUS)
    )


def _derive(secret: str, purpose: str) -> Key:
    key = hmac.digest(secret.encode(), b"business-platform/" + purpose.encode(), "sha256")
    return Key(hashlib.sha256(key).hexdigest()[:12], key)


class UnsealError(Exception):
    """A sealed text that was altered, or sealed with a key that is no longer known."""


sealer = Extension[MultiFernet]("sealer")


def init_app(app: Flask, config: Config) -> None:
    """Give ``app`` its sealer; the keys of ``SECRET_KEY_PREVIOUS`` still open."""
    sealer.bind(app, sealer_of(key.secret for key in derived_keys(config, "sealing")))


def sealer_of(secrets: Iterable[bytes]) -> MultiFernet:
    """What seals with the first of these keys of 32 bytes, and opens with any of them."""
    return MultiFernet([Fernet(base64.urlsafe_b64encode(secret)) for secret in secrets])


def seal(content: bytes) -> str:
    """``content`` as text that only this service can read."""
    return sealer.current.encrypt(content).decode()


def unseal(sealed: str) -> bytes:
    """What was sealed.

    Raises: UnsealError, it was altered or its key is gone.
    """
    try:
        return sealer.current.decrypt(sealed)
    except (InvalidToken, ValueError) as error:
        raise UnsealError("the sealed text cannot be opened") from error
