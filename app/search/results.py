"""A text that a search finds, and the piece of it that answers, its words marked."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Literal

from app.search.analysis import fold, stemmer_of, stop_words

Mode = Literal["hybrid", "semantic", "keyword"]
MODES: tuple[Mode, ...] = ("hybrid", "semantic", "keyword")
# How much the best passage of a text counts, and how much all of it together.
BEST_PASSAGE, WHOLE_TEXT = 0.7, 0.3


@dataclass(frozen=True)
class Ranked:
    """A text that was found: ``score`` 0..1 orders them, ``nearness`` is -1..1."""

    key: int
    score: float
    nearness: float


WORDS = 40
_WORD = re.compile(r"([^\W_]+)")


class Marker:
    """Knows the words of one question, in every ending."""

    def __init__(self, question: str, languages: Iterable[str]) -> None:
        words = set(_WORD.findall(fold(question)))
        self._stems = {
            language: set(map(stemmer_of(language), words - stop_words(language)))
            for language in {*languages}
        }

    def is_asked(self, word: str, language: str) -> bool:
        """Whether the question has this word."""
        folded = fold(word)
        return stemmer_of(language)(folded) in self._stems.get(language, ())

    def marked(self, text: str, language: str) -> str:
        """``text`` as HTML, the words of the question in ``<mark>``; nothing else is markup."""
        pieces = [
            f"<mark>{html.escape(piece)}</mark>"
            if is_word and self.is_asked(piece, language)
            else html.escape(piece)
            for piece, is_word in zip(_WORD.split(text), cycle((False, True)), strict=False)
        ]
        return "".join(pieces).replace("</mark> <mark>", " ")

    def words_in(self, text: str, language: str) -> list[str]:
        """The words of the question that a text has, as the text writes them first."""
        by_word: dict[str, str] = {}
        stem = stemmer_of(language)
        for word in _WORD.findall(text):
            if self.is_asked(word, language):
                by_word.setdefault(stem(fold(word)), word.lower())
        return list(by_word.values())

    def snippet(self, passages: Sequence[str], language: str) -> str:
        """Some 40 words around the densest place of the question's words, marked."""
        best, start, passage = -1, 0, ""
        for candidate in passages:
            position, value = self._densest(candidate.split(), language)
            if value > best:
                best, start, passage = value, position, candidate
        words = passage.split()
        excerpt = " ".join(words[start : start + WORDS])
        before = "… " if start else ""
        after = " …" if start + WORDS < len(words) else ""
        return before + self.marked(excerpt, language) + after

    def _densest(self, words: Sequence[str], language: str) -> tuple[int, int]:
        """Where the window begins that has the most different words of the question."""
        places = [
            (position, fold(word))
            for position, word in enumerate(words)
            if any(self.is_asked(part, language) for part in _WORD.findall(word))
        ]
        best = (0, 0)
        for position, _ in places:
            start = max(0, min(position - 8, len(words) - WORDS))
            inside = [word for at, word in places if start <= at < start + WORDS]
            value = 3 * len(set(inside)) + len(inside)
            if value > best[1]:
                best = (start, value)
        return best
