"""Sealing: secrets that must be read again lie in the database encrypted and authenticated."""

from __future__ import annotations

import base64
from collections.abc import Iterable

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from flask import Flask

from app.config import Config
from app.extensions import Extension
from app.keys import derived_keys


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
