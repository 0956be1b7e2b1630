"""One order from two: how well a text fits by its words, and how near it is by its meaning.

The two scores are each divided by the best of the query and added with weights: a convex
combination, which beats merging by ranks (Bruch, Gai and Ingber 2023). The sum is then scaled by
how good the best one is at all, so that a bad best is not shown as a perfect one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from app.lazy import lazy
from app.search.index import Hits

if TYPE_CHECKING:
    import numpy
else:
    numpy = lazy("numpy")

Mode = Literal["hybrid", "semantic", "keyword"]
MODES: tuple[Mode, ...] = ("hybrid", "semantic", "keyword")
# Measured by bench/kb.py; anything from 0.60 to 0.70 is as good.
MEANING_WEIGHT = 0.65
# Texts farther from the question than this are about something else.
NEAREST_OF_STRANGERS = 0.2


@dataclass(frozen=True)
class Ranked:
    """A text that was found: ``score`` 0..1 orders them, ``nearness`` is -1..1."""

    key: int
    score: float
    nearness: float


def rank(hits: Hits, mode: Mode, most: int) -> list[Ranked]:
    """The best ``most`` texts, best first; equal ones by key."""
    if not len(hits.keys):
        return []
    scores = _scores(hits, mode)
    found = numpy.flatnonzero(scores > 0)
    if len(found) > most:
        found = found[numpy.argpartition(-scores[found], most - 1)[:most]]
    order = found[numpy.lexsort((hits.keys[found], -scores[found]))]
    return [
        Ranked(int(hits.keys[place]), float(scores[place]), float(hits.meaning[place]))
        for place in order
    ]


def _scores(hits: Hits, mode: Mode) -> Any:
    words, meaning = hits.words, hits.meaning
    near = numpy.where(meaning >= NEAREST_OF_STRANGERS, meaning, 0)
    if mode == "semantic":
        return numpy.clip(near, 0, 1)
    best_word = float(words.max())
    covered = min(1.0, best_word / hits.ceiling)
    if mode == "keyword":
        return words / best_word * covered if best_word > 0 else words
    best_near = float(near.max())
    by_words = words / best_word if best_word > 0 else words
    by_meaning = numpy.clip(meaning, 0, 1) / best_near if best_near > 0 else near
    fused = (1 - MEANING_WEIGHT) * by_words + MEANING_WEIGHT * by_meaning
    is_found = (words > 0) | (near > 0)
    return numpy.where(is_found, fused, 0) * max(covered, min(1.0, best_near))
