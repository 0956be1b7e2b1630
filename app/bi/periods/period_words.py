"""The words of periods: units, months, numbers, and what comes again and again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from typing import Any

from app.bi.periods.feasts import Feasts
from app.bi.periods.spans import CYCLES, GRAINS
from app.bi.words.tokens import Token, phrase

_UNITS = {*GRAINS, "today", "yesterday", "tomorrow", "ytd"}


class PeriodWords:
    """Finds the words of periods among tokens, in a vocabulary."""

    def __init__(
        self,
        words: Mapping[str, Any],
        months: Sequence[Sequence[str]],
        feasts: Mapping[str, Mapping[str, Sequence[str]]],
    ) -> None:
        self._feasts = Feasts(feasts)
        self._phrases: dict[str, list[tuple[str, ...]]] = {}
        for name, texts in words.items():
            if name in ("ordinals", "numbers", "weekdays", "articles"):
                continue
            self._phrases[name] = sorted((phrase(text) for text in texts), key=len, reverse=True)
        self._beginning = {name: _by_first(phrases) for name, phrases in self._phrases.items()}
        self._months = {phrase(n)[0]: at + 1 for at, names in enumerate(months) for n in names}
        self._ordinals = {
            phrase(n)[0]: at + 1 for at, ns in enumerate(words["ordinals"]) for n in ns
        }
        self._numbers = {phrase(n)[0]: at for at, n in enumerate(words["numbers"])}
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

    @staticmethod
    def is_year(token: Token) -> bool:
        """Whether a token can be a year."""
        return is_year(token)

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
