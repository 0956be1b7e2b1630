"""The passages of texts as vectors, and which texts are near to a question.

Up to some thousand passages all are compared. Beyond that their signs choose: one bit a dimension,
a thirtieth of the memory to read, tells well who may be near; those are compared exactly
(docs/adr/0041).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from app.search.results import BEST_PASSAGE, WHOLE_TEXT

# Comparing all of so many takes a millisecond.
ALL_UP_TO = 8000
# Passages that the signs choose: a hundred times what anybody is shown.
CHOSEN = 4000
_BITS = 64


class Vectors:
    """The vectors of texts, each with one or more; they do not change.

    Args:
        blocks: passages x dimension float32 for each text, of length 1 each.
    """

    def __init__(self, blocks: Sequence[Any]) -> None:
        self.matrix = numpy.concatenate(blocks)
        lengths = numpy.array([len(block) for block in blocks], dtype=numpy.int64)
        self._starts = numpy.cumsum(lengths) - lengths
        self._lengths = lengths
        sums = numpy.add.reduceat(self.matrix, self._starts, axis=0)
        self._norms = numpy.maximum(numpy.linalg.norm(sums, axis=1), 1e-9)
        self._signs = _signs(self.matrix) if len(self.matrix) > ALL_UP_TO else None
        self._owners = numpy.repeat(numpy.arange(len(blocks)), lengths)

    def nearness(self, vector: Any, also: Any) -> Any:
        """How near each text is to a vector of length 1, from -1 to 1.

        Args:
            also: places of texts that are compared whatever their signs say.
        Returns: an array with a number for each text; 0 for those that are clearly not near.
        """
        if self._signs is None:
            return _joined(self.matrix @ vector, self._starts, self._norms)
        chosen = numpy.unique(numpy.concatenate([self._owners[_likely(self._signs, vector)], also]))
        lengths = self._lengths[chosen]
        starts = numpy.cumsum(lengths) - lengths
        rows = numpy.repeat(self._starts[chosen] - starts, lengths) + numpy.arange(lengths.sum())
        nearest = numpy.zeros(len(self._lengths), dtype=numpy.float32)
        nearest[chosen] = _joined(self.matrix[rows] @ vector, starts, self._norms[chosen])
        return nearest

    def whole(self, row: int) -> Any:
        """The vector of length 1 of all passages of a text together."""
        start = self._starts[row]
        passages = self.matrix[start : start + self._lengths[row]]
        return passages.sum(axis=0) / self._norms[row]


def _joined(near: Any, starts: Any, norms: Any) -> Any:
    """One number a text from those of its passages."""
    best = numpy.maximum.reduceat(near, starts)
    whole = numpy.add.reduceat(near, starts) / norms
    return BEST_PASSAGE * best + WHOLE_TEXT * whole


def _signs(matrix: Any) -> Any:
    """The signs of vectors, as words of 64 bits x vectors."""
    return numpy.ascontiguousarray(_packed(matrix).T)


def _packed(matrix: Any) -> Any:
    rows, dimension = matrix.shape
    width = -(-dimension // _BITS) * _BITS // 8
    packed = numpy.zeros((rows, width), dtype=numpy.uint8)
    bits = numpy.packbits(matrix > 0, axis=1)
    packed[:, : bits.shape[1]] = bits
    return packed.view(numpy.uint64)


def _likely(signs: Any, vector: Any) -> Any:
    """Places of the passages that differ from ``vector`` in the fewest signs."""
    (asked,) = _packed(vector[None, :])
    differences = numpy.zeros(signs.shape[1], dtype=numpy.uint16)
    for word, own in zip(signs, asked, strict=True):
        differences += numpy.bitwise_count(word ^ own)
    counts = numpy.cumsum(numpy.bincount(differences))
    most = int(numpy.searchsorted(counts, min(CHOSEN, counts[-1])))
    return numpy.flatnonzero(differences <= most)
