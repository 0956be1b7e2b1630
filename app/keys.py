"""Keys for each purpose, derived from SECRET_KEY, so that no two uses share one."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass

from app.config import Config


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
