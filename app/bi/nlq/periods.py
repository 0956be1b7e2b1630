"""Periods of time in words, as half-open ranges of days: ``last quarter``, ``since March``."""

from __future__ import annotations

import calendar
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any

from app.bi.nlq.spans import GRAINS, MONTHS, Calendar, Period, add_months, step, unit_start
from app.bi.nlq.words import Token, phrase


class PeriodReader:
    """Finds periods among tokens, in the words of a vocabulary."""

    def __init__(self, words: Mapping[str, Any], months: Sequence[Sequence[str]]) -> None:
        self._phrases: dict[str, list[tuple[str, ...]]] = {}
        for name, texts in words.items():
            if name in ("ordinals", "numbers", "weekdays", "articles"):
                continue
            self._phrases[name] = sorted((phrase(text) for text in texts), key=len, reverse=True)
        self._months = {phrase(n)[0]: at + 1 for at, names in enumerate(months) for n in names}
        self._ordinals = {
            phrase(n)[0]: at + 1 for at, ns in enumerate(words["ordinals"]) for n in ns
        }
        self._numbers = {phrase(n)[0]: at for at, n in enumerate(words["numbers"])}
        self._introducing = {
            one[-1] for name in ("on", "since", "until", "to") for one in self._phrases[name] if one
        }
        self._articles = {phrase(text)[0] for text in words["articles"]}
        self._weekdays = {phrase(n)[0]: at for at, n in enumerate(words["weekdays"])}
        self.words = {word for found in self._phrases.values() for one in found for word in one} | {
            *self._months,
            *self._ordinals,
            *self._numbers,
            *self._weekdays,
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

    def is_month(self, tokens: Sequence[Token]) -> bool:
        """Whether the name of a month stands first, or behind an ``of``."""
        stems = [token.stem for token in tokens if token.stem != "of"]
        return bool(stems) and stems[0] in self._months

    def is_article(self, token: Token) -> bool:
        """Whether it says one without a number: ``a week``."""
        return token.stem in self._articles

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
            return length + point[0], Period(None, end, f"before {end}", None, point[1].said)
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
        named_year = any(_is_year(token) for token in tokens[at:middle])
        if not named_year and tokens[at].stem in self._months and last[1].start is not None:
            start = start.replace(year=last[1].start.year)
        if start >= end:
            start = add_months(start, -12)
        last_day = end - timedelta(days=1)
        return end_at - begin, Period(start, end, f"from {start} to {last_day}")

    def _days(self, tokens: Sequence[Token], at: int, now: Calendar) -> tuple[int, Period] | None:
        """``1 to 15 May``, ``May 1 to 15``: days of one month."""
        if at >= len(tokens):
            return None
        if _is_day(tokens[at]) and (length := self._at("to", tokens, at + 1)):
            found = self._month(tokens, at + 1 + length, now)
            first, total = _day(tokens[at]), 1 + length + (found[0] if found else 0)
        else:
            found = self._month(tokens, at, now)
            after = at + (found[0] if found else 0)
            length = self._at("to", tokens, after) if after < len(tokens) else 0
            place = after + length
            if not length or place >= len(tokens) or not _is_day(tokens[place]):
                return None
            if place + 1 < len(tokens) and tokens[place + 1].stem in self._months:
                return None
            if found is None or found[1].start is None or found[1].grain != "day":
                return None
            last = found[1].start.replace(day=1) + timedelta(days=_day(tokens[place]))
            period = Period(found[1].start, last, f"from {found[1].start} to {_before(last)}")
            return place + 1 - at, period
        if found is None or found[1].grain != "day" or found[1].start is None:
            return None
        start, end = found[1].start.replace(day=first), found[1].end
        if end is None or start >= end:
            return None
        return total, Period(start, end, f"from {start} to {_before(end)}")

    # --- single periods

    def _point(self, tokens: Sequence[Token], at: int, now: Calendar) -> tuple[int, Period] | None:
        while at < len(tokens) and tokens[at].stem in ("the", "of", "end"):
            found = self._point(tokens, at + 1, now)
            return None if found is None else (found[0] + 1, found[1])
        if at >= len(tokens):
            return None
        for read in (self._named, self._ago, self._relative, self._weekday, self._month, self._part,
                     self._dated):  # fmt: skip
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
        if tokens[at].stem in self._articles:
            count = 1
        if count is None or unit is None or count > 1200:
            return None
        start = unit_start(step(now.today, unit[1], -count), unit[1])
        units = unit[1] if count == 1 else f"{unit[1]}s"
        return 3, Period(start, step(start, unit[1], 1), f"{count} {units} ago", unit[1])

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
        if (length := self._at("rolling", tokens, at)) and (
            unit := self._unit(tokens, at + length)
        ):
            start = step(tomorrow, unit[1], -1)
            return length + unit[0], Period(start, tomorrow, f"the last 1 {unit[1]}")
        for name, shift in (("this", 0), ("last", -1), ("next", 1)):
            if (length := self._at(name, tokens, at)) and (unit := self._unit(tokens, at + length)):
                fiscal = now.fiscal_month if unit[2] else 1
                start = step(unit_start(now.today, unit[1], fiscal), unit[1], shift)
                label = f"{name} {'fiscal ' if unit[2] else ''}{unit[1]}"
                return length + unit[0], Period(start, step(start, unit[1], 1), label, unit[1])
        return None

    def _weekday(
        self, tokens: Sequence[Token], at: int, now: Calendar
    ) -> tuple[int, Period] | None:
        """``Monday``, ``last Friday``: the latest before today; ``next Monday``: the coming one."""
        length = self._at("last", tokens, at)
        ahead = 0 if length else self._at("next", tokens, at)
        place = at + (length or ahead)
        if place >= len(tokens) or tokens[place].stem not in self._weekdays:
            return None
        wanted = self._weekdays[tokens[place].stem]
        if ahead:
            day = now.today + timedelta(days=(wanted - now.today.weekday() - 1) % 7 + 1)
        else:
            day = now.today - timedelta(days=(now.today.weekday() - wanted - 1) % 7 + 1)
        return place + 1 - at, Period(day, day + timedelta(days=1), f"{day:%A}, {day}", "day")

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
        introduced = begin > 0 and tokens[begin - 1].stem in self._introducing
        if written == "may" and not introduced:  # "may" is a verb as well
            return None
        length += 1
        if day is None and at + length < len(tokens) and _is_day(tokens[at + length]):
            day, length = _day(tokens[at + length]), length + 1
        year, said = None, True
        if at + length < len(tokens) and _is_year(tokens[at + length]):
            year, length = int(tokens[at + length].stem), length + 1
        total = at + length - begin
        if year is None:
            year, said = now.today.year, bool(shift)
            if date(year, month, 1) > now.today or (past and month == now.today.month):
                year -= 1
        if day is not None:
            try:
                found = date(year, month, day)
            except ValueError:
                return None
            return total, Period(found, found + timedelta(days=1), str(found), "day", said)
        start = date(year, month, 1)
        label = f"{calendar.month_name[month]} {year}"
        return total, Period(start, add_months(start, 1), label, "month", said)

    def _part(self, tokens: Sequence[Token], at: int, now: Calendar) -> tuple[int, Period] | None:
        """``Q1 2026``, ``first half of 2026``, ``second quarter of last year``."""
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
        if year_at < len(tokens) and _is_year(tokens[year_at]):
            year, length = int(tokens[year_at].stem), year_at + 1 - at
        elif year_at < len(tokens):
            found = self._relative(tokens, year_at, now)
            if found and found[1].grain == "year" and found[1].start is not None:
                year, length = found[1].start.year, year_at + found[0] - at
        start = add_months(date(year, 1, 1), MONTHS[grain] * (number - 1))
        short = f"{'Q' if grain == 'quarter' else 'H'}{number} {year}"
        return length, Period(start, add_months(start, MONTHS[grain]), short, grain)

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


def _before(day: date) -> date:
    return day - timedelta(days=1)
