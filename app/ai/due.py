"""When something is to be done: the day that a message names, as questions read it, and the time.

What lies behind in a question lies ahead here: ``Friday`` is the next one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, time, timedelta

from app.ai.lexicon import Message, is_number
from app.bi.answering import periods_in
from app.bi.periods.spans import EARLIEST_YEAR, LATEST_YEAR, Period, step
from app.clock import utc_now
from app.settings.days import zone

Span = tuple[int, int]
# Words that are looked through: a task is said in fewer.
MOST_WORDS = 80
UNITS = ("day", "week", "month")
# "At 4" is in the afternoon, and "at 7" in the morning: nobody is called at night.
_LAST_OF_AFTERNOON = 6


@dataclass(frozen=True)
class Due:
    """The day and the time of day, and the words that say them.

    ``names_day``: a time alone means the next time that it is so late.
    """

    day: date | None = None
    at: time | None = None
    spans: tuple[Span, ...] = ()
    names_day: bool = True

    def end_at(self, index: int) -> int:
        """Where the words end that begin at a place; 0 where none do."""
        return next((end for start, end in self.spans if start == index), 0)


NO_DAY = Due()


def find_due(message: Message, language: str, now: date, near: time | None = None) -> Due:
    """The first day that a message names, and the time of day beside it.

    Args:
        language: in which it is written.
        now: the day of today.
        near: the time that another takes the place of: "at 4" is in the same half of the day.
    """
    days = sorted((*_counted(message, now), *_named(message, language, now)))
    if not days:
        introduced = ((start, end, at) for start, end, at in _times(message, (), near)
                      if message.at("language.times", start))  # fmt: skip
        start, end, at = next(introduced, (0, 0, None))
        if at is None:
            return NO_DAY
        is_over = at <= utc_now().astimezone(zone()).time()
        return Due(now + timedelta(days=is_over), at, ((start, end),), names_day=False)
    start, end, day = min(days, key=lambda each: (each[0], -each[1]))
    while start and message.at("language.due", start - 1) == 1:
        start -= 1
    times = [each for each in _times(message, (start,), near) if each[0] >= end or each[1] <= start]
    if not times:
        return Due(day, None, ((start, end),))
    first, last, at = times[0]
    return Due(day, at, ((start, end), (first, last)))


def _counted(message: Message, now: date) -> Iterator[tuple[int, int, date]]:
    """``in 3 days``, ``the day after tomorrow``."""
    for index in range(min(len(message), MOST_WORDS)):
        length, days = message.value("language.days", index)
        if length:
            yield index, index + length, now + timedelta(days=days)
        ahead = message.at("language.ahead", index)
        if not ahead or index + ahead >= len(message):
            continue
        count = message.tokens[index + ahead]
        is_one = bool(message.at("language.fillers", index + ahead))  # "in a week"
        if not (is_number(count) or is_one):
            continue
        number = int(count.number or 1)
        for unit in UNITS:
            length = message.at(f"language.units.{unit}", index + ahead + 1)
            if length and number <= 999:
                yield index, index + ahead + 1 + length, step(now, unit, number)


def _named(message: Message, language: str, now: date) -> Iterator[tuple[int, int, date]]:
    """``tomorrow``, ``next Friday``, ``5 May``, ``by the end of June``."""
    for start, end, period in periods_in(message.tokens[:MOST_WORDS], language):
        day = day_ahead(period, now)
        if day is not None and EARLIEST_YEAR <= day.year <= LATEST_YEAR:
            yield start, end, day


def day_ahead(period: Period, now: date) -> date | None:
    """The day that a period means for what is to be done; None for one that is over."""
    day = period.start
    if day is None and period.end is not None:
        day = period.end - timedelta(days=1)  # "by Friday"
    if day is None:
        return None
    if period.weekday:
        return now + timedelta(days=(day.weekday() - now.weekday() - 1) % 7 + 1)
    is_day = period.end is not None and period.end - day == timedelta(days=1)
    if not period.has_year and day < now:
        return step(day, "year", 1)
    return day if is_day or period.start is None or day > now else None


def _times(
    message: Message, days: tuple[int, ...], near: time | None
) -> Iterator[tuple[int, int, time]]:
    """``at 3 pm``, ``15:30``, ``um 15 Uhr``; ``at 4`` where nothing is counted by it.

    Args:
        days: where the words begin that say the day.
    """
    for index in range(min(len(message), MOST_WORDS)):
        introduced = message.at("language.times", index)
        half_to = message.at("language.half", index + introduced)
        start = index + introduced + half_to
        end = start + 1
        if start >= len(message) or not is_number(message.tokens[start]):
            continue
        hour, minute = int(message.tokens[start].number or 0), 0
        has_minutes = (
            end < len(message)
            and message.tokens[end].mark == ":"
            and len(message.tokens[end].text) == 2
            and is_number(message.tokens[end])
        )
        if has_minutes:
            minute = int(message.tokens[end].number or 0)
            end += 1
        is_late, is_early, is_clock = (
            message.at(f"language.{name}", end) for name in ("after_noon", "before_noon", "clock")
        )
        half = bool(is_late or is_early)
        if half_to and 0 < hour < 24 and not has_minutes:
            hour, minute = hour - 1, 30
        is_bare = introduced and (
            end >= len(message) or end in days or message.tokens[end].mark
            or message.at_any(("task.links", "language.due", "language.polite"), end)
        )  # fmt: skip
        is_hour = message.at("language.hours", index) and not any(
            message.at(f"language.units.{unit}", end) for unit in UNITS
        )
        is_bare = is_bare or is_hour
        is_told = has_minutes or half_to or half or is_clock or is_bare
        if not is_told or hour > (12 if half else 23) or minute > 59:
            continue
        if half:
            if not hour:
                continue
            hour = hour % 12 + 12 * bool(is_late)
        elif is_bare and 0 < hour < 12 and not (has_minutes or is_clock):
            hour += 12 * (hour <= _LAST_OF_AFTERNOON if near is None else near.hour >= 12)
        yield index, end + max(is_late, is_early, is_clock), time(hour, minute)
