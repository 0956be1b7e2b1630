"""Periods of time in words, as half-open ranges of days: ``last quarter``, ``since March``."""

from __future__ import annotations

import calendar
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
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

_UNITS = {*GRAINS, "today", "yesterday", "tomorrow", "ytd"}
_BEFORE_FEASTS = {"between", "the"}
# From which hour of the first day to which hour of the last.
_HOURS = {"morning": (0, 12), "afternoon": (12, 18), "evening": (18, 24)}


class PeriodReader:
    """Finds periods among tokens, in the words of a vocabulary."""

    def __init__(
        self,
        words: Mapping[str, Any],
        months: Sequence[Sequence[str]],
        feasts: Mapping[str, Mapping[str, Sequence[str]]],
    ) -> None:
        self._feasts = Feasts(feasts)
        self._phrases: dict[str, list[tuple[str, ...]]] = {}
        for name, texts in words.items():
            if name in ("ordinals", "numbers", "tens", "weekdays", "articles"):
                continue
            self._phrases[name] = sorted((phrase(text) for text in texts), key=len, reverse=True)
        self._beginning = {name: _by_first(phrases) for name, phrases in self._phrases.items()}
        self._months = {phrase(n)[0]: at + 1 for at, names in enumerate(months) for n in names}
        self._ordinals = {
            phrase(n)[0]: at + 1 for at, ns in enumerate(words["ordinals"]) for n in ns
        }
        self._numbers = {phrase(n)[0]: 10 * at for at, n in enumerate(words["tens"], 1)}
        self._numbers |= {phrase(n)[0]: at for at, n in enumerate(words["numbers"])}
        self._introducing = {
            stems[-1]
            for name in ("on", "since", "until", "to")
            for stems in self._phrases[name]
            if stems
        }
        self._articles = {phrase(text)[0] for text in words["articles"]}
        self._weekdays = {phrase(n)[0]: at for at, n in enumerate(words["weekdays"])}
        self.words = {
            word for phrases in self._phrases.values() for stems in phrases for word in stems
        } | {
            *self._months,
            *self._ordinals,
            *self._numbers,
            *self._weekdays,
        }

    def read(self, tokens: Sequence[Token], at: int, now: Calendar) -> tuple[int, Period] | None:
        """The period that begins at this place: how many tokens it takes, and what it is."""
        try:
            return self._read(tokens, at, now)
        except (OverflowError, ValueError):
            return None  # it leads out of the calendar

    def _read(self, tokens: Sequence[Token], at: int, now: Calendar) -> tuple[int, Period] | None:
        if length := self._at("between", tokens, at):
            return self._range(tokens, at, at + length, now)
        if length := self._at("since", tokens, at):
            reading = self._range(tokens, at, at + length, now)
            if reading is None and (point := self._edge(tokens, at + length, now)):
                total, period, edge = point
                if tokens[at].stem == "from" and not edge and period.grain not in (None, "day"):
                    return length + total, period  # "from last month" is of that month
                is_from = tokens[at].stem == "from" and not edge and period.grain == "day"
                if is_from and (ahead := self._onwards(tokens, at + length + total)):
                    return length + total + ahead, period.since(period.start)
                if is_from and period.start is not None and period.start.day == 1:
                    return length + total, period.since(period.start)  # "revenue from 1 May"
                if is_from:
                    return length + total, period  # "invoices from 5 May"
                after = (tokens[at].stem == "after" and edge != "start") or edge == "end"
                start = period.end if after else period.start
                return length + total, period.since(start)
            if reading is not None:
                return reading
        if (length := self._at("until", tokens, at)) and (
            point := self._edge(tokens, at + length, now)
        ):
            total, period, edge = point
            if tokens[at].stem == "by" and not edge and period.grain not in ("day", "month"):
                return None
            through = tokens[at].stem in ("by", "through", "until", "till", "up")
            end = period.end if (through and edge != "start") or edge == "end" else period.start
            until = Period(None, end, f"before {end}", None, period.said)
            return length + total, replace(until, weekday=period.weekday)
        if reading := self._ahead(tokens, at, now):
            return reading
        skipped = self._at("on", tokens, at)
        reading = self._range(tokens, at, at + skipped, now)
        if reading is not None and "and" in {token.stem for token in tokens[at : at + reading[0]]}:
            reading = None  # "Q1 and Q2" are two periods, "between Q1 and Q2" is one
        reading = reading or self._point(tokens, at + skipped, now)
        if reading is None:
            return None
        total = (
            reading[0]
            if reading[0] > skipped and self._is_range(reading, at)
            else reading[0] + skipped
        )
        return total, reading[1]

    def is_joint(self, tokens: Sequence[Token], at: int) -> bool:
        """Whether a word stands between the beginning and the end of a range."""
        return bool(self._at("to", tokens, at))

    def _onwards(self, tokens: Sequence[Token], at: int) -> int:
        """``from 1 May on``: an "on" at the end, or an "onwards"."""
        length = self._at("onwards", tokens, at)
        return length if length and (tokens[at].stem != "on" or at + 1 == len(tokens)) else 0

    def _edge(
        self, tokens: Sequence[Token], at: int, now: Calendar
    ) -> tuple[int, Period, str] | None:
        """A point in time, and whether its ``start`` or its ``end`` is named."""
        for edge in ("start", "end"):
            if length := self._at(f"{edge}_of", tokens, at):
                reading = self._point(tokens, at + length, now) or self._running(
                    tokens, at + length, now
                )
                return None if reading is None else (reading[0] + length, reading[1], edge)
        running = self._running(tokens, at, now)
        if running and (length := self._at("at_end", tokens, at + running[0])):
            return running[0] + length, running[1], "end"  # "by month end"
        reading = self._point(tokens, at, now)
        return None if reading is None else (*reading, "")

    def _running(
        self, tokens: Sequence[Token], at: int, now: Calendar
    ) -> tuple[int, Period] | None:
        """``the year``, of which the start is meant: the one that runs."""
        skipped = int(at < len(tokens) and tokens[at].stem == "the")
        unit = self._unit(tokens, at + skipped)
        if unit is None:
            return None
        start = unit_start(now.today, unit[1], now.fiscal_month if unit[2] else 1)
        period = Period(start, step(start, unit[1], 1), f"this {unit[1]}", unit[1])
        return skipped + unit[0], period

    @staticmethod
    def _is_range(reading: tuple[int, Period], at: int) -> bool:
        return reading[1].label.startswith("from ")

    def _range(
        self, tokens: Sequence[Token], begin: int, at: int, now: Calendar
    ) -> tuple[int, Period] | None:
        """``January to March 2026``; the year of the end counts for a start without one."""
        if days := self._days(tokens, at, now):
            return at + days[0] - begin, days[1]
        first = self._point(tokens, at, now)
        if first is None:
            return None
        middle = at + first[0]
        length = self._at("to", tokens, middle)
        if not length:
            return None
        last = self._point(tokens, middle + length, now)
        if last is None:
            return None
        end_at = middle + length + last[0]
        start, end = first[1].start, last[1].end
        if start is None or end is None:
            return None
        named_year = any(is_year(token) for token in tokens[at:middle])
        named_month = any(token.stem in self._months for token in tokens[at:middle])
        is_dated = not named_year and named_month and last[1].start is not None
        if is_dated and last[1].start is not None:
            start = start.replace(year=last[1].start.year)
        if start >= end and last[1].weekday:
            end += timedelta(days=7)  # "from today to friday": the next one
        if start >= end:
            start = add_months(start, -12)
        last_day = end - timedelta(days=1)
        said = last[1].said and (first[1].said or is_dated)  # its year is that of the end
        label = f"from {start} to {last_day}"
        return end_at - begin, Period(start, end, label, said=said)

    def _days(self, tokens: Sequence[Token], at: int, now: Calendar) -> tuple[int, Period] | None:
        """``1 to 15 May``, ``May 1 to 15``: days of one month."""
        if at >= len(tokens):
            return None
        if is_day(tokens[at]) and (length := self._at("to", tokens, at + 1)):
            month = self._month(tokens, at + 1 + length, now)
            first, total = day_of(tokens[at]), 1 + length + (month[0] if month else 0)
        else:
            month = self._month(tokens, at, now)
            after = at + (month[0] if month else 0)
            length = self._at("to", tokens, after) if after < len(tokens) else 0
            second_at = after + length
            if not length or second_at >= len(tokens) or not is_day(tokens[second_at]):
                return None
            if second_at + 1 < len(tokens) and tokens[second_at + 1].stem in self._months:
                return None
            if month is None or month[1].start is None or month[1].grain != "day":
                return None
            last = month[1].start.replace(day=1) + timedelta(days=day_of(tokens[second_at]))
            label = f"from {month[1].start} to {before(last)}"
            period = Period(month[1].start, last, label, said=month[1].said)
            return second_at + 1 - at, period
        if month is None or month[1].grain != "day" or month[1].start is None:
            return None
        start, end = month[1].start.replace(day=first), month[1].end
        if end is None or start >= end:
            return None
        label = f"from {start} to {before(end)}"
        return total, Period(start, end, label, said=month[1].said)

    # --- single periods

    def _point(self, tokens: Sequence[Token], at: int, now: Calendar) -> tuple[int, Period] | None:
        while at < len(tokens) and tokens[at].stem in ("the", "of"):
            reading = self._point(tokens, at + 1, now)
            return None if reading is None else (reading[0] + 1, reading[1])
        if at >= len(tokens):
            return None
        for read in (self._feast, self._daytime, self._named, self._ago, self._relative,
                     self._weekday, self._month, self._part, self._dated):  # fmt: skip
            if reading := read(tokens, at, now):
                return reading
        return None

    def _ago(self, tokens: Sequence[Token], at: int, now: Calendar) -> tuple[int, Period] | None:
        """``3 months ago``: that month."""
        if at + 2 >= len(tokens) or tokens[at + 2].stem != "ago":
            return None
        count, unit = self.number(tokens[at]), self._unit(tokens, at + 1)
        if tokens[at].stem in self._articles:
            count = 1
        if count is None or unit is None or count > 1200:
            return None
        start = unit_start(step(now.today, unit[1], -count), unit[1])
        units = unit[1] if count == 1 else f"{unit[1]}s"
        return 3, Period(start, step(start, unit[1], 1), f"{count} {units} ago", unit[1])

    def _ahead(self, tokens: Sequence[Token], at: int, now: Calendar) -> tuple[int, Period] | None:
        """``due in 10 days``: until then, as most people mean it, or on that day."""
        length = self._at("inside", tokens, at)
        if not length or not at or (tokens[at - 1].stem,) not in self._phrases["ahead_of"]:
            return None
        behind = at + length
        count = self.number(tokens[behind]) if behind < len(tokens) else None
        unit = self._unit(tokens, behind + 1)
        if not count or unit is None or count > 1200:
            return None
        label = f"the next {count} {unit[1]}{'' if count == 1 else 's'}"
        end = step(now.today, unit[1], count) + timedelta(days=1)
        return length + 1 + unit[0], Period(now.today, end, label)

    def _relative(
        self, tokens: Sequence[Token], at: int, now: Calendar
    ) -> tuple[int, Period] | None:
        """``this month``, ``last quarter``, ``the past 30 days``, ``next two weeks``."""
        tomorrow = now.today + timedelta(days=1)
        for name in ("past", "next"):
            length = self._at(name, tokens, at)
            if not length or at + length >= len(tokens):
                continue
            count = self.number(tokens[at + length])
            unit = None if count is None else self._unit(tokens, at + length + 1)
            if count is None or unit is None or not 0 < count <= 1200:
                continue
            total = length + 1 + unit[0]
            units = unit[1] if count == 1 else unit[1] + "s"
            if name == "past":
                start = step(tomorrow, unit[1], -count)
                label = f"the last {count} {units}"
                return total, Period(start, tomorrow, label, rolling=count)
            return total, Period(
                now.today, step(now.today, unit[1], count), f"the next {count} {units}"
            )
        if (length := self._at("rolling", tokens, at)) and (
            unit := self._unit(tokens, at + length)
        ):
            start = step(tomorrow, unit[1], -1)
            return length + unit[0], Period(start, tomorrow, f"the last 1 {unit[1]}")
        unit = self._unit(tokens, at)
        if unit is not None and (length := self._at("before_last", tokens, at + unit[0])):
            start = step(unit_start(now.today, unit[1]), unit[1], -2)
            period = Period(start, step(start, unit[1], 1), f"the {unit[1]} before last", unit[1])
            return unit[0] + length, period
        for name in ("year", "quarter", "month", "week"):
            if length := self._at(f"last_{name}", tokens, at):
                start = step(unit_start(now.today, name), name, -1)
                return length, Period(start, step(start, name, 1), f"last {name}", name)
        for name, shift in (("this", 0), ("last", -1), ("next", 1)):
            if (length := self._at(name, tokens, at)) and (unit := self._unit(tokens, at + length)):
                fiscal = now.fiscal_month if unit[2] else 1
                start = step(unit_start(now.today, unit[1], fiscal), unit[1], shift)
                label = f"{name} {'fiscal ' if unit[2] else ''}{unit[1]}"
                period = Period(start, step(start, unit[1], 1), label, unit[1])
                return length + unit[0], period
        return None

    def _month(self, tokens: Sequence[Token], at: int, now: Calendar) -> tuple[int, Period] | None:
        """``March``, ``March 2026``, ``March 5``, ``5 March 2026``, ``last March``."""
        if part := self._part_of_month(tokens, at, now):
            return part
        shift = self._at("last", tokens, at) or self._at("this", tokens, at)
        past = bool(self._at("last", tokens, at))
        at, begin = at + shift, at
        day, length = None, 0
        if at < len(tokens) and is_day(tokens[at]) and at + 1 < len(tokens):
            day, length = int(tokens[at].number or day_of(tokens[at])), 1
            if tokens[at + 1].stem == "of":
                length = 2
        month = self._month_of(tokens[at + length]) if at + length < len(tokens) else None
        if month is None:
            return None
        written = tokens[at + length].text
        introduced = begin > 0 and tokens[begin - 1].stem in self._introducing
        introduced |= self._is_beside_month(tokens, begin, at + length + 1)
        introduced |= day is not None and self._is_ranged(tokens, begin)
        if written == "may" and not introduced:  # "may" is a verb as well
            return None
        length += 1
        if day is None and at + length < len(tokens) and is_day(tokens[at + length]):
            day, length = day_of(tokens[at + length]), length + 1
        year, said = None, True
        if at + length < len(tokens) and is_year(tokens[at + length]):
            year, length = int(tokens[at + length].stem), length + 1
        elif not shift and (stated_year := self._told_year(tokens, at + length)):
            year, length = now.today.year + stated_year[1], length + stated_year[0]
        total = at + length - begin
        if year is None:
            year, said = now.today.year, bool(shift)
            if date(year, month, 1) > now.today or (past and month == now.today.month):
                year -= 1
        if day is not None:
            try:
                first_day = date(year, month, day)
            except ValueError:
                return None
            return total, Period(
                first_day, first_day + timedelta(days=1), str(first_day), "day", said
            )
        start = date(year, month, 1)
        label = f"{calendar.month_name[month]} {year}"
        return total, Period(start, add_months(start, 1), label, "month", said)

    def _is_beside_month(self, tokens: Sequence[Token], begin: int, end: int) -> bool:
        """``april, may and june``, ``may 2026``: beside months, or a year, it is one."""
        beside = [*tokens[max(0, begin - 2) : begin], *tokens[end : end + 2]]
        named = any(token.stem in self._months and token.stem != "may" for token in beside)
        return named or any(is_year(token) for token in tokens[end : end + 1])

    def _part_of_month(
        self, tokens: Sequence[Token], at: int, now: Calendar
    ) -> tuple[int, Period] | None:
        """``mid June``, ``late May``: ten days of it, more or less."""
        for name, days in (("early", (1, 11)), ("mid", (11, 21)), ("late", (21, 32))):
            length = self._at(name, tokens, at)
            month = self._month(tokens, at + length, now) if length else None
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

    def _told_year(self, tokens: Sequence[Token], at: int) -> tuple[int, int] | None:
        """``May of last year``: how many words, and how many years from this one."""
        begin = at
        at += at < len(tokens) and tokens[at].stem == "of"
        for name, shift in (("this", 0), ("last", -1), ("next", 1)):
            length = self._at(name, tokens, at)
            if length and [token.stem for token in tokens[at + length : at + length + 1]] == [
                "year"
            ]:
                return at + length + 1 - begin, shift
        return None

    def _part(self, tokens: Sequence[Token], at: int, now: Calendar) -> tuple[int, Period] | None:
        """``Q1 2026``, ``first half of 2026``, ``second quarter of last year``."""
        if reading := self._week_number(tokens, at, now):
            return reading
        stem = tokens[at].stem
        if len(stem) == 2 and stem[0] in "qh" and stem[1] in "1234":
            grain, number, length = ("quarter" if stem[0] == "q" else "half"), int(stem[1]), 1
        elif stem in self._ordinals and (unit := self._unit(tokens, at + 1)):
            grain, number, length = unit[1], self._ordinals[stem], 1 + unit[0]
        else:
            return None
        if grain not in ("quarter", "half") or number > 12 // MONTHS[grain]:
            return None
        year_at = at + length
        while year_at < len(tokens) and tokens[year_at].stem in ("of", "in", "the"):
            year_at += 1
        year = now.today.year
        if year_at < len(tokens) and is_year(tokens[year_at]):
            year, length = int(tokens[year_at].stem), year_at + 1 - at
        elif year_at < len(tokens):
            reading = self._relative(tokens, year_at, now)
            if reading and reading[1].grain == "year" and reading[1].start is not None:
                year, length = reading[1].start.year, year_at + reading[0] - at
        start = add_months(date(year, 1, 1), MONTHS[grain] * (number - 1))
        short = f"{'Q' if grain == 'quarter' else 'H'}{number} {year}"
        return length, Period(start, add_months(start, MONTHS[grain]), short, grain)

    def _week_number(
        self, tokens: Sequence[Token], at: int, now: Calendar
    ) -> tuple[int, Period] | None:
        """``week 12``, ``calendar week 12 of 2025``: as ISO 8601 counts them."""
        length = self._at("week_number", tokens, at) or self._at("week", tokens, at)
        number_at = at + length
        if (
            not length
            or number_at >= len(tokens)
            or not 1 <= (self.number(tokens[number_at]) or 0) <= 53
        ):
            return None
        number, year, end = (
            int(tokens[number_at].number or 0),
            now.today.isocalendar().year,
            number_at + 1,
        )
        behind = end + int(end < len(tokens) and tokens[end].stem in ("of", "in"))
        if behind < len(tokens) and is_year(tokens[behind]):
            year, end = int(tokens[behind].stem), behind + 1
        try:
            start = date.fromisocalendar(year, number, 1)
        except ValueError:
            return None
        label = f"week {number} of {year}"
        return end - at, Period(start, start + timedelta(days=7), label, "week")

    def _dated(self, tokens: Sequence[Token], at: int, now: Calendar) -> tuple[int, Period] | None:
        token = tokens[at]
        if token.kind == "date":
            try:
                day = date.fromisoformat(token.text)
            except ValueError:
                return None
            if not EARLIEST_YEAR <= day.year <= LATEST_YEAR:
                return None
            return 1, Period(day, day + timedelta(days=1), token.text, "day")
        if is_year(token):
            start = date(int(token.stem), 1, 1)
            return 1, Period(start, add_months(start, 12), token.stem, "year")
        length = self._at("fiscal", tokens, at)
        if length and at + length < len(tokens) and is_year(tokens[at + length]):
            start = date(int(tokens[at + length].stem), now.fiscal_month, 1)
            label = f"fiscal year {tokens[at + length].stem}"
            return length + 1, Period(start, add_months(start, 12), label, "year")
        return None

    # --- days by their names, and the hours of them

    def _feast(self, tokens: Sequence[Token], at: int, now: Calendar) -> tuple[int, Period] | None:
        """``since Christmas``, ``before Easter 2025``; by itself such a word is no day."""
        past = self._at("last", tokens, at)
        if not past and (not at or tokens[at - 1].stem not in self._introducing | _BEFORE_FEASTS):
            return None
        feast = self._feasts.read(tokens, at + past, now.today)
        if feast is None:
            return None
        behind = at + past + feast[0]
        if behind < len(tokens) and is_year(tokens[behind]):
            year = int(tokens[behind].stem)
            feast = self._feasts.read(tokens, at + past, now.today, year)
            return None if feast is None else (past + feast[0] + 1, feast[1])
        return past + feast[0], feast[1]

    def _daytime(
        self, tokens: Sequence[Token], at: int, now: Calendar
    ) -> tuple[int, Period] | None:
        """``this morning``, ``yesterday afternoon``, ``Friday evening``, ``tonight``."""
        today, a_day = now.today, timedelta(days=1)
        if length := self._at("tonight", tokens, at):
            evening = Period(today, today + a_day, "tonight, from 18 o'clock", hours=(18, 24))
            return length, evening
        if weekend := self._weekend(tokens, at, now):
            return weekend
        for name, hours in _HOURS.items():
            length = self._at("this", tokens, at)
            if length and (part := self._at(name, tokens, at + length)):
                day = Period(today, today + a_day, f"this {name}")
                return length + part, _part_of(day, name, hours)
            named = self._named(tokens, at, now) or self._weekday(tokens, at, now)
            if named and (part := self._at(name, tokens, at + named[0])):
                day = replace(named[1], label=f"{named[1].label} {name}")
                return named[0] + part, _part_of(day, name, hours)
        return None

    def _weekend(
        self, tokens: Sequence[Token], at: int, now: Calendar
    ) -> tuple[int, Period] | None:
        """``over the weekend``: the one that is over; ``this weekend``: the one to come."""
        past = self._at("last", tokens, at)
        ahead = 0 if past else self._at("this", tokens, at) or self._at("next", tokens, at)
        skipped = past or ahead
        length = self._at("weekend", tokens, at + skipped)
        if not length or not is_one(tokens[at + skipped + length - 1]):
            return None
        monday = unit_start(now.today, "week")
        saturday = monday + timedelta(days=5 if ahead else -2)
        label = f"the weekend of {saturday}"
        period = Period(saturday, saturday + timedelta(days=2), label)
        return skipped + length, replace(period, weekday=not skipped)

    def _named(self, tokens: Sequence[Token], at: int, now: Calendar) -> tuple[int, Period] | None:
        for name, shift in (("today", 0), ("yesterday", -1), ("tomorrow", 1)):
            if length := self._at(name, tokens, at):
                day = now.today + timedelta(days=shift)
                return length, Period(day, day + timedelta(days=1), name, "day")
        tomorrow = now.today + timedelta(days=1)
        for name, grain in (("ytd", "year"), ("mtd", "month"), ("qtd", "quarter")):
            if length := self._at(name, tokens, at):
                start = unit_start(now.today, grain)
                return length, Period(start, tomorrow, f"this {grain} to date")
        return None

    def _weekday(
        self, tokens: Sequence[Token], at: int, now: Calendar
    ) -> tuple[int, Period] | None:
        """``Monday``, ``last Friday``: the latest before today; ``next Monday``: the coming one."""
        length = self._at("last", tokens, at)
        ahead = 0 if length else self._at("next", tokens, at)
        end = at + (length or ahead)
        if end >= len(tokens) or tokens[end].stem not in self._weekdays:
            return None
        if not is_one(tokens[end]):
            return None  # "on Mondays" is about all of them
        wanted = self._weekdays[tokens[end].stem]
        if ahead:
            day = now.today + timedelta(days=(wanted - now.today.weekday() - 1) % 7 + 1)
        else:
            day = now.today - timedelta(days=(now.today.weekday() - wanted - 1) % 7 + 1)
        period = Period(day, day + timedelta(days=1), f"{day:%A}, {day}", "day")
        return end + 1 - at, replace(period, weekday=not (length or ahead))

    # --- units, numbers and phrases

    def grain(self, tokens: Sequence[Token], at: int) -> tuple[int, str] | None:
        """``monthly`` or ``per quarter`` at this place: how many tokens, and the grain."""
        names = {"daily": "day", "weekly": "week", "monthly": "month", "quarterly": "quarter",
                 "yearly": "year"}  # fmt: skip
        if (length := self._at("per", tokens, at)) and (unit := self.cycle(tokens, at + length)):
            return length + unit[0], unit[1]  # "per day of the week" is not "per day"
        for name, grain in names.items():
            if length := self._at(name, tokens, at):
                return length, grain
        return None

    def cycle(self, tokens: Sequence[Token], at: int) -> tuple[int, str] | None:
        """What comes again and again: ``weekday``, ``hour of the day``, ``month of the year``."""
        for name in CYCLES:
            length = self._at(name, tokens, at)
            if length and is_one(tokens[at + length - 1]):
                return length, name  # "by hours" is about how many they are
        return None

    def _month_of(self, token: Token) -> int | None:
        """The month that a word names: "Mars" and "Mays" name none."""
        return self._months.get(token.stem) if is_one(token) else None

    def _is_ranged(self, tokens: Sequence[Token], at: int) -> bool:
        """``between 9 may and``: whether a period begins here and nothing else can."""
        return at > 0 and (tokens[at - 1].stem,) in self._phrases["between"]

    def tells(self, tokens: Sequence[Token], at: int) -> bool:
        """Whether a day, a month, a number or a unit of time is named at this place."""
        token = tokens[at]
        named = token.stem in self._weekdays or (token.stem in self._months and token.stem != "may")
        return named or self._numbers.get(token.stem, 1) != 1 or token.stem in _UNITS

    def number(self, token: Token) -> int | None:
        """A whole number in digits or words."""
        if token.kind == "number" and token.number is not None:
            return int(token.number) if token.number == int(token.number) else None
        return self._numbers.get(token.stem)

    def _unit(self, tokens: Sequence[Token], at: int) -> tuple[int, str, bool] | None:
        """How many tokens, the grain, and whether it is of the fiscal year."""
        if length := self._at("fiscal", tokens, at):
            return length, "year", True
        for grain in GRAINS:
            if length := self._at(grain, tokens, at):
                return length, grain, False
        return None

    def _at(self, name: str, tokens: Sequence[Token], at: int) -> int:
        """How many tokens of a phrase of this name stand at this place; 0 for none."""
        if at >= len(tokens):
            return 0
        for stems in self._beginning.get(name, {}).get(tokens[at].stem, ()):
            if stems == tuple(token.stem for token in tokens[at : at + len(stems)]):
                return len(stems)
        return 0


def _part_of(day: Period, name: str, hours: tuple[int, int]) -> Period:
    begin, end = hours
    label = f"{day.label}, from {begin} to {end} o'clock"
    return replace(day, label=label, hours=hours, grain=None)


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


def is_day(token: Token) -> bool:
    return 1 <= day_of(token) <= 31


def day_of(token: Token) -> int:
    """5, ``5th``: the day of a month; 0 for anything else."""
    digits = token.text.lower().rstrip("stndrh")
    return int(digits) if digits.isdecimal() and len(digits) <= 2 else 0


def before(day: date) -> date:
    return day - timedelta(days=1)
