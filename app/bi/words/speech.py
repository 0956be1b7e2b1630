"""Sentences, labels, numbers and days of answers in the language of the question.

A sentence is named by its English; the file of another language has it under ``[sentences]``, and
what things are called under ``[labels]``, by their English in small letters.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from babel import Locale
from babel.dates import format_date, format_skeleton, get_day_names, get_month_names
from babel.numbers import get_decimal_symbol, get_group_symbol

from app.bi.periods.spans import Period, step, unit_start
from app.odata.names import apart

ENGLISH_CODE = "en"
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_SKELETONS = {"month": "yMMMM", "quarter": "yQQQ", "year": "y"}


class Speech:
    """Says things in one language; ``say("before {day}", day=...)``."""

    def __init__(self, code: str, data: Mapping[str, Any]) -> None:
        self.code = code
        self._is_english = code == ENGLISH_CODE
        self._locale = Locale.parse(code)
        self._sentences: Mapping[str, str] = data.get("sentences", {})
        self._labels: Mapping[str, str] = data.get("labels", {})
        self._signs = str.maketrans({
            ",": get_group_symbol(self._locale), ".": get_decimal_symbol(self._locale),
        })  # fmt: skip

    def __call__(self, english: str, **parts: object) -> str:
        """A sentence, or a part of one, with what is said in it."""
        text = self._sentences.get(english, english)
        return text.format(**parts) if parts else text

    def named(self, english: str) -> str:
        """What something is called that English calls so: ``Net revenue``, ``tickets``."""
        return self._labels.get(english.lower(), english)

    def inside(self, english: str) -> str:
        """The same within a sentence: English begins it small, other files say what is large.

        What is said in that language already stays as it is.
        """
        small = f"{english[:1].lower()}{english[1:]}" if self._is_english else english
        return self._labels.get(english.lower(), small)

    def lower(self, english: str) -> str:
        """The same in small letters where the language writes names of things so."""
        return self._labels.get(english.lower()) or (
            english.lower() if self._is_english else english
        )

    def capital(self, english: str) -> str:
        """The same as the beginning of a sentence."""
        text = self.named(english)
        return text.capitalize() if text == english and self._is_english else capital(text)

    def digits(self, text: str) -> str:
        """A number that is written as in English: ``1,234.50`` -> ``1.234,50``."""
        return text.translate(self._signs)

    def limit(self, text: str) -> str:
        """A number that a question names: ``50000`` -> ``50,000``."""
        return self.digits(f"{Decimal(text):,}")

    def country(self, code: str) -> str:
        """``Switzerland`` for CH; the code of one that has no name."""
        return str(self._locale.territories.get(code, code))

    def day(self, day: date) -> str:
        """``2026-10-01`` in English, ``01.10.2026`` in German."""
        return str(day) if self._is_english else format_date(day, "medium", self._locale)

    def span(self, period: Period) -> str:
        """From which day to which."""
        if period.start is None:
            return self("before {day}", day=self.day(period.end)) if period.end else ""
        if period.end is None:
            return self("from {day}", day=self.day(period.start))
        last = period.end - timedelta(days=1)
        if last == period.start:
            return self.day(last)
        return self("{first} to {last}", first=self.day(period.start), last=self.day(last))

    def period(self, period: Period) -> str:
        """What a period is called: ``last month``; in other languages by its days."""
        if self._is_english:
            return period.label
        start, end = period.start, period.end
        name = self.span(period)
        if start is not None and end is not None:
            for grain, skeleton in _SKELETONS.items():
                if start == unit_start(start, grain) and end == step(start, grain, 1):
                    name = format_skeleton(skeleton, start, locale=self._locale)
        if period.hours is None:
            return name
        begin, until = period.hours
        return self("{day}, from {begin} to {end} o'clock", day=name, begin=begin, end=until)

    def stamp(self, grain: str, year: int, part: int) -> str:
        """A month, quarter or half of a year: ``2026-03``, ``Q1 2026``; ``März 2026``."""
        if grain != "month":
            return self(f"{grain[0].upper()}{{part}} {{year}}", part=part, year=year)
        if self._is_english:
            return f"{year}-{part:02d}"
        return str(format_skeleton("yMMMM", date(year, part, 1), locale=self._locale))

    def member(self, name: str) -> str:
        """What a member of an enumeration is called: ``Partially paid``, ``teilweise bezahlt``."""
        words = apart(name).lower()
        own = f"{name[:1]}{words[1:]}" if words != name.lower() else name  # "API" stays as it is
        return self._labels.get(words, own)

    def dated(self, text: str) -> str:
        """A value that may be a day, as it is read."""
        try:
            return self.day(date.fromisoformat(text)) if _DAY.fullmatch(text) else text
        except ValueError:
            return text

    def weekday(self, number: int) -> str:
        """``Monday`` for 1."""
        return str(get_day_names("wide", "stand-alone", self._locale)[number - 1])

    def month(self, number: int) -> str:
        """``March`` for 3."""
        return str(get_month_names("wide", "stand-alone", self._locale)[number])


def plural(noun: str) -> str:
    """Several of what is called so in English."""
    return f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"


def capital(text: str) -> str:
    """A text as the beginning of a sentence."""
    return f"{text[:1].upper()}{text[1:]}"


ENGLISH = Speech(ENGLISH_CODE, {})
