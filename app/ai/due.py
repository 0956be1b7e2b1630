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

Span = tuple[int, int]
# Words that are looked through: a task is said in fewer.
MOST_WORDS = 80


@dataclass(frozen=True)
class Due:
    """The day and the time of day, and the words that say them."""

    day: date | None = None
    at: time | None = None
    spans: tuple[Span, ...] = ()

    def end_at(self, index: int) -> int:
        """Where the words end that begin at a place; 0 where none do."""
        return next((end for start, end in self.spans if start == index), 0)


def find_due(message: Message, language: str, now: date) -> Due:
    """The first day that a message names, and the time of day beside it.

    Args:
        language: in which it is written.
        now: the day of today.
    """
    days = sorted((*_counted(message, now), *_named(message, language, now)))
    if not days:
        return Due()
    start, end, day = min(days, key=lambda each: (each[0], -each[1]))
    while start and message.at("language.due", start - 1) == 1:
        start -= 1
    times = [each for each in _times(message) if each[0] >= end or each[1] <= start]
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
        for unit in ("day", "week", "month"):
            length = message.at(f"language.units.{unit}", index + ahead + 1)
            if length and number <= 999:
                yield index, index + ahead + 1 + length, step(now, unit, number)


def _named(message: Message, language: str, now: date) -> Iterator[tuple[int, int, date]]:
    """``tomorrow``, ``next Friday``, ``5 May``, ``by the end of June``."""
    for start, end, period in periods_in(message.tokens[:MOST_WORDS], language):
        day = _day_of(period, now)
        if day is not None and EARLIEST_YEAR <= day.year <= LATEST_YEAR:
            yield start, end, day


def _day_of(period: Period, now: date) -> date | None:
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


def _times(message: Message) -> Iterator[tuple[int, int, time]]:
    """``at 3 pm``, ``15:30``, ``um 15 Uhr``."""
    for index in range(min(len(message), MOST_WORDS)):
        introduced = message.at("language.times", index)
        start, end = index + introduced, index + introduced + 1
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
        if not (has_minutes or half or is_clock) or hour > (12 if half else 23) or minute > 59:
            continue
        if half:
            if not hour:
                continue
            hour = hour % 12 + 12 * bool(is_late)
        yield index, end + max(is_late, is_early, is_clock), time(hour, minute)
