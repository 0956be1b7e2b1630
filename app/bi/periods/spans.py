"""Spans of days: half-open, in calendar units, and what day it is."""

from __future__ import annotations

import calendar
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from app.clock import local_start

GRAINS = ("day", "week", "month", "quarter", "half", "year")
# What comes again: days of the week, hours of the day, months whatever their year.
CYCLES = ("weekday", "hour", "season")
MONTHS = {"month": 1, "quarter": 3, "half": 6, "year": 12}


# Of years beyond these no question is read: what is reckoned from them would leave the calendar.
EARLIEST_YEAR, LATEST_YEAR = 1000, 9998


@dataclass(frozen=True)
class Period:
    """Days from ``start`` up to, not including, ``end``; None where it is open."""

    start: date | None
    end: date | None
    label: str
    grain: str | None = None
    has_year: bool = True  # whether its year was; a month alone is the last one of that name
    weekday: bool = False  # the latest one of that name, or of what lies ahead the next
    rolling: int = 0  # "the last 4 quarters": how many of the units that the label names
    hours: tuple[int, int] | None = None  # of the first day and of the last: "this morning"

    def this_year(self, today: date) -> Period:
        """The month of this year, the weekday to come, where no more was said."""
        if self.weekday and (self.end or self.start or today) <= today:
            start, end = (d and d + timedelta(days=7) for d in (self.start, self.end))
            is_day = self.grain == "day" or self.hours is not None
            label = f"{start:%A}, {start}" if is_day else f"the weekend of {start}"
            label = label if start else f"before {end}"
            return replace(self, start=start, end=end, label=label, weekday=False)
        if self.has_year or (self.start or self.end or today).year >= today.year:
            return self
        start, end = (None if d is None else add_months(d, 12) for d in (self.start, self.end))
        if start is not None and end is not None and self.grain is None:
            label = f"from {start} to {end - timedelta(days=1)}"
        elif start is None:
            label = f"before {end}"
        elif end is None:
            label = f"since {start}"
        elif self.grain == "day":
            label = str(start)
        else:
            label = self.label.replace(str(start.year - 1), str(start.year))
        return Period(start, end, label, self.grain)

    def since(self, start: date | None) -> Period:
        """From one of its ends on."""
        return Period(start, None, f"since {start}", has_year=self.has_year)

    def earlier(self, unit: str) -> Period | None:
        """The same days one unit earlier: of May 2026 and ``year``, May 2025."""
        if self.start is None or self.end is None or self.hours is not None:
            return None
        start, end = step(self.start, unit, -1), step(self.end, unit, -1)
        if unit in MONTHS and self.end.day == 1 and self.start.day == 1:
            end = add_months(self.end, -MONTHS[unit])
        label = f"the {unit} before" if self.grain == unit else f"a {unit} earlier"
        return Period(start, end, label, self.grain)

    def whole(self, grain: str, today: date) -> Period | None:
        """The last so many whole units, without the one that runs; None where others are meant."""
        if not self.rolling or not self.label.endswith(f" {grain}s") or grain == "day":
            return None
        end = unit_start(today, grain)
        return replace(self, start=step(end, grain, -self.rolling), end=end)

    def before(self) -> Period | None:
        """The period of the same kind just before."""
        if self.start is None or self.end is None or self.hours is not None:
            return None
        if self.grain in MONTHS:
            start = add_months(self.start, -MONTHS[self.grain])
        else:
            start = self.start - (self.end - self.start)
        return Period(start, self.start, f"the {self.grain or 'period'} before", self.grain)


@dataclass(frozen=True)
class Calendar:
    """What day it is, and the first month of the fiscal year."""

    today: date
    fiscal_month: int = 1
    zone: str = "UTC"


def midnight(day: date, zone: str, hour: int = 0) -> str:
    """The instant at which a day, or an hour of it, begins in a time zone, as OData writes it."""
    return _written(local_start(day, ZoneInfo(zone), hour))


def _written(moment: datetime) -> str:
    """An instant as OData writes it; ``%Y`` would leave out the zeros of early years."""
    return f"{moment.replace(tzinfo=None).isoformat(timespec='seconds')}Z"


def add_months(day: date, months: int) -> date:
    """The same day so many months later, or the last of that month."""
    index = day.year * 12 + day.month - 1 + months
    year, month = divmod(index, 12)
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


def unit_start(day: date, grain: str, fiscal_month: int = 1) -> date:
    """The first day of the week, month, quarter, half or year that ``day`` is in."""
    if grain == "day":
        return day
    if grain == "week":
        return day - timedelta(days=day.weekday())
    size = MONTHS[grain]
    since = (day.month - fiscal_month) % 12 % size
    return add_months(day.replace(day=1), -since)


def step(day: date, grain: str, count: int) -> date:
    """``day`` moved by whole units."""
    if grain in MONTHS:
        return add_months(day, MONTHS[grain] * count)
    return day + timedelta(days=count * (7 if grain == "week" else 1))


# Instants that no period bounds are taken for as old, and as far ahead, as this.
YEARS_BACK, YEARS_AHEAD = 8, 1
# Bounds that are further away count as so far away: each change of the clocks is a case of the
# query, and a query has no room for those of centuries. What is older is told by the oldest one.
FURTHEST_BACK, FURTHEST_AHEAD = 20, 4


@dataclass(frozen=True)
class ClockShift:
    """How many minutes the clocks are ahead of UTC until an instant, as OData writes it."""

    minutes: int
    until: str


def clock_shifts(
    zone: str, today: date, first: date | None = None, last: date | None = None
) -> list[ClockShift]:
    """What the clocks of a time zone show between two days; at least one, the last has no end."""
    time_zone = ZoneInfo(zone)
    oldest, furthest = (add_months(today, 12 * years) for years in (-FURTHEST_BACK, FURTHEST_AHEAD))
    begin = min(max(first or add_months(today, -12 * YEARS_BACK), oldest), furthest)
    end = min(max(last or add_months(today, 12 * YEARS_AHEAD), oldest), furthest)
    at = datetime.combine(begin - timedelta(days=1), time(), UTC)
    stop = datetime.combine(end + timedelta(days=1), time(), UTC)
    shifts: list[ClockShift] = []
    while at < stop:
        after = min(at + timedelta(days=7), stop)
        if _ahead(at, time_zone) != _ahead(after, time_zone):
            shifts.append(ClockShift(_ahead(at, time_zone), _change(at, after, time_zone)))
        at = after
    return [*shifts, ClockShift(_ahead(stop, time_zone), "")]


def _change(low: datetime, high: datetime, zone: ZoneInfo) -> str:
    """The minute between two instants at which the clocks are changed."""
    before = _ahead(low, zone)
    while high - low > timedelta(minutes=1):
        middle = low + timedelta(minutes=(high - low) // timedelta(minutes=2))
        if _ahead(middle, zone) == before:
            low = middle
        else:
            high = middle
    return _written(high)


def _ahead(moment: datetime, zone: ZoneInfo) -> int:
    """Minutes that the clocks are ahead of UTC."""
    offset = moment.astimezone(zone).utcoffset() or timedelta()
    return round(offset.total_seconds() / 60)


def duration(minutes: int) -> str:
    """So many minutes later or earlier, as OData adds them."""
    hours, rest = divmod(abs(minutes), 60)
    return f"{'sub' if minutes < 0 else 'add'} duration'PT{hours}H{f'{rest}M' if rest else ''}'"
