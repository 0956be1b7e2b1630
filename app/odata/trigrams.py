"""The index behind ``contains``: all sequences of three characters of the searchable columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

# A shorter text has no trigram: then the exact predicate alone decides.
MINIMUM_LENGTH = 3


def _itself(text: str) -> str | None:
    return text


@dataclass(frozen=True)
class Trigrams:
    """The index of a type: its columns as they are, or one text made of them all.

    The text may leave things out (case, accents, punctuation): what is found by it is confirmed
    by the exact predicate.
    """

    # SQLite's FTS5 table, its rowid the key: a column for each, or one for the text.
    table: str
    # PostgreSQL's column with the text; None: the searchable columns are indexed as they are.
    column: str | None = None
    # What the index has of every row that has the given text in it; None: nothing is certain.
    part: Callable[[str], str | None] = _itself
    # SQLite's table of rows that have changed since they entered ``table``, if they do not enter
    # it at once: the key in ``id`` and in ``text`` what is to be found of the row, if anything.
    waiting: str | None = None

    def serves(self, sought: str) -> bool:
        """Whether rows with ``sought`` are found by the index."""
        return len(self.held(sought)) >= MINIMUM_LENGTH

    def held(self, sought: str) -> str:
        """What the index has of every row with ``sought``."""
        return self.part(sought) or ""
