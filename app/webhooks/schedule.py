"""When a delivery that failed is tried again."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

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
        except ValueError:
            return timedelta(0)
        wait = (at if at.tzinfo else at.replace(tzinfo=UTC)) - now
    return max(timedelta(0), min(wait, LONGEST_RETRY_AFTER))
