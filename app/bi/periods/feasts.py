"""Days that have a name and no date in the question: ``since Christmas``, ``before Easter``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta

from app.bi.periods.spans import Period
from app.bi.words.tokens import Token, phrase

# How many years are looked back for the last one.
_YEARS = 2


class Feasts:
    """The named days of a language."""

    def __init__(self, data: Mapping[str, Mapping[str, Sequence[str]]]) -> None:
        self._days: list[tuple[tuple[str, ...], Callable[[int], date]]] = []
        for when, names in data["fixed"].items():
            month, day = (int(part) for part in when.split("-"))
            self._days += [(phrase(name), _fixed(month, day)) for name in names]
        for shift, names in data["easter"].items():
            self._days += [(phrase(name), _movable(int(shift))) for name in names]
        self._days.sort(key=lambda feast: -len(feast[0]))
        self.words = frozenset(word for words, _ in self._days for word in words)

    def read(
        self, tokens: Sequence[Token], at: int, today: date, year: int | None = None
    ) -> tuple[int, Period] | None:
        """The named day at this place, the last one before today; how many tokens it takes."""
        stems = tuple(token.stem for token in tokens[at:])
        named = (feast for feast in self._days if stems[: len(feast[0])] == feast[0])
        words, of_year = next(named, ((), None))
        if of_year is None:
            return None
        years = [year] if year is not None else [today.year - back for back in range(_YEARS)]
        day = next(
            (
                candidate
                for candidate in map(of_year, years)
                if year is not None or candidate <= today
            ),
            None,
        )
        if day is None:
            return None
        label = f"{' '.join(token.text for token in tokens[at : at + len(words)])}, {day}"
        a_day = timedelta(days=1)
        return len(words), Period(day, day + a_day, label, "day", has_year=year is not None)


def _fixed(month: int, day: int) -> Callable[[int], date]:
    return lambda year: date(year, month, day)


def _movable(shift: int) -> Callable[[int], date]:
    return lambda year: easter(year) + timedelta(days=shift)


def easter(year: int) -> date:
    """Easter Sunday of the Gregorian calendar, by the rule of Meeus, Jones and Butcher."""
    golden = year % 19
    century, of_century = divmod(year, 100)
    leaps, rest = divmod(century, 4)
    correction = (century - (century + 8) // 25 + 1) // 3
    moon = (19 * golden + century - leaps - correction + 15) % 30
    short, short_rest = divmod(of_century, 4)
    weekday = (32 + 2 * rest + 2 * short - moon - short_rest) % 7
    late = (golden + 11 * moon + 22 * weekday) // 451
    month, day = divmod(moon + weekday - 7 * late + 114, 31)
    return date(year, month, day + 1)
