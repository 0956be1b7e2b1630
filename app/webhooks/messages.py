"""A message to an endpoint: signed, sent, what came of it, and when one that failed is tried again.

Secrets and signatures are those of Standard Webhooks, which ready-made verifiers know.
"""

from __future__ import annotations

import base64
import random
import secrets
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from standardwebhooks import Webhook

from app.clock import utc_now
from app.outbound.addresses import OutboundError
from app.sealing import seal

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


if TYPE_CHECKING:
    from app.outbound.client import Client

# Of the answer, this much is kept to be looked at.
KEPT_CHARACTERS = 1024
# A message that was held this long is not sent any more: its lease might run out meanwhile.
HELD_SECONDS = 30.0
GONE = 410


@dataclass(frozen=True, slots=True)
class Message:
    """A delivery that was taken: everything needed to send it without the database."""

    delivery_id: int
    leased_until: datetime
    endpoint_id: int
    url: str
    secrets: tuple[str, ...] = field(repr=False)
    message_id: str
    body: str
    attempts: int
    is_failing: bool
    taken_at: float = field(default_factory=time.monotonic)


@dataclass(frozen=True, slots=True)
class Outcome:
    """One attempt; without ``was_sent`` there was none, and the delivery stays as it was."""

    message: Message
    at: datetime
    was_sent: bool = True
    duration_seconds: float = 0.0
    headers: Mapping[str, str] = field(default_factory=dict)
    status: int | None = None
    response: str | None = None
    error: str | None = None
    retry_after: timedelta = timedelta(0)

    @property
    def is_success(self) -> bool:
        return self.status is not None and 200 <= self.status < 300

    @property
    def is_gone(self) -> bool:
        """The receiver says that it wants nothing any more."""
        return self.status == GONE

    @classmethod
    def unsent(cls, message: Message) -> Outcome:
        """A message that is given back."""
        return cls(message, utc_now(), was_sent=False)


def envelope(name: str, timestamp: str, payload: str) -> str:
    """The body: ``payload`` is the text of ``data`` as the event has it."""
    return f'{{"type":"{name}","timestamp":"{timestamp}","data":{payload}}}'


def send_message(client: Client, message: Message) -> Outcome:
    """Send one message; what a receiver does is told, and raises nothing."""
    if time.monotonic() - message.taken_at > HELD_SECONDS:
        return Outcome.unsent(message)
    at = utc_now()
    if not message.secrets:  # nobody could tell that it is from us
        return Outcome(message, at, error="The secret of the endpoint cannot be read.")
    began = time.monotonic()
    headers: Mapping[str, str] = {}
    problem: str | None = None
    answered: dict[str, Any] = {}
    try:
        headers = signed_headers(message.secrets, message.message_id, at, message.body)
        answer = client.send("POST", message.url, headers, message.body.encode())
    except OutboundError as error:
        problem = str(error)
    else:
        answered = {
            "status": answer.status,
            "response": _readable(answer.body),
            "retry_after": retry_after(answer.headers, at),
        }
        if 300 <= answer.status < 400:
            problem = "Redirects are not followed."
    seconds = time.monotonic() - began
    return Outcome(
        message, at, duration_seconds=seconds, headers=headers, error=problem, **answered
    )


def _readable(body: bytes) -> str:
    """The beginning of an answer as text that both databases take."""
    text = body[:KEPT_CHARACTERS].decode("utf-8", "replace")
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}")[:KEPT_CHARACTERS]


# Receivers that were down together must not all be called in the same second.
JITTER = 0.1
# A receiver may ask for more time, but not keep a message for ever.
LONGEST_RETRY_AFTER = timedelta(hours=24)


def delay_after(failures: int, schedule: Sequence[int]) -> timedelta | None:
    """How long to wait after this many failed attempts; None when there is no further one."""
    if failures > len(schedule):
        return None
    return timedelta(seconds=schedule[failures - 1] * (1 + random.uniform(0, JITTER)))


def retry_after(headers: Mapping[str, str], now: datetime) -> timedelta:
    """The time a receiver asks for by ``Retry-After``: seconds, or a date; else 0."""
    text = headers.get("retry-after", "").strip()
    if text.isascii() and text.isdigit():
        # Longer texts are no numbers that anybody means, and too long for an integer.
        wait = timedelta(seconds=int(text)) if len(text) < 9 else LONGEST_RETRY_AFTER
    else:
        try:
            at = parsedate_to_datetime(text)
        except (ValueError, OverflowError):  # the second: a number of many digits
            return timedelta(0)
        wait = (at if at.tzinfo else at.replace(tzinfo=UTC)) - now
    return max(timedelta(0), min(wait, LONGEST_RETRY_AFTER))
