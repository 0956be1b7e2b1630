"""The index of one kind of text in the memory of a process: words and vectors, found in one pass.

It is made of segments that never change: what the database says has changed comes as a new one,
and the places of it in older segments are dead from then on. The rows of the database are the
index; this is only the form in which a process looks things up.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy

from app.search.analysis import fold, stemmer_of
from app.search.results import BEST_PASSAGE, WHOLE_TEXT
from app.search.short_forms import is_little, meanings, spelled_out
from app.search.slips import intended_stem


class Vectors:
    """The vectors of texts, each with one or more; they do not change.

    Args:
        blocks: passages x dimension float32 for each text, of length 1 each.
    """

    def __init__(self, blocks: Sequence[Any]) -> None:
        self.matrix = numpy.concatenate(blocks)
        self._lengths = numpy.array([len(block) for block in blocks], dtype=numpy.int64)
        self._starts = numpy.cumsum(self._lengths) - self._lengths
        sums = numpy.add.reduceat(self.matrix, self._starts, axis=0)
        self._norms = numpy.maximum(numpy.linalg.norm(sums, axis=1), 1e-9)

    def nearness(self, vector: Any) -> Any:
        """How near each text is to a vector of length 1, from -1 to 1."""
        near = self.matrix @ vector
        best = numpy.maximum.reduceat(near, self._starts)
        whole = numpy.add.reduceat(near, self._starts) / self._norms
        return BEST_PASSAGE * best + WHOLE_TEXT * whole

    def whole(self, row: int) -> Any:
        """The vector of length 1 of all passages of a text together."""
        start = self._starts[row]
        passages = self.matrix[start : start + self._lengths[row]]
        return passages.sum(axis=0) / self._norms[row]


# BM25 (Robertson and Zaragoza 2009, 3.3): saturation and length; a word of the title counts twice.
K1 = 1.5
B = 0.75
TITLE_WEIGHT = 2.0
# Nobody looks for slips in a whole text; in words of four letters most are names.
MOST_MENDED, SHORTEST_SLIP = 16, 5
_WORD = re.compile(r"[^\W\d_]+")
# Texts that are good by their words, and are looked at by their meaning too.
BEST_BY_WORDS = 500


@dataclass(frozen=True)
class Entry:
    """A text as the index has it.

    ``terms``: term -> (times in the title, times in the body). ``vectors``: passages x dimension
    float32, or None where no model was there.
    """

    key: int
    change: int
    language: str
    category: str | None
    terms: dict[str, Sequence[int]]
    length: int
    vectors: Any


@dataclass(frozen=True)
class Hits:
    """What a query finds: for each text its key, its place among facets, and both scores.

    ``around`` is how near each is to the text that is nearest to the query: 0 where nothing is
    known of it.
    ``ceilings``: language -> what a text in it would score by words that has every term of the
    query once.
    """

    keys: Any
    words: Any
    meaning: Any
    around: Any
    languages: Any
    categories: Any
    ceilings: Mapping[str, float]

    def only(self, chosen: Any) -> Hits:
        """Those of which the array ``chosen`` is true."""
        arrays = {name: of_all[chosen] for name, of_all in vars(self).items() if name != "ceilings"}
        return replace(self, **arrays)

    @property
    def covered(self) -> float:
        """How much of what the query says its best text has by words, from 0 to 1.

        In the language of that text: a query is read in every language, and says nothing in others.
        """
        if not len(self.words):
            return 0.0
        best = int(self.words.argmax())
        return min(1.0, float(self.words[best]) / self.ceilings.get(self.languages[best], 1.0))

    def with_meaning(self, near: Mapping[int, float], around: Mapping[int, float]) -> Hits:
        """The same with both by the keys of texts; 0 for those that have none."""
        keys = self.keys.tolist()
        meaning, beside = (
            numpy.array([known.get(key, 0.0) for key in keys], numpy.float32)
            for known in (near, around)
        )
        return replace(self, meaning=meaning, around=beside)

    def best_by_words(self) -> list[int]:
        """The keys of the texts that are good by their words."""
        best = numpy.flatnonzero(self.words)
        if len(best) > BEST_BY_WORDS:
            best = best[numpy.argpartition(-self.words[best], BEST_BY_WORDS)[:BEST_BY_WORDS]]
        keys: list[int] = self.keys[best].tolist()
        return keys


class Segment:
    """Texts that came together, as arrays."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.keys = numpy.array([entry.key for entry in entries], dtype=numpy.int64)
        self.lengths = numpy.array([entry.length for entry in entries], dtype=numpy.float32)
        self.languages = numpy.array([entry.language for entry in entries], dtype=object)
        self.categories = numpy.array([entry.category for entry in entries], dtype=object)
        self.alive = numpy.ones(len(entries), dtype=bool)
        self.places = {entry.key: row for row, entry in enumerate(entries)}
        self.postings = _postings(entries)
        self.meanings = meanings(self.postings)
        self._read_vectors(entries)

    def _read_vectors(self, entries: Sequence[Entry]) -> None:
        having = [row for row, entry in enumerate(entries) if entry.vectors is not None]
        self.vector_places = numpy.array(having, dtype=numpy.int64)
        self.vectors = Vectors([entries[index].vectors for index in having]) if having else None

    def drop(self, key: int) -> None:
        """The text is found no more here."""
        row = self.places.pop(key, None)
        if row is not None:
            self.alive[row] = False

    def score_words(self, weights: dict[str, float], mean_length: float) -> Any:
        """BM25 of every text; ``weights``: term -> its rarity."""
        scores = numpy.zeros(len(self.keys), dtype=numpy.float32)
        norm = K1 * (1 - B + B * self.lengths / mean_length)
        for term, rarity in weights.items():
            posting = self.postings.get(term)
            if posting is not None:
                places, counts = posting
                scores[places] += rarity * counts * (K1 + 1) / (counts + norm[places])
        return scores

    def score_meaning(self, vector: Any) -> Any:
        """Nearness to a vector of length 1, from -1 to 1; 0 where the text has no vectors."""
        scores = numpy.zeros(len(self.keys), dtype=numpy.float32)
        vectors = self.vectors
        if vectors is None or vector is None or len(vector) != vectors.matrix.shape[1]:
            return scores
        scores[self.vector_places] = vectors.nearness(vector)
        return scores

    def vector_of(self, row: int) -> Any:
        """The vector of a text as a whole, or None."""
        if self.vectors is None:
            return None
        return self.vectors.whole(int(numpy.searchsorted(self.vector_places, row)))


class Index:
    """The segments; not safe for threads by itself (app/search/index_cache.py)."""

    # Many small segments, or many dead places, cost every query: then all is read anew.
    MOST_SEGMENTS = 12
    MOST_DEAD = 0.3

    def __init__(self, segments: Iterable[Segment] = ()) -> None:
        self.segments = list(segments)

    def __len__(self) -> int:
        return sum(len(segment.places) for segment in self.segments)

    def with_changes(self, entries: Sequence[Entry], present: Iterable[int]) -> Index:
        """The index after ``entries`` came or changed, with no more than the keys ``present``."""
        left = set(present)
        gone = {entry.key for entry in entries}
        for segment in self.segments:
            gone |= segment.places.keys() - left
        for segment in self.segments:
            for key in gone & segment.places.keys():
                segment.drop(key)
        segments = [segment for segment in self.segments if segment.places]
        return Index([*segments, Segment(entries)] if entries else segments)

    def is_worn(self) -> bool:
        """Whether reading all anew would make queries cheaper."""
        every = sum(len(segment.keys) for segment in self.segments)
        dead = every - len(self)
        return len(self.segments) > self.MOST_SEGMENTS or dead > max(50, every * self.MOST_DEAD)

    def languages(self) -> set[str]:
        """The languages of the texts."""
        return {str(name) for segment in self.segments for name in set(segment.languages.tolist())}

    def spelled_out(self, question: str) -> str:
        """A question with what its short forms stand for, as the texts have it."""
        known: dict[str, Counter[str]] = {}
        for segment in self.segments:
            for short, longs in segment.meanings.items():
                known.setdefault(short, Counter()).update(longs)
        return spelled_out(question, known, self._has_word)

    def mended(self, question: str) -> str:
        """A short question with its slips undone: words that no text has, near to one of some."""
        if len(question.split()) > MOST_MENDED:
            return question
        return _WORD.sub(lambda match: self._intended(match.group()), question)

    def _intended(self, word: str) -> str:
        plain = fold(word)
        if len(plain) < SHORTEST_SLIP or is_little(plain) or self._has_word(plain):
            return word
        stems = (intended_stem(plain, usual, stemmer_of(language))
                 for language, usual in self._usual.items())  # fmt: skip
        return next(filter(None, stems), word)

    @cached_property
    def _usual(self) -> Mapping[str, Mapping[str, float]]:
        """Language -> stem -> in how many texts it is; the language of most texts first."""
        usual: dict[str, dict[str, float]] = {}
        for segment in self.segments:
            for term, (places, _) in segment.postings.items():
                language, _, stem = term.partition(":")
                stems = usual.setdefault(language, {})
                stems[stem] = stems.get(stem, 0.0) + len(places)
        return dict(sorted(usual.items(), key=lambda each: (-len(each[1]), each[0])))

    def _has_word(self, word: str) -> bool:
        terms = [f"{language}:{stemmer_of(language)(word)}" for language in self.languages()]
        return any(term in segment.postings for segment in self.segments for term in terms)

    def search(self, terms: Iterable[str], vector: Any) -> Hits:
        """Score every text by the terms of a query and, unless None, by its vector."""
        segments = self.segments
        total = sum(len(segment.keys) for segment in segments)
        if not total:
            empty = numpy.zeros(0)
            return Hits(empty.astype(numpy.int64), empty, empty, empty, empty, empty, {})
        mean_length = max(1.0, float(sum(part.lengths.sum() for part in segments)) / total)
        weights = {term: self._rarity(term, total) for term in dict.fromkeys(terms)}
        # Copies: a change that comes meanwhile must not make columns of different lengths.
        alive = [segment.alive.copy() for segment in segments]
        words = [segment.score_words(weights, mean_length) for segment in segments]
        meaning = [segment.score_meaning(vector) for segment in segments]
        nearest = _nearest(segments, meaning, alive) if weights and vector is not None else None
        around = [segment.score_meaning(nearest) for segment in segments]

        def gathered(parts: Iterable[Any]) -> Any:
            return numpy.concatenate(
                [part[living] for part, living in zip(parts, alive, strict=True)]
            )

        return Hits(
            gathered(segment.keys for segment in segments),
            gathered(words),
            gathered(meaning),
            gathered(around),
            gathered(segment.languages for segment in segments),
            gathered(segment.categories for segment in segments),
            _ceilings(weights),
        )

    def _rarity(self, term: str, total: int) -> float:
        """Inverse document frequency, never negative (as Lucene has it)."""
        having = sum(
            len(segment.postings[term][0]) for segment in self.segments if term in segment.postings
        )
        return math.log(1 + (total - having + 0.5) / (having + 0.5))


def _nearest(segments: Sequence[Segment], meaning: Sequence[Any], alive: Sequence[Any]) -> Any:
    """The vector of the living text that is nearest to the query, or None."""
    best = [float(numpy.where(living, near, 0).max(initial=0))
            for near, living in zip(meaning, alive, strict=True)]  # fmt: skip
    at = int(numpy.argmax(best))
    if best[at] <= 0:
        return None
    return segments[at].vector_of(int(numpy.where(alive[at], meaning[at], 0).argmax()))


def _ceilings(weights: Mapping[str, float]) -> dict[str, float]:
    ceilings: dict[str, float] = {}
    for term, rarity in weights.items():
        language = term.partition(":")[0]
        ceilings[language] = ceilings.get(language, 0.0) + rarity
    return ceilings


def _postings(entries: Sequence[Entry]) -> dict[str, tuple[Any, Any]]:
    """Term -> (places of the texts that have it, how often each has it)."""
    places: dict[str, list[int]] = {}
    counts: dict[str, list[float]] = {}
    for row, entry in enumerate(entries):
        for term, (in_title, in_body) in entry.terms.items():
            places.setdefault(term, []).append(row)
            counts.setdefault(term, []).append(TITLE_WEIGHT * in_title + in_body)
    return {
        term: (
            numpy.array(rows, dtype=numpy.int32),
            numpy.array(counts[term], dtype=numpy.float32),
        )
        for term, rows in places.items()
    }
