"""Passwords: argon2id hashes, and which new ones are good enough."""

from __future__ import annotations

import base64
import importlib
import threading
import unicodedata
from collections.abc import Callable
from functools import cache
from typing import Any

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from flask import Flask

from app.config import Config
from app.errors import ValidationError
from app.extensions import Extension

MINIMUM_LENGTH = 12
# Above this no list of common passwords reaches, and to estimate one takes long.
_ESTIMATED_LENGTH = 40
# Passwords that an attacker's first hundred thousand guesses contain are common ones.
_MINIMUM_GUESSES = 10**5
# Each hash takes 64 MiB while it is computed.
_AT_THE_SAME_TIME = 2


class Passwords:
    """Hashes and checks passwords; no more than a few at the same time."""

    def __init__(self, hasher: PasswordHasher) -> None:
        self._hasher = hasher
        self._slots = threading.BoundedSemaphore(_AT_THE_SAME_TIME)
        salt, digest = (
            base64.b64encode(bytes(size)).decode().rstrip("=")
            for size in (hasher.salt_len, hasher.hash_len)
        )
        # Takes as long to check as any other, and no password fits.
        self._dummy = (
            f"$argon2id$v=19$m={hasher.memory_cost},t={hasher.time_cost},p={hasher.parallelism}"
            f"${salt}${digest}"
        )

    def hash(self, password: str) -> str:
        """The argon2id hash of ``password``, with its parameters."""
        with self._slots:
            return self._hasher.hash(_normal(password))

    def is_right(self, password: str, hashed: str | None) -> bool:
        """Whether ``password`` fits; without a hash, False after the same time."""
        with self._slots:
            try:
                self._hasher.verify(hashed or self._dummy, _normal(password))
            except (VerificationError, InvalidHashError):
                return False
        return hashed is not None

    def is_outdated(self, hashed: str) -> bool:
        """Whether the hash was made with other parameters than today's."""
        return self._hasher.check_needs_rehash(hashed)


passwords = Extension[Passwords]("passwords")


def init_app(app: Flask, config: Config) -> None:
    """Give ``app`` its passwords; in tests hashing is cheap."""
    hasher = (
        PasswordHasher(time_cost=1, memory_cost=1024, parallelism=1)
        if config.TESTING
        else PasswordHasher()
    )
    passwords.bind(app, Passwords(hasher))


def check_new_password(password: str, *own_names: str | None, field: str = "password") -> None:
    """Refuse a password that is short or common, or hardly more than the owner's name.

    Raises: ValidationError, on ``field``.
    """
    if len(password) < MINIMUM_LENGTH:
        raise ValidationError([(field, f"must have at least {MINIMUM_LENGTH} characters")])
    if len(password) > _ESTIMATED_LENGTH:
        return
    names = [name for name in own_names if name]
    if _estimate()(password, user_inputs=names)["guesses"] < _MINIMUM_GUESSES:
        raise ValidationError([(field, "is too common: choose one that nobody guesses")])


@cache
def _estimate() -> Callable[..., dict[str, Any]]:
    """zxcvbn, loaded when the first password is set: its word lists take 14 MB."""
    estimate: Callable[..., dict[str, Any]] = importlib.import_module("zxcvbn").zxcvbn
    return estimate


def _normal(password: str) -> bytes:
    # The same password typed on another keyboard may be composed of other characters (NFKC).
    return unicodedata.normalize("NFKC", password).encode("utf-8", "surrogatepass")
