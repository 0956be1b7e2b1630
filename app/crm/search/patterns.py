"""What the plain form of a record must hold to be a candidate: pieces of at least three letters.

A pattern is written as an FTS5 query for SQLite and as LIKE conditions for PostgreSQL; both find
the same rows by their trigrams. Rows that SQLite's index does not know yet are looked through.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass

from app.crm.search.query import SearchQuery

SHORTEST = 3


@dataclass(frozen=True, slots=True)
class Holds:
    """The text has ``piece``; ``first``: it begins with it."""

    piece: str
    first: bool = False


@dataclass(frozen=True, slots=True)
class Every:
    """All of the parts."""

    parts: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class Either:
    """At least one of the parts."""

    parts: tuple[Pattern, ...]


Pattern = Holds | Every | Either


def as_typed(query: SearchQuery) -> Pattern | None:
    """Every word is there, if only inside another; two letters begin a word.

    A single letter counts for the order alone, unless there is nothing else. None: there are no
    words, so nothing can be found.
    """
    parts = [_exactly(word.text) for word in query.words if len(word.text) > 1]
    if parts:
        words = Every(tuple(parts))
        if query.forms:
            return Either((words, *(Holds(form) for form in query.forms)))
        return words
    return Holds(f" {query.phrase} ") if query.words else None


def tiers(query: SearchQuery) -> tuple[Pattern, ...]:
    """What brings a record forward: it is called so, begins so, every word begins a word."""
    phrase = query.phrase
    begins = f" {phrase}" if len(phrase) > 1 else f" {phrase} "
    words = [word.text for word in query.words if len(word.text) > 1] or [f"{phrase} "]
    return (
        Holds(f" {phrase} \n", first=True),
        Holds(begins, first=True),
        Every(tuple(Holds(f" {word}") for word in words)),
    )


def nearly(query: SearchQuery) -> Iterator[Pattern]:
    """Every word is there with typing errors: first with one in each, then with two in long ones.

    Nothing where no errors are forgiven.
    """
    words = [word for word in query.words if len(word.text) > 1]
    for errors, pieces in ((1, _around_one_error), (2, _around_two_errors)):
        if any(word.typos >= errors for word in words):
            yield Every(
                tuple(
                    Either(tuple(pieces(word.text))) if word.typos >= errors
                    else Either(tuple(_around_one_error(word.text))) if word.typos
                    else _exactly(word.text)
                    for word in words
                )
            )  # fmt: skip


def _exactly(word: str) -> Holds:
    return Holds(word if len(word) >= SHORTEST else f" {word}")


def _around_one_error(word: str) -> Iterator[Pattern]:
    """What is left of a word around an error of two neighbouring letters, wherever it is.

    A gap of three letters at every second place has them all.
    """
    bounded = f" {word} "
    for at in range(1, len(bounded) - 2, 2):
        remainder = (bounded[:at], bounded[at + 3 :])
        pieces = tuple(Holds(piece) for piece in remainder if len(piece) >= SHORTEST)
        if pieces:
            yield pieces[0] if len(pieces) == 1 else Every(pieces)


def _around_two_errors(word: str) -> Iterator[Pattern]:
    """Two errors leave one third of a long word as it is."""
    bounded = f" {word} "
    third = len(bounded) // 3
    yield Holds(bounded[:third])
    yield Holds(bounded[third : 2 * third])
    yield Holds(bounded[2 * third :])


def shape(pattern: Pattern) -> Hashable:
    """What two patterns have in common that differ in their texts alone."""
    if isinstance(pattern, Holds):
        return pattern.first
    return type(pattern).__name__, tuple(shape(part) for part in pattern.parts)


def match_text(pattern: Pattern) -> str:
    """The query for FTS5."""
    if isinstance(pattern, Holds):
        quoted = '"' + pattern.piece.replace('"', '""') + '"'
        return f"^{quoted}" if pattern.first else quoted
    operator = " AND " if isinstance(pattern, Every) else " OR "
    return f"({operator.join(match_text(part) for part in pattern.parts)})"


def like_texts(pattern: Pattern) -> Iterator[str]:
    """The patterns of the LIKE conditions, in the order in which the pieces stand."""
    if isinstance(pattern, Holds):
        escaped = pattern.piece.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        yield f"{escaped}%" if pattern.first else f"%{escaped}%"
        return
    for part in pattern.parts:
        yield from like_texts(part)


def pieces(pattern: Pattern) -> Iterator[str]:
    """The pieces, in the order in which they stand."""
    if isinstance(pattern, Holds):
        yield pattern.piece
        return
    for part in pattern.parts:
        yield from pieces(part)
