"""The only clock: everything that asks what time it is asks here, so that tests can stop it.

What day it is depends on where one is: today is the organisation's, app/settings/days.py.
"""

from __future__ import annotations

import time
from datetime import UTC, date, datetime, time as time_of_day, timedelta
from zoneinfo import ZoneInfo


def utc_now() -> datetime:
    """The current instant as an aware UTC datetime, cut to the millisecond that columns keep."""
    return datetime.fromtimestamp(time.time_ns() // 1_000_000 / 1000, UTC)


def unix_seconds() -> float:
    """The current instant as seconds since 1970: what tokens carry, and cheap to ask for."""
    return time.time()


def local_day(instant: datetime, local: ZoneInfo) -> date:
    """The day on which an instant falls in a time zone."""
    return instant.astimezone(local).date()


def local_start(day: date, local: ZoneInfo, hour: int = 0) -> datetime:
    """The instant in UTC at which a day begins in a time zone, or an hour of it.

    A day whose midnight is skipped begins with the change of the clocks, one that has two midnights
    with the first. The first and the last day of the calendar are those of UTC.
    """
    try:
        return datetime.combine(day, time_of_day(hour), local).astimezone(UTC)
    except OverflowError:
        return datetime.combine(day, time_of_day(), UTC)


def day_after(day: date) -> date:
    """The next day; behind the last day of the calendar there is none."""
    return day if day == date.max else day + timedelta(days=1)
