"""Periods in a question: where they stand, and what days they are; resolved at the very end."""

from __future__ import annotations

import calendar
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from app.bi.periods.reader import PeriodReader
from app.bi.periods.spans import Calendar, Period, step
from app.bi.questions.algebra import When
from app.bi.words.tokens import Token, tokenise

# "older than 30 days": until so long ago; since then; "for a month": all the time.
_BEFORE, _SINCE, _LASTING = "more than", "less than", "for"
_AGES = {"older": _BEFORE, "younger": _SINCE, "lasting": _LASTING}
_EARLIER = "the one before"
_ALL_BEFORE = "all before"
_UNITS = ("day", "week", "month", "quarter", "year")
_MOST_UNITS = 1200


@dataclass(frozen=True)
class Spoken:
    """A period at a place: tokens from ``start`` to ``end``."""

    start: int
    end: int
    when: When


@dataclass(frozen=True)
class _English:
    """Tokens in the words that periods are kept in, and the place of the one each comes from."""

    tokens: list[Token]
    places: list[int]

    def span(self, start: int, end: int) -> tuple[int, int] | None:
        """From which token to which; None where a part of one would be left."""
        before, after = self.places[:start][-1:], self.places[end : end + 1]
        first, last = self.places[start], self.places[end - 1]
        return None if before == [first] or after == [last] else (first, last + 1)


class Periods:
    """Reads and resolves periods on a day.

    ``english``: stems of another language -> the English words that periods are kept in.
    """

    def __init__(
        self, reader: PeriodReader, now: Calendar, english: Mapping[str, str] | None = None
    ) -> None:
        self._reader, self.now, self._english = reader, now, english or {}
        self._known: dict[str, Period | None] = {}

    def find(self, tokens: Sequence[Token]) -> Iterator[Spoken]:
        """The longest period that begins at each token, and of a range its beginning."""
        english = self._in_english(tokens)
        for at, token in enumerate(english.tokens):
            if not self._reader.may_begin(token):
                continue
            period = self._reader.read(english.tokens, at, self.now)
            if period is None:
                continue
            yield from self._spoken(english, at, *period)
            middle = next((position for position in range(at + 1, at + period[0])
                           if self._reader.is_joint(english.tokens, position)), at)  # fmt: skip
            first = self._reader.read(english.tokens[:middle], at, self.now)
            if middle > at and first is not None and at + first[0] == middle:
                yield from self._spoken(english, at, *first)

    def _spoken(self, english: _English, at: int, length: int, period: Period) -> Iterator[Spoken]:
        span = english.span(at, at + length)
        if span is None:
            return
        words = " ".join(corrected(token) for token in english.tokens[at : at + length]).lower()
        for candidate in (words, f"in {words}", f"since {words}"):
            if self._read(candidate) == period:
                yield Spoken(*span, When(candidate))
                return
        exact = self._dated(period)
        if exact is not None:
            yield Spoken(*span, exact)

    def grains(self, tokens: Sequence[Token]) -> Iterator[tuple[int, int, str]]:
        """Units by which something is told: ``monthly``, ``per week``, ``weekday``."""
        english = self._in_english(tokens)
        for at, token in enumerate(english.tokens):
            if not self._reader.may_begin(token):
                continue
            grain = self._reader.grain(english.tokens, at) or self._reader.cycle(english.tokens, at)
            span = None if grain is None else english.span(at, at + grain[0])
            if grain is not None and span is not None:
                yield *span, grain[1]

    def number(self, token: Token) -> int | None:
        """A whole number in digits or words."""
        words = self._in_english([token]).tokens
        return self._reader.number(words[0]) if len(words) == 1 else None

    def is_month(self, word: str) -> bool:
        """Whether it is what a month is called."""
        return any(
            token.stem in self._reader.months for token in self._in_english(tokenise(word)).tokens
        )

    def _in_english(self, tokens: Sequence[Token]) -> _English:
        english = _English([], [])
        for at, token in enumerate(tokens):
            words = self._english.get(token.stem) or _without_year(token)
            words = words or self._ordinal(token, *tokens[at + 1 : at + 2])
            parts = tokenise(words) if words else [token]
            english.tokens.extend(parts)
            english.places.extend([at] * len(parts))
        return english

    def _ordinal(self, token: Token, *unit: Token) -> str:
        """``2. Halbjahr``: the second one; empty for any other number."""
        of_year = [self._english.get(each.stem) for each in unit if each.text.lower() == each.stem]
        if token.kind != "number" or not {"quarter", "half"}.intersection(of_year):
            return ""
        ordinals = self._reader.ordinals.items()
        return next((word for word, number in ordinals if number == token.number), "")

    def resolve(self, when: When) -> Period | None:
        """The days that are meant; None where the words are no period."""
        head, _, rest = when.words.partition("|")
        if rest and head == _EARLIER:
            period = self.resolve(When(rest))
            return None if period is None else period.before()
        if rest and head == _ALL_BEFORE:
            period = self.resolve(When(rest))
            if period is None or period.start is None:
                return None
            return Period(None, period.start, f"before {period.start}")
        if rest and head in _AGES.values():
            return self._bounded(head, rest)
        if rest:
            return self._joined(head, rest)
        return self._read(when.words)

    def _read(self, words: str) -> Period | None:
        """The period that some words are as a whole; read once for all that is made of it."""
        if words not in self._known:
            tokens = tokenise(words)
            period = self._reader.read(tokens, 0, self.now)
            is_whole = period is not None and period[0] == len(tokens)
            self._known[words] = period[1] if period is not None and is_whole else None
        return self._known[words]

    def _dated(self, period: Period) -> When | None:
        """The same days by their dates, where the words alone say less than their place."""
        if period.start is None or period.end is None or period.hours is not None:
            return None
        words = f"from {period.start} to {period.end.fromordinal(period.end.toordinal() - 1)}"
        return When(words) if self._read(words) is not None else None

    def _joined(self, head: str, rest: str) -> Period | None:
        """Two periods as one; None where days lie between them."""
        first, second = self._read(head), self.resolve(When(rest))
        if first is None or second is None or first.hours or second.hours:
            return None
        if second.start is not None and first.start is not None and second.start < first.start:
            first, second = second, first
        if first.start is None or first.end is None or first.end != second.start:
            return None
        return Period(first.start, second.end, f"{first.label} and {second.label}")

    def _bounded(self, head: str, rest: str) -> Period | None:
        """``more than|30 day``: before the day so long ago; ``less than``: since then."""
        number, _, unit = rest.partition(" ")
        if unit not in _UNITS or not number.isdecimal() or int(number) > _MOST_UNITS:
            return None
        plural = unit if number == "1" else f"{unit}s"
        day = step(self.now.today, unit, -int(number))
        if head == _SINCE:
            return Period(day, None, f"in the last {number} {plural}")
        return Period(None, day, f"more than {number} {plural} ago")


def _without_year(token: Token) -> str:
    """``1.5.`` as the first of May; empty for any other word."""
    day, _, month = token.text.rstrip(".").partition(".")
    is_day = token.kind == "date" and month.isdecimal() and 0 < int(month) <= 12
    return f"{int(day)} {calendar.month_name[int(month)]}" if is_day else ""


def before(when: When) -> When:
    """The period of the same kind just before."""
    return When(f"{_EARLIER}|{when.words}")


def all_before(when: When) -> When:
    """All that lies before a period."""
    return When(f"{_ALL_BEFORE}|{when.words}")


def both(first: When, second: When) -> When:
    """Two periods as one."""
    return When(f"{first.words}|{second.words}")


def ago(number: str, unit: str, role: str) -> When:
    """So many units back: ``older``, ``younger``, or ``lasting`` since then."""
    return When(f"{_AGES[role]}|{number} {unit}")


def since_then(when: When) -> When:
    """From so long ago on: of ``more than 30 days ago`` the last 30 days; of a period itself."""
    return When(f"{_SINCE}|{when.words.partition('|')[2]}") if unit_of_age(when) else when


def coming(when: When) -> When:
    """``within 60 days`` of what lies ahead: from today on; what is older stays as it is."""
    head, _, rest = when.words.partition("|")
    return When(f"next {rest}s") if head == _SINCE else when


def unit_of_age(when: When) -> str:
    """The unit of ``more than 30 days ago``; empty for a period."""
    head, _, rest = when.words.partition("|")
    return rest.partition(" ")[2] if head in _AGES.values() else ""


def is_long_ago(when: When) -> bool:
    """Whether it is so long ago and more."""
    return when.words.startswith((f"{_BEFORE}|", f"{_LASTING}|"))


def is_lasting(when: When) -> bool:
    """Whether something is so, or is not done, all the time since then: ``for 2 months``."""
    return when.words.startswith(f"{_LASTING}|")


def corrected(token: Token) -> str:
    """A token as it was meant: repaired, where it was misspelt."""
    return token.stem if token.repaired_from else token.text
