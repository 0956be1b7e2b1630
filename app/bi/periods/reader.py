"""Periods of time in words, as half-open ranges of days: ``last quarter``, ``since March``."""

from __future__ import annotations

import calendar
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from itertools import chain
from typing import Any

from app.bi.periods.feasts import Feasts
from app.bi.periods.spans import (
    CYCLES,
    EARLIEST_YEAR,
    GRAINS,
    LATEST_YEAR,
    MONTHS,
    Calendar,
    Period,
    add_months,
    step,
    unit_start,
)
from app.bi.words.tokens import Token, phrase

# Beside these "may" is a verb: "may we", "that may be".
_BEFORE_MAY = frozenset(
    ("i", "we", "you", "they", "he", "she", "it", "who", "that", "which", "there")
)
_BEHIND_MAY = _BEFORE_MAY | {"the", "our", "be", "have", "not", "need"}
_BEFORE_FEASTS = {"between", "the"}
# From which hour of the first day to which hour of the last.
_HOURS = {"morning": (0, 12), "afternoon": (12, 18), "evening": (18, 24)}


# How many tokens a period takes, and what it is.
Reading = tuple[int, Period]


class PeriodReader:
    """Finds periods among tokens, in the words of a vocabulary."""

    def __init__(
        self,
        words: Mapping[str, Any],
        months: Sequence[Sequence[str]],
        feasts: Mapping[str, Mapping[str, Sequence[str]]],
    ) -> None:
        self.feasts = Feasts(feasts)
        self.phrases: dict[str, list[tuple[str, ...]]] = {}
        for name, texts in words.items():
            if name in ("ordinals", "numbers", "tens", "weekdays", "articles"):
                continue
            self.phrases[name] = sorted((phrase(text) for text in texts), key=len, reverse=True)
        self._beginning = {name: _by_first(phrases) for name, phrases in self.phrases.items()}
        self.months = {phrase(n)[0]: at + 1 for at, names in enumerate(months) for n in names}
        ordinals = enumerate(words["ordinals"], 1)
        self.ordinals = {phrase(name)[0]: at for at, names in ordinals for name in names}
        self.numbers = {phrase(n)[0]: 10 * at for at, n in enumerate(words["tens"], 1)}
        self.numbers |= {phrase(n)[0]: at for at, n in enumerate(words["numbers"])}
        named = (self.phrases[name] for name in ("on", "since", "until", "to"))
        self.introducing = {stems[-1] for phrases in named for stems in phrases if stems}
        self.articles = {phrase(text)[0] for text in words["articles"]}
        self.weekdays = {phrase(n)[0]: at for at, n in enumerate(words["weekdays"])}
        single = (self.months, self.ordinals, self.numbers, self.weekdays)
        phrases = chain.from_iterable(self.phrases.values())
        self.words = set(chain(*phrases, *single))

    def may_begin(self, token: Token) -> bool:
        """Whether a word can be the first of a period, or of a unit of time: few can."""
        words = (self.words, self.feasts.words)
        is_plain = token.kind == "word" and token.stem.isalpha()  # "Q1" is none
        return not is_plain or any(token.stem in of for of in words)

    def read(self, tokens: Sequence[Token], at: int, now: Calendar) -> Reading | None:
        """The period that begins at this place: how many tokens it takes, and what it is."""
        try:
            return _Reading(self, tokens, now).at(at)
        except (OverflowError, ValueError):
            return None  # it leads out of the calendar

    def is_joint(self, tokens: Sequence[Token], at: int) -> bool:
        """Whether a word stands between the beginning and the end of a range."""
        return bool(self.length_at("to", tokens, at))

    def grain(self, tokens: Sequence[Token], at: int) -> tuple[int, str] | None:
        """``monthly`` or ``per quarter`` at this place: how many tokens, and the grain."""
        names = {"daily": "day", "weekly": "week", "monthly": "month", "quarterly": "quarter",
                 "yearly": "year"}  # fmt: skip
        if (length := self.length_at("per", tokens, at)) and (
            unit := self.cycle(tokens, at + length)
        ):
            return length + unit[0], unit[1]  # "per day of the week" is not "per day"
        for grain in names.values() if length else ():
            begin = at + length
            begin += any(token.stem == "the" for token in tokens[begin : begin + 1])
            end = begin + self.length_at(grain, tokens, begin)
            if end > begin:
                return end - at, grain
        for name, grain in names.items():
            if length := self.length_at(name, tokens, at):
                return length, grain
        return None

    def cycle(self, tokens: Sequence[Token], at: int) -> tuple[int, str] | None:
        """What comes again and again: ``weekday``, ``hour of the day``, ``month of the year``."""
        for name in CYCLES:
            length = self.length_at(name, tokens, at)
            if length and is_one(tokens[at + length - 1]):
                return length, name  # "by hours" is about how many they are
        return None

    def number(self, token: Token) -> int | None:
        """A whole number in digits or words."""
        if token.kind == "number" and token.number is not None:
            return int(token.number) if token.number == int(token.number) else None
        return self.numbers.get(token.stem)

    def length_at(self, name: str, tokens: Sequence[Token], at: int) -> int:
        """How many tokens of a phrase of this name stand at this place; 0 for none."""
        if at >= len(tokens):
            return 0
        for stems in self._beginning.get(name, {}).get(tokens[at].stem, ()):
            if stems == tuple(token.stem for token in tokens[at : at + len(stems)]):
                return len(stems)
        return 0


class _Reading:
    """Reads the periods among some tokens, in the words of a reader."""

    def __init__(self, reader: PeriodReader, tokens: Sequence[Token], now: Calendar) -> None:
        self.reader, self.tokens, self.now = reader, tokens, now

    def at(self, at: int) -> Reading | None:
        if length := self._at("between", at):
            return self._range(at, at + length)
        if length := self._at("since", at):
            reading = self._range(at, at + length)
            if reading is None and (point := self._edge(at + length)):
                total, period, edge = point
                onwards = self._at("onwards", at + length + total)
                is_from = self._stem(at) == "from" and not edge and period.grain is not None
                is_first = period.start is not None and period.start.day == 1
                is_since = onwards or (period.grain == "day" and is_first)  # "revenue from 1 May"
                if is_from and not is_since:  # "from last month", "invoices from 5 May"
                    return length + total, period
                after = edge == "end" or (self._stem(at) == "after" and not edge)
                start = period.end if after else period.start
                return length + total + onwards, period.since(start)
            if reading is not None:
                return reading
        if (length := self._at("until", at)) and (point := self._edge(at + length)):
            total, period, edge = point
            through = self._stem(at) in ("by", "through", "until", "till", "up")
            end = period.end if (through and edge != "start") or edge == "end" else period.start
            until = Period(None, end, f"before {end}", None, period.has_year)
            return length + total, replace(until, weekday=period.weekday)
        if reading := self._ahead(at):
            return reading
        skipped = self._at("on", at)
        reading = self._range(at, at + skipped)
        if reading is not None and any(
            self._stem(at + each) == "and" for each in range(reading[0])
        ):
            reading = None  # "Q1 and Q2" are two periods, "between Q1 and Q2" is one
        reading = reading or self._point(at + skipped)
        if reading is None:
            return None
        last = at + skipped + reading[0]
        if (ahead := self._at("onwards", last)) and self._stem(last) != "on":
            return last + ahead - at, reading[1].since(reading[1].start)  # "May onwards"
        is_range = reading[0] > skipped and reading[1].label.startswith("from ")
        return reading[0] if is_range else reading[0] + skipped, reading[1]

    def _edge(self, at: int) -> tuple[int, Period, str] | None:
        """A point in time, and whether its ``start`` or its ``end`` is named."""
        for edge in ("start", "end"):
            if length := self._at(f"{edge}_of", at):
                reading = self._point(at + length) or self._running(at + length)
                return None if reading is None else (reading[0] + length, reading[1], edge)
        running = self._running(at)
        if running and (length := self._at("at_end", at + running[0])):
            return running[0] + length, running[1], "end"  # "by month end"
        reading = self._point(at)
        return None if reading is None else (*reading, "")

    def _running(self, at: int) -> Reading | None:
        """``the year``, of which the start is meant: the one that runs."""
        skipped = int(self._stem(at) == "the")
        unit = self._unit(at + skipped)
        if unit is None:
            return None
        return skipped + unit[0], self._whole(unit[1], 0, f"this {unit[1]}", is_fiscal=unit[2])

    def _range(self, begin: int, at: int) -> Reading | None:
        """``January to March 2026``; the year of the end counts for a start without one."""
        if days := self._days(at):
            return at + days[0] - begin, days[1]
        first = self._point(at)
        if first is None:
            return None
        middle = at + first[0]
        length = self._at("to", middle)
        is_hyphened = middle < len(self.tokens) and self.tokens[middle].mark == "-"  # "Jan-Mar"
        if not length and not is_hyphened:
            return None
        is_month = first[1].grain == "month" and first[0] == 1
        last = self._short_year(middle + length) if is_month else None
        last = last or self._point(middle + length)
        if last is None:
            return None
        end_at = middle + length + last[0]
        start, end = first[1].start, last[1].end
        if start is None or end is None:
            return None
        named_year = any(is_year(token) for token in self.tokens[at:middle])
        named_month = any(token.stem in self.reader.months for token in self.tokens[at:middle])
        is_dated = not named_year and named_month and last[1].start is not None
        if is_dated and last[1].start is not None:
            start = start.replace(year=last[1].start.year)
        if start >= end:
            start = add_months(start, -12)
        last_day = end - timedelta(days=1)
        # Where the first has none, its year is that of the end.
        has_year = last[1].has_year and (first[1].has_year or is_dated)
        label = f"from {start} to {last_day}"
        return end_at - begin, Period(start, end, label, has_year=has_year)

    def _short_year(self, at: int) -> Reading | None:
        """``January to May 26``: behind a whole month no day, but this year or one beside it."""
        month, year = self.reader.months.get(self._stem(at)), 2000 + (self._number(at + 1) or 0)
        if month is None or abs(year - self.now.today.year) > 1:
            return None
        start = date(year, month, 1)
        return 2, Period(start, add_months(start, 1), str(start)[:7], "month")

    def _days(self, at: int) -> Reading | None:
        """``1 to 15 May``: days of one month."""
        length = self._at("to", at + 1) if self._is_day(at) else 0
        month = self._month(at + 1 + length) if length else None
        if month is None or month[1].start is None or month[1].end is None:
            return None
        start, end = month[1].start.replace(day=day_of(self.tokens[at])), month[1].end
        if month[1].grain != "day" or start >= end:
            return None
        label = f"from {start} to {before(end)}"
        return 1 + length + month[0], Period(start, end, label, has_year=month[1].has_year)

    # --- single periods

    def _point(self, at: int) -> Reading | None:
        if self._stem(at) in ("the", "of"):
            reading = self._point(at + 1)
            return None if reading is None else (reading[0] + 1, reading[1])
        if at >= len(self.tokens):
            return None
        for read in (
            self._feast, self._weekend, self._daytime, self._named, self._ago, self._relative,
            self._weekday, self._month, self._part, self._dated, self._day,
        ):  # fmt: skip
            if reading := read(at):
                return reading
        return None

    def _ago(self, at: int) -> Reading | None:
        """``3 months ago`` and, as others say it, ``before 3 months``: that month."""
        before = self._stem(at) == "before"
        if not before and self._stem(at + 2) != "ago":
            return None
        count, unit = self._number(at + before), self._unit(at + before + 1)
        if self._stem(at + before) in self.reader.articles:
            count = 1
        if count is None or unit is None or count > 1200:
            return None
        start = unit_start(step(self.now.today, unit[1], -count), unit[1])
        units = unit[1] if count == 1 else f"{unit[1]}s"
        return 3, Period(start, step(start, unit[1], 1), f"{count} {units} ago", unit[1])

    def _ahead(self, at: int) -> Reading | None:
        """``due in 10 days``, ``in 10 Tagen fällig``: until then, as most people mean it."""
        length = self._at("inside", at)
        count, unit = self._number(at + length), self._unit(at + length + 1)
        if not length or not count or unit is None or count > 1200:
            return None
        total = length + 1 + unit[0]
        beside = {(self._stem(at - 1),) if at else (), (self._stem(at + total),)}
        if beside.isdisjoint(self.reader.phrases["ahead_of"]):
            return None
        label = f"the next {count} {unit[1]}{'' if count == 1 else 's'}"
        end = step(self.now.today, unit[1], count) + timedelta(days=1)
        return total, Period(self.now.today, end, label)

    def _relative(self, at: int) -> Reading | None:
        """``this month``, ``last quarter``, ``the past 30 days``, ``next two weeks``."""
        tomorrow = self.now.today + timedelta(days=1)
        for name in ("past", "next"):
            length = self._at(name, at)
            count, unit = self._number(at + length), self._unit(at + length + 1)
            if not length or count is None or unit is None or not 0 < count <= 1200:
                continue
            total = length + 1 + unit[0]
            units = unit[1] if count == 1 else unit[1] + "s"
            if name == "past":
                start = step(tomorrow, unit[1], -count)
                label = f"the last {count} {units}"
                return total, Period(start, tomorrow, label, rolling=count)
            end = step(self.now.today, unit[1], count)
            return total, Period(self.now.today, end, f"the next {count} {units}")
        if (length := self._at("rolling", at)) and (unit := self._unit(at + length)):
            start = step(tomorrow, unit[1], -1)
            return length + unit[0], Period(start, tomorrow, f"the last 1 {unit[1]}")
        unit = self._unit(at)
        if unit is not None and (length := self._at("before_last", at + unit[0])):
            return unit[0] + length, self._whole(unit[1], -2, f"the {unit[1]} before last")
        for name, shift in (("this", 0), ("last", -1), ("next", 1)):
            if (length := self._at(name, at)) and (unit := self._unit(at + length)):
                label = f"{name} {'fiscal ' if unit[2] else ''}{unit[1]}"
                period = self._whole(unit[1], shift, label, is_fiscal=unit[2])
                return length + unit[0], period
        return None

    def _month(self, at: int) -> Reading | None:
        """``March``, ``March 2026``, ``March 5``, ``5 March 2026``, ``last March``."""
        if part := self._part_of_month(at):
            return part
        shift = self._at("last", at) or self._at("this", at)
        past = bool(self._at("last", at))
        at, begin = at + shift, at
        day, length = None, 0
        if self._is_day(at) and at + 1 < len(self.tokens):
            day, length = int(self.tokens[at].number or day_of(self.tokens[at])), 1
            if self._stem(at + 1) == "of":
                length = 2
        month = self.reader.months.get(self._stem(at + length))
        if month is None or not is_one(self.tokens[at + length]):  # "Mars" and "Mays" name none
            return None
        if self.tokens[at + length].text == "may" and not day and self._is_verb(at + length):
            return None
        length += 1
        if day is None and self._is_day(at + length):
            day, length = day_of(self.tokens[at + length]), length + 1
        year, has_year = None, True
        if self._is_year(at + length):
            year, length = int(self._stem(at + length)), length + 1
        elif not shift and (stated_year := self._told_year(at + length)):
            year, length = self.now.today.year + stated_year[1], length + stated_year[0]
        total = at + length - begin
        if year is None:
            year, has_year = self.now.today.year, bool(shift)
            if date(year, month, 1) > self.now.today or (past and month == self.now.today.month):
                year -= 1
        if day is not None:
            try:
                first_day = date(year, month, day)
            except ValueError:
                return None
            return total, of_day(first_day, str(first_day), has_year=has_year)
        start = date(year, month, 1)
        label = f"{calendar.month_name[month]} {year}"
        return total, Period(start, add_months(start, 1), label, "month", has_year)

    def _is_verb(self, at: int) -> bool:
        """Whether the word is ``may`` as in ``may we``; after ``in`` it is the month."""
        before = self._stem(at - 1) if at else ""
        is_verb = before in _BEFORE_MAY or self._stem(at + 1) in _BEHIND_MAY
        return is_verb and before not in self.reader.introducing

    def _part_of_month(self, at: int) -> Reading | None:
        """``mid June``, ``late May``: ten days of it, more or less."""
        for name, days in (("early", (1, 11)), ("mid", (11, 21)), ("late", (21, 32))):
            length = self._at(name, at)
            month = self._month(at + length) if length else None
            if month is None or month[1].grain != "month" or month[1].start is None:
                continue
            begin = month[1].start
            start, end = begin.replace(day=days[0]), month[1].end
            if days[1] < 32:
                end = begin.replace(day=days[1])
            if end is not None:
                part = replace(month[1], start=start, end=end, grain=None)
                return length + month[0], replace(part, label=f"{name} {month[1].label}")
        return None

    def _told_year(self, at: int) -> tuple[int, int] | None:
        """``May of last year``: how many words, and how many years from this one."""
        begin = at
        at += self._stem(at) == "of"
        for name, shift in (("this", 0), ("last", -1), ("next", 1)):
            length = self._at(name, at)
            if length and self._stem(at + length) == "year":
                return at + length + 1 - begin, shift
        return None

    def _part(self, at: int) -> Reading | None:
        """``Q1 2026``, ``first half of 2026``, ``second quarter of last year``."""
        if reading := self._week_number(at):
            return reading
        stem = self._stem(at)
        if len(stem) == 2 and stem[0] in "qh" and stem[1] in "1234":
            grain, number, length = ("quarter" if stem[0] == "q" else "half"), int(stem[1]), 1
        elif stem in self.reader.ordinals and (unit := self._unit(at + 1)):
            grain, number, length = unit[1], self.reader.ordinals[stem], 1 + unit[0]
        else:
            return None
        if grain not in ("quarter", "half") or number > 12 // MONTHS[grain]:
            return None
        year_at = at + length
        while self._stem(year_at) in ("of", "in", "the"):
            year_at += 1
        year, end = self.now.today.year, at + length
        if self._is_year(year_at):
            year, length = int(self._stem(year_at)), year_at + 1 - at
        elif year_at == at + length and 19 < (self._number(year_at) or 0) < 100:  # "Q1 26"
            year, length = 2000 + int(self._stem(year_at)), length + 1
        elif year_at < len(self.tokens):
            reading = self._relative(year_at)
            if reading and reading[1].grain == "year" and reading[1].start is not None:
                year, length = reading[1].start.year, year_at + reading[0] - at
        start = add_months(date(year, 1, 1), MONTHS[grain] * (number - 1))
        has_year = at + length > end or start <= self.now.today
        if not has_year:  # the last one of that name
            start, year = add_months(start, -12), year - 1
        short = f"{'Q' if grain == 'quarter' else 'H'}{number} {year}"
        return length, Period(start, add_months(start, MONTHS[grain]), short, grain, has_year)

    def _week_number(self, at: int) -> Reading | None:
        """``week 12``, ``calendar week 12 of 2025``: as ISO 8601 counts them."""
        length = self._at("week_number", at) or self._at("week", at)
        number_at = at + length
        if not length or not 1 <= (self._number(number_at) or 0) <= 53:
            return None
        number, end = int(self.tokens[number_at].number or 0), number_at + 1
        year = self.now.today.isocalendar().year
        after = end + int(self._stem(end) in ("of", "in"))
        if self._is_year(after):
            year, end = int(self._stem(after)), after + 1
        start = date.fromisocalendar(year, number, 1)
        label = f"week {number} of {year}"
        return end - at, Period(start, start + timedelta(days=7), label, "week")

    def _day(self, at: int) -> Reading | None:
        """``since the 15th``: of this month, or of the last one."""
        is_ordinal = self._is_day(at) and not self.tokens[at].text.isdecimal()
        if not is_ordinal or at < 2 or self._stem(at - 1) != "the":
            return None
        if self._stem(at - 2) not in self.reader.introducing:
            return None
        day = self.now.today.replace(day=day_of(self.tokens[at]))
        day = day if day <= self.now.today else add_months(day, -1)
        return 1, of_day(day, str(day))

    def _dated(self, at: int) -> Reading | None:
        token = self.tokens[at]
        if token.kind == "date":
            try:
                day = date.fromisoformat(token.text)
            except ValueError:
                return None
            if not EARLIEST_YEAR <= day.year <= LATEST_YEAR:
                return None
            return 1, of_day(day, token.text)
        if is_year(token):
            start = date(int(token.stem), 1, 1)
            return 1, Period(start, add_months(start, 12), token.stem, "year")
        length = self._at("fiscal", at)
        if length and self._is_year(at + length):
            start = date(int(self._stem(at + length)), self.now.fiscal_month, 1)
            label = f"fiscal year {self._stem(at + length)}"
            return length + 1, Period(start, add_months(start, 12), label, "year")
        return None

    # --- days by their names, and the hours of them

    def _feast(self, at: int) -> Reading | None:
        """``since Christmas``, ``before Easter 2025``; by itself such a word is no day."""
        past = self._at("last", at)
        before_feasts = self.reader.introducing | _BEFORE_FEASTS
        if not past and (not at or self._stem(at - 1) not in before_feasts):
            return None
        feast = self.reader.feasts.read(self.tokens, at + past, self.now.today)
        if feast is None:
            return None
        after = at + past + feast[0]
        if self._is_year(after):
            year = int(self._stem(after))
            feast = self.reader.feasts.read(self.tokens, at + past, self.now.today, year)
            return None if feast is None else (past + feast[0] + 1, feast[1])
        return past + feast[0], feast[1]

    def _daytime(self, at: int) -> Reading | None:
        """``this morning``, ``yesterday afternoon``, ``Friday evening``."""
        day = self._named(at) or self._weekday(at)
        if length := self._at("this", at):
            day = length, of_day(self.now.today, "this")
        for name, hours in _HOURS.items() if day else ():
            if day and (part := self._at(name, at + day[0])):
                label = f"{day[1].label} {name}, from {hours[0]} to {hours[1]} o'clock"
                return day[0] + part, replace(day[1], label=label, hours=hours, grain=None)
        return None

    def _weekend(self, at: int) -> Reading | None:
        """``over the weekend``: the one that is over; ``this weekend``: the one to come."""
        past = self._at("last", at)
        ahead = 0 if past else self._at("this", at) or self._at("next", at)
        skipped = past or ahead
        length = self._at("weekend", at + skipped)
        if not length or not is_one(self.tokens[at + skipped + length - 1]):
            return None
        monday = unit_start(self.now.today, "week")
        saturday = monday + timedelta(days=5 if ahead else -2)
        label = f"the weekend of {saturday}"
        period = Period(saturday, saturday + timedelta(days=2), label)
        return skipped + length, replace(period, weekday=not skipped)

    def _named(self, at: int) -> Reading | None:
        for name, shift in (("today", 0), ("yesterday", -1), ("tomorrow", 1)):
            if length := self._at(name, at):
                day = self.now.today + timedelta(days=shift)
                return length, of_day(day, name)
        tomorrow = self.now.today + timedelta(days=1)
        for name, grain in (("ytd", "year"), ("mtd", "month"), ("qtd", "quarter")):
            if length := self._at(name, at):
                start = unit_start(self.now.today, grain)
                return length, Period(start, tomorrow, f"this {grain} to date")
        return None

    def _weekday(self, at: int) -> Reading | None:
        """``Monday``, ``last Friday``: the latest before today; ``next Monday``: the coming one."""
        length = self._at("last", at)
        ahead = 0 if length else self._at("next", at)
        end = at + (length or ahead)
        wanted = self.reader.weekdays.get(self._stem(end))
        if wanted is None or not is_one(self.tokens[end]):
            return None  # "on Mondays" is about all of them
        if ahead:
            day = self.now.today + timedelta(days=(wanted - self.now.today.weekday() - 1) % 7 + 1)
        else:
            day = self.now.today - timedelta(days=(self.now.today.weekday() - wanted - 1) % 7 + 1)
        period = of_day(day, f"{day:%A}, {day}")
        return end + 1 - at, replace(period, weekday=not (length or ahead))

    def _whole(self, grain: str, shift: int, label: str, *, is_fiscal: bool = False) -> Period:
        """The unit that runs, or one so many further."""
        start = unit_start(self.now.today, grain, self.now.fiscal_month if is_fiscal else 1)
        start = step(start, grain, shift)
        return Period(start, step(start, grain, 1), label, grain)

    def _unit(self, at: int) -> tuple[int, str, bool] | None:
        """How many tokens, the grain, and whether it is of the fiscal year."""
        if length := self._at("fiscal", at):
            return length, "year", True
        for grain in GRAINS:
            if length := self._at(grain, at):
                return length, grain, False
        return None

    def _at(self, name: str, at: int) -> int:
        return self.reader.length_at(name, self.tokens, at)

    def _stem(self, at: int) -> str:
        """The stem of a token; empty where there is none."""
        return self.tokens[at].stem if at < len(self.tokens) else ""

    def _number(self, at: int) -> int | None:
        return self.reader.number(self.tokens[at]) if at < len(self.tokens) else None

    def _is_year(self, at: int) -> bool:
        return at < len(self.tokens) and is_year(self.tokens[at])

    def _is_day(self, at: int) -> bool:
        return at < len(self.tokens) and 1 <= day_of(self.tokens[at]) <= 31


def of_day(day: date, label: str, *, has_year: bool = True) -> Period:
    """A period that ends before the next day; ``has_year``: its year is told."""
    return Period(day, day + timedelta(days=1), label, "day", has_year)


def _by_first(phrases: Iterable[tuple[str, ...]]) -> dict[str, list[tuple[str, ...]]]:
    """First word -> the phrases that begin with it, in their order."""
    by_first: dict[str, list[tuple[str, ...]]] = {}
    for stems in filter(None, phrases):
        by_first.setdefault(stems[0], []).append(stems)
    return by_first


def is_one(token: Token) -> bool:
    """Whether a word is no plural: ``last month``, ``last month's``, not ``last months``."""
    word = token.text.lower().replace("\u2019", "'").removesuffix("'s")
    return not word.endswith("s") or word == token.stem


def is_year(token: Token) -> bool:
    digits = token.text
    return (
        token.kind == "number" and len(digits) == 4 and digits.isdecimal()
        and 1990 <= int(digits) <= 2100
    )  # fmt: skip


def day_of(token: Token) -> int:
    """5, ``5th``: the day of a month; 0 for anything else."""
    digits = token.text.lower().rstrip("stndrh")
    return int(digits) if digits.isdecimal() and len(digits) <= 2 else 0


def before(day: date) -> date:
    return day - timedelta(days=1)
