"""Where phrases of a language stand among the words of a question."""

from __future__ import annotations

from collections.abc import Container, Iterator

from app.bi.questions.lexicon import LONGEST_PHRASE, Phrase


def places(stems: Phrase, phrases: Container[Phrase]) -> Iterator[tuple[int, int]]:
    """From which word to which each of some phrases stands, the longest first."""
    for start in range(len(stems)):
        for end in range(min(start + LONGEST_PHRASE, len(stems)), start, -1):
            if stems[start:end] in phrases:
                yield start, end


def first_place(stems: Phrase, phrases: Container[Phrase]) -> tuple[int, int] | None:
    """Where the first of them stands."""
    return next(places(stems, phrases), None)


def begins(stems: Phrase, phrases: Container[Phrase]) -> bool:
    """Whether a question begins with one of them."""
    return any(start == 0 for start, _ in places(stems[:LONGEST_PHRASE], phrases))
