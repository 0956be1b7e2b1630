"""One order from two: how well a text fits by its words, and how near it is by its meaning.

Each score is divided by its spread over the texts that the question meets, and the two are added: a
convex combination, which beats merging by ranks (Bruch, Gai and Ingber 2023), whose weights follow
from the question. Where one text stands out by its meaning words count for less, and where rare
words meet few texts they count for more. Words count as far as the best text by them has the words
of the question, and is believed: it is near by its meaning too, or no other text has those words. A
question that is put in other words is answered by its meaning (docs/adr/0041), to which what is
around the nearest text is a little nearer: the first answer tells what was meant (Rocchio 1971).
The sum is then scaled by how good the best one is at all: a bad best is not shown as perfect.
"""

from __future__ import annotations

from typing import Any

import numpy

from app.search.index import Hits
from app.search.results import Mode, Ranked

# Of a score by words, both in spreads, where a text has all words of the question (bench/kb.py).
WORDS_WEIGHT = 0.45
# Of how near a text is to the nearest one, beside how near it is to the question.
AROUND_WEIGHT = 0.1
# Few texts, or texts that are all alike, have no spread to speak of: then it is this of the best.
LEAST_SPREAD_OF_WORDS, LEAST_SPREAD_OF_MEANING = 0.15, 0.1
# Texts farther from the question than this are about something else.
NEAREST_OF_STRANGERS = 0.2


def rank(hits: Hits, mode: Mode, most: int) -> list[Ranked]:
    """The best ``most`` texts, best first; equal ones by key."""
    if not len(hits.keys):
        return []
    scores = _scores(hits, mode)
    places = numpy.flatnonzero(scores > 0)
    if len(places) > most:
        places = places[numpy.argpartition(-scores[places], most - 1)[:most]]
    order = places[numpy.lexsort((hits.keys[places], -scores[places]))]
    return [
        Ranked(int(hits.keys[index]), float(scores[index]), float(hits.meaning[index]))
        for index in order
    ]


def _scores(hits: Hits, mode: Mode) -> Any:
    words, meaning = hits.words, hits.meaning
    near = numpy.where(meaning >= NEAREST_OF_STRANGERS, meaning, 0)
    if mode == "semantic":
        return numpy.clip(near, 0, 1)
    best_word, covered = float(words.max()), hits.covered
    if mode == "keyword":
        return words / best_word * covered if best_word > 0 else words
    best_near = float(near.max())
    meant = meaning + AROUND_WEIGHT * hits.around
    trust = WORDS_WEIGHT * covered * _belief(words, meant)
    fused = trust * _in_spreads(words, words[words > 0], LEAST_SPREAD_OF_WORDS)
    fused = fused + _in_spreads(numpy.clip(meant, 0, None), meant, LEAST_SPREAD_OF_MEANING)
    fused = numpy.where((words > 0) | (near > 0), fused, 0)
    best = float(fused.max())
    return fused / best * max(covered, min(1.0, best_near)) if best > 0 else fused


def _belief(words: Any, meaning: Any) -> float:
    """How far the best text by words may be believed, from 0 to 1.

    As far as it stands above the middle of all by its meaning (1 is the nearest), or above the
    second by words (1 is a word that no other text has), whichever is more.
    """
    best = int(words.argmax())
    middle, nearest = float(meaning.mean()), float(meaning.max())
    above_middle = (float(meaning[best]) - middle) / (nearest - middle) if nearest > middle else 1.0
    second = float(numpy.partition(words, -2)[-2]) if len(words) > 1 else 0.0
    above_second = 1 - second / float(words[best]) if second > 0 else 1.0
    return max(above_middle, above_second)


def _in_spreads(scores: Any, among: Any, least: float) -> Any:
    """Scores divided by the standard deviation of ``among``, ``least`` of the best at least."""
    best = float(scores.max())
    if best <= 0:
        return scores
    return scores / max(float(among.std()), least * best)
