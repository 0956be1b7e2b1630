"""Secrets and signatures by Standard Webhooks, which ready-made verifiers know."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from standardwebhooks import Webhook

from app.sealing import seal, unseal

SECRET_BYTES = 32
USER_AGENT = "BusinessPlatform-Webhooks/1"


def new_secret() -> str:
    """``whsec_`` and 32 random bytes in base64."""
    return "whsec_" + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def new_message_id() -> str:
    """The id of a message: the same on every attempt, so that receivers know it again."""
    return f"msg_{secrets.token_hex(16)}"


def sealed_secret(secret: str) -> str:
    """A secret as it lies in the database."""
    return seal(secret.encode())


def open_secret(sealed: str) -> str:
    """What ``sealed_secret`` sealed.

    Raises: UnsealError.
    """
    return unseal(sealed).decode()


def signed_headers(
    secrets_: Iterable[str], message_id: str, at: datetime, body: str
) -> Mapping[str, str]:
    """The headers of one attempt; a signature for each secret, the newest first."""
    at = at.astimezone(UTC)
    signatures = [Webhook(secret).sign(message_id, at, body) for secret in secrets_]
    return {
        "Content-Type": "application/json",
        "User-Agent": USER_AGENT,
        "webhook-id": message_id,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": " ".join(signatures),
    }
