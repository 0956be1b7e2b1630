"""Periods of time in words, as half-open ranges of days: ``last quarter``, ``since March``."""

from __future__ import annotations

import calendar
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from app.bi.nlq.words import Token, phrase

GRAINS = ("day", "week", "month", "quarter", "half", "year")
_MONTHS = {"month": 1, "quarter": 3, "half": 6, "year": 12}


@dataclass(frozen=True)
class Period:
    """Days from ``start`` up to, not including, ``end``; None where it is open."""

    start: date | None
    end: date | None
    label: str
    grain: str | None = None

    def before(self) -> Period | None:
        """The period of the same kind just before."""
        if self.start is None or self.end is None:
            return None
        if self.grain in _MONTHS:
            start = add_months(self.start, -_MONTHS[self.grain])
        else:
            start = self.start - (self.end - self.start)
        return Period(start, self.start, f"the {self.grain or 'period'} before", self.grain)


@dataclass(frozen=True)
class Calendar:
    """What day it is, and the first month of the fiscal year."""

    today: date
    fiscal_month: int = 1
    zone: str = "UTC"


def midnight(day: date, zone: str) -> str:
    """The instant at which a day begins in a time zone, as OData writes it."""
    begin = datetime.combine(day, time(), ZoneInfo(zone)).astimezone(UTC)
    return begin.strftime("%Y-%m-%dT%H:%M:%SZ")


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
    size = _MONTHS[grain]
    since = (day.month - fiscal_month) % 12 % size
    return add_months(day.replace(day=1), -since)


def step(day: date, grain: str, count: int) -> date:
    """``day`` moved by whole units."""
    if grain in _MONTHS:
        return add_months(day, _MONTHS[grain] * count)
    return day + timedelta(days=count * (7 if grain == "week" else 1))


class PeriodReader:
    """Finds periods among tokens, in the words of a vocabulary."""

    def __init__(self, words: Mapping[str, Any], months: Sequence[Sequence[str]]) -> None:
        self._phrases: dict[str, list[tuple[str, ...]]] = {}
        for name, texts in words.items():
            if name in ("ordinals", "numbers"):
                continue
            self._phrases[name] = sorted((phrase(text) for text in texts), key=len, reverse=True)
        self._months = {phrase(n)[0]: at + 1 for at, names in enumerate(months) for n in names}
        self._ordinals = {
            phrase(n)[0]: at + 1 for at, ns in enumerate(words["ordinals"]) for n in ns
        }
        self._numbers = {phrase(n)[0]: at for at, n in enumerate(words["numbers"])}
        self.words = {word for found in self._phrases.values() for one in found for word in one} | {
            *self._months,
            *self._ordinals,
            *self._numbers,
        }

    def grain(self, tokens: Sequence[Token], at: int) -> tuple[int, str] | None:
        """``monthly`` or ``per quarter`` at this place: how many tokens, and the grain."""
        names = {"daily": "day", "weekly": "week", "monthly": "month", "quarterly": "quarter",
                 "yearly": "year"}  # fmt: skip
        for name, grain in names.items():
            if length := self._at(name, tokens, at):
                return length, grain
        return None

    @staticmethod
    def is_year(token: Token) -> bool:
        """Whether a token can be a year."""
        return _is_year(token)

    def number(self, token: Token) -> int | None:
        """A whole number in digits or words."""
        if token.kind == "number" and token.number is not None:
            return int(token.number) if token.number == int(token.number) else None
        return self._numbers.get(token.stem)

    def read(self, tokens: Sequence[Token], at: int, now: Calendar) -> tuple[int, Period] | None:
        """The period that begins at this place: how many tokens it takes, and what it is."""
        if length := self._at("between", tokens, at):
            return self._range(tokens, at, at + length, now)
        if length := self._at("since", tokens, at):
            found = self._range(tokens, at, at + length, now)
            if found is None and (point := self._point(tokens, at + length, now)):
                if tokens[at].stem == "from" and point[1].grain not in (None, "day"):
                    return length + point[0], point[1]  # "from last month" is of that month
                after = tokens[at].stem == "after"
                start = point[1].end if after else point[1].start
                return length + point[0], Period(start, None, f"since {start}")
            if found is not None:
                return found
        if (length := self._at("until", tokens, at)) and (
            point := self._point(tokens, at + length, now)
        ):
            through = tokens[at].stem in ("by", "through", "until", "till", "up")
            end = point[1].end if through else point[1].start
            return length + point[0], Period(None, end, f"before {end}")
        skipped = self._at("on", tokens, at)
        found = self._range(tokens, at, at + skipped, now)
        if found is not None and "and" in {token.stem for token in tokens[at : at + found[0]]}:
            found = None  # "Q1 and Q2" are two periods, "between Q1 and Q2" is one
        found = found or self._point(tokens, at + skipped, now)
        if found is None:
            return None
        total = found[0] if found[0] > skipped and self._is_range(found, at) else found[0] + skipped
        return total, found[1]

    @staticmethod
    def _is_range(found: tuple[int, Period], at: int) -> bool:
        return found[1].label.startswith("from ")

    def _range(
        self, tokens: Sequence[Token], begin: int, at: int, now: Calendar
    ) -> tuple[int, Period] | None:
        """``January to March 2026``; the year of the end counts for a start without one."""
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
        named_year = any(_is_year(token) for token in tokens[at:middle])
        if not named_year and tokens[at].stem in self._months and last[1].start is not None:
            start = start.replace(year=last[1].start.year)
        if start >= end:
            start = add_months(start, -12)
        last_day = end - timedelta(days=1)
        return end_at - begin, Period(start, end, f"from {start} to {last_day}")

    # --- single periods

    def _point(self, tokens: Sequence[Token], at: int, now: Calendar) -> tuple[int, Period] | None:
        while at < len(tokens) and tokens[at].stem in ("the", "of", "end"):
            found = self._point(tokens, at + 1, now)
            return None if found is None else (found[0] + 1, found[1])
        if at >= len(tokens):
            return None
        for read in (self._named, self._ago, self._relative, self._month, self._part, self._dated):
            if found := read(tokens, at, now):
                return found
        return None

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

    def _ago(self, tokens: Sequence[Token], at: int, now: Calendar) -> tuple[int, Period] | None:
        """``3 months ago``: that month."""
        if at + 2 >= len(tokens) or tokens[at + 2].stem != "ago":
            return None
        count, unit = self.number(tokens[at]), self._unit(tokens, at + 1)
        if count is None or unit is None or count > 1200:
            return None
        start = unit_start(step(now.today, unit[1], -count), unit[1])
        end = step(start, unit[1], 1)
        return 3, Period(start, end, f"{count} {unit[1]}s ago", unit[1])

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
                return total, Period(start, tomorrow, f"the last {count} {units}")
            return total, Period(
                now.today, step(now.today, unit[1], count), f"the next {count} {units}"
            )
        for name, shift in (("this", 0), ("last", -1), ("next", 1)):
            if (length := self._at(name, tokens, at)) and (unit := self._unit(tokens, at + length)):
                fiscal = now.fiscal_month if unit[2] else 1
                start = step(unit_start(now.today, unit[1], fiscal), unit[1], shift)
                label = f"{name} {'fiscal ' if unit[2] else ''}{unit[1]}"
                return length + unit[0], Period(start, step(start, unit[1], 1), label, unit[1])
        return None

    def _month(self, tokens: Sequence[Token], at: int, now: Calendar) -> tuple[int, Period] | None:
        """``March``, ``March 2026``, ``March 5``, ``5 March 2026``, ``last March``."""
        shift = self._at("last", tokens, at) or self._at("this", tokens, at)
        past = bool(self._at("last", tokens, at))
        at, begin = at + shift, at
        day, length = None, 0
        if at < len(tokens) and _is_day(tokens[at]) and at + 1 < len(tokens):
            day, length = int(tokens[at].number or _day(tokens[at])), 1
            if tokens[at + 1].stem == "of":
                length = 2
        if at + length >= len(tokens) or tokens[at + length].stem not in self._months:
            return None
        written = tokens[at + length].text
        month = self._months[tokens[at + length].stem]
        if len(written) == 3 and written == "may":  # "may" is a verb as well
            return None
        length += 1
        if day is None and at + length < len(tokens) and _is_day(tokens[at + length]):
            day, length = _day(tokens[at + length]), length + 1
        year = None
        if at + length < len(tokens) and _is_year(tokens[at + length]):
            year, length = int(tokens[at + length].stem), length + 1
        total = at + length - begin
        if year is None:
            year = now.today.year
            if date(year, month, 1) > now.today or (past and month == now.today.month):
                year -= 1
        if day is not None:
            try:
                found = date(year, month, day)
            except ValueError:
                return None
            return total, Period(found, found + timedelta(days=1), str(found), "day")
        start = date(year, month, 1)
        return total, Period(
            start, add_months(start, 1), f"{calendar.month_name[month]} {year}", "month"
        )

    def _part(self, tokens: Sequence[Token], at: int, now: Calendar) -> tuple[int, Period] | None:
        """``Q1 2026``, ``first half of 2026``, ``second quarter of last year``."""
        stem = tokens[at].stem
        if len(stem) == 2 and stem[0] in "qh" and stem[1] in "1234":
            grain, number, length = ("quarter" if stem[0] == "q" else "half"), int(stem[1]), 1
        elif stem in self._ordinals and (unit := self._unit(tokens, at + 1)):
            grain, number, length = unit[1], self._ordinals[stem], 1 + unit[0]
        else:
            return None
        if grain not in ("quarter", "half") or number > 12 // _MONTHS[grain]:
            return None
        year_at = at + length
        while year_at < len(tokens) and tokens[year_at].stem in ("of", "in", "the"):
            year_at += 1
        year = now.today.year
        if year_at < len(tokens) and _is_year(tokens[year_at]):
            year, length = int(tokens[year_at].stem), year_at + 1 - at
        elif year_at < len(tokens):
            found = self._relative(tokens, year_at, now)
            if found and found[1].grain == "year" and found[1].start is not None:
                year, length = found[1].start.year, year_at + found[0] - at
        start = add_months(date(year, 1, 1), _MONTHS[grain] * (number - 1))
        short = f"{'Q' if grain == 'quarter' else 'H'}{number} {year}"
        return length, Period(start, add_months(start, _MONTHS[grain]), short, grain)

    def _dated(self, tokens: Sequence[Token], at: int, now: Calendar) -> tuple[int, Period] | None:
        token = tokens[at]
        if token.kind == "date":
            try:
                found = date.fromisoformat(token.text)
            except ValueError:
                return None
            return 1, Period(found, found + timedelta(days=1), token.text, "day")
        if _is_year(token):
            start = date(int(token.stem), 1, 1)
            return 1, Period(start, add_months(start, 12), token.stem, "year")
        length = self._at("fiscal", tokens, at)
        if length and at + length < len(tokens) and _is_year(tokens[at + length]):
            start = date(int(tokens[at + length].stem), now.fiscal_month, 1)
            label = f"fiscal year {tokens[at + length].stem}"
            return length + 1, Period(start, add_months(start, 12), label, "year")
        return None

    # --- pieces

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
        for one in self._phrases[name]:
            if len(one) <= len(tokens) - at and all(
                tokens[at + k].stem == word for k, word in enumerate(one)
            ):
                return len(one)
        return 0


def _is_year(token: Token) -> bool:
    return token.kind == "number" and token.text.isdigit() and 1990 <= int(token.text) <= 2100


def _is_day(token: Token) -> bool:
    return 1 <= _day(token) <= 31


def _day(token: Token) -> int:
    """5, ``5th``: the day of a month; 0 for anything else."""
    digits = token.text.lower().rstrip("stndrh")
    return int(digits) if digits.isdigit() and len(digits) <= 2 else 0
