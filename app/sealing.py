"""Sealing: secrets that must be read again lie in the database encrypted and authenticated."""

from __future__ import annotations

import base64

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
    keys = derived_keys(config, "sealing")
    sealer.bind(app, MultiFernet([Fernet(base64.urlsafe_b64encode(key.secret)) for key in keys]))


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
