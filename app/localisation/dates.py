"""Dates and times as people write them: ``2026-04-03``, ``3.4.2026``, ``04/03/2026 2:30 PM``.

``04/03/2026`` is two days: the fourth of March and the third of April. With points the day comes
first in every locale (CLDR), with the year in front the month follows it; else only the order that
is known decides.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, time
from zoneinfo import ZoneInfo

DAY_FIRST, MONTH_FIRST = "dayFirst", "monthFirst"
ORDERS = (DAY_FIRST, MONTH_FIRST)
_YEAR_FIRST = re.compile(r"(\d{4})([-./])(\d{1,2})\2(\d{1,2})", re.ASCII)
_YEAR_LAST = re.compile(r"(\d{1,2})([-./])(\d{1,2})\2(\d{4})", re.ASCII)
_TIME = re.compile(
    r"(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,6})\d*)?)?(?: ?([AaPp])\.?[Mm]\.?)?", re.ASCII
)
_PARTS = re.compile(r"(\S+?)(?:[Tt ] *(\d.*?)(?: ?([Zz]|[+-]\d{2}:?\d{2}))?)?", re.ASCII)


class NoDateError(ValueError):
    """What was written is no date; the text says so."""


class AmbiguousDateError(NoDateError):
    """What was written could be two dates."""


def date_readings(text: str) -> Mapping[str, date]:
    """Order of day and month -> the day that ``text`` is in that order; empty for no date."""
    if match := _YEAR_FIRST.fullmatch(text):
        day = _day(match[1], match[3], match[4])
        return {} if day is None else dict.fromkeys(ORDERS, day)
    match = _YEAR_LAST.fullmatch(text)
    if match is None:
        return {}
    first, sign, second, year = match.groups()
    days = {DAY_FIRST: _day(year, second, first)}
    if sign != ".":
        days[MONTH_FIRST] = _day(year, first, second)
    return {order: day for order, day in days.items() if day is not None}


def read_date(text: str, order: str | None = None) -> date:
    """The day that was written, in the ``order`` of day and month where that is known.

    Raises: NoDateError; AmbiguousDateError, it could be two and the order is not known.
    """
    days = date_readings(text.strip())
    if not days:
        raise NoDateError("must be a date such as 2026-12-31")
    if len(set(days.values())) == 1:
        return next(iter(days.values()))
    if order is None:
        both = " or ".join(day.isoformat() for day in days.values())
        raise AmbiguousDateError(f"could be two dates: write {both}")
    return days[order]


def day_of(text: str) -> str:
    """The part of a date and time that is the date."""
    match = _PARTS.fullmatch(text.strip())
    return match[1] if match else text


def read_instant(text: str, zone: ZoneInfo, order: str | None = None) -> datetime:
    """The instant that was written; a day alone is its beginning.

    Args:
        zone: that of texts that name none.
    Raises: NoDateError, also for a time that happens twice in ``zone``; AmbiguousDateError.
    """
    match = _PARTS.fullmatch(text.strip())
    if match is None:
        raise NoDateError("must be a date and time such as 2026-12-31 14:30")
    day = read_date(match[1], order)
    local = datetime.combine(day, _time(match[2]) if match[2] else time())
    if match[3] is None:
        return local_instant(local, zone)
    return datetime.fromisoformat(local.isoformat() + match[3].upper()).astimezone(UTC)


def local_instant(local: datetime, zone: ZoneInfo) -> datetime:
    """A local time as an instant.

    Raises: NoDateError, it happens twice, or is left out, when clocks change.
    """
    first, second = (local.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    if first == second:
        return first
    if first > second:
        raise NoDateError(f"does not exist in {zone.key}, where clocks went forward then")
    earlier, later = (
        local.replace(tzinfo=zone, fold=fold).isoformat(timespec="minutes") for fold in (0, 1)
    )
    raise NoDateError(f"happens twice in {zone.key}: write {earlier} or {later}")


def happens_once(local: datetime, zone: ZoneInfo) -> bool:
    """Whether a local time is one instant."""
    try:
        local_instant(local, zone)
    except NoDateError:
        return False
    return True


def _day(year: str, month: str, day: str) -> date | None:
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        return None


def _time(text: str) -> time:
    match = _TIME.fullmatch(text)
    if match is None:
        raise NoDateError("must be a date and time such as 2026-12-31 14:30")
    hour, minute, second, fraction, half = match.groups()
    hours = int(hour)
    if half is not None:
        if not 1 <= hours <= 12:
            raise NoDateError("must be a date and time such as 2026-12-31 14:30")
        hours = hours % 12 + (12 if half in "pP" else 0)
    try:
        return time(hours, int(minute), int(second or 0), int((fraction or "0").ljust(6, "0")))
    except ValueError:
        raise NoDateError("must be a date and time such as 2026-12-31 14:30") from None
