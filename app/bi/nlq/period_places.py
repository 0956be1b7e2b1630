"""The periods of one question, each read once whatever kind of record it is tried for."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from app.bi.periods.reader import PeriodReader
from app.bi.periods.spans import Calendar, Period
from app.bi.words.tokens import Token

Found = tuple[int, Period] | None


class PeriodPlaces:
    """Remembers what stands at each place of each run of words, for as long as a question."""

    def __init__(self, reader: PeriodReader, now: Calendar) -> None:
        self._reader = reader
        self._now = now
        self._known: dict[tuple[Token, ...], dict[int, Found]] = {}

    def of(self, tokens: Sequence[Token]) -> Callable[[int], Found]:
        """What reads the period that begins at a place of these words."""
        known = self._known.setdefault(tuple(tokens), {})

        def read(at: int) -> Found:
            if at not in known:
                known[at] = self._reader.read(tokens, at, self._now)
            return known[at]

        return read
