"""What a limit is, and what counting against it answers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from app.config import ConfigError

_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400}
_FORM = re.compile(r"\s*([1-9]\d{0,8})\s*/\s*(second|minute|hour|day)s?\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Rate:
    """At most ``amount`` requests in any ``seconds`` seconds."""

    amount: int
    seconds: int

    @classmethod
    def parse(cls, text: str, name: str = "limit") -> Rate:
        """``100/minute``.

        Raises: ConfigError, naming the setting ``name``.
        """
        found = _FORM.fullmatch(text)
        if not found:
            raise ConfigError(f"{name} must look like 100/minute, not {text!r}")
        return cls(int(found[1]), _SECONDS[found[2].lower()])


class Verdict(NamedTuple):
    """Whether a request may pass, and what the RateLimit headers say of it.

    ``reset`` is in whole seconds: until the oldest counted request leaves the window, or for a
    refused one until it would pass. ``epoch`` is the security epoch where the store knows it.
    """

    allowed: bool
    limit: int
    remaining: int
    reset: int
    epoch: int | None = None


class LimitStore(Protocol):
    """Where requests are counted."""

    def hit(self, bucket: str, rate: Rate, cost: int = 1) -> Verdict:
        """Count ``cost`` requests when all of them fit, else none; 0 only looks."""
