"""Days by their names, and the hours of them: ``yesterday``, ``last Friday``, ``this morning``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from app.bi.periods.period_words import PeriodWords, is_one, is_year
from app.bi.periods.spans import Calendar, Period, unit_start
from app.bi.words.tokens import Token

_BEFORE_FEASTS = {"between", "the"}
# From which hour of the first day to which hour of the last.
_HOURS = {"morning": (0, 12), "afternoon": (12, 18), "evening": (18, 24)}


class DayTimes(PeriodWords):
    """Finds days by their names among tokens."""

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


def _part_of(day: Period, name: str, hours: tuple[int, int]) -> Period:
    begin, end = hours
    label = f"{day.label}, from {begin} to {end} o'clock"
    return replace(day, label=label, hours=hours, grain=None)
