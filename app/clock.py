"""The only clock: everything that asks what time it is asks here, so that tests can stop it."""

from __future__ import annotations

import time
from datetime import UTC, date, datetime


def utc_now() -> datetime:
    """The current instant as an aware UTC datetime, cut to the millisecond that columns keep."""
    return datetime.fromtimestamp(time.time_ns() // 1_000_000 / 1000, UTC)


def today() -> date:
    """The current calendar day in UTC."""
    return datetime.now(UTC).date()


def unix_seconds() -> float:
    """The current instant as seconds since 1970: what tokens carry, and cheap to ask for."""
    return time.time()
