"""The passages of texts as vectors, and how near texts are to a question (docs/adr/0041)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from app.search.results import BEST_PASSAGE, WHOLE_TEXT


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
