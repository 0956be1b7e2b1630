"""Nearness of texts by the vectors of their passages."""

from __future__ import annotations

import numpy
import pytest

from app.search.index import Vectors
from app.search.results import BEST_PASSAGE, WHOLE_TEXT


def test_the_best_passage_and_the_whole_text_count() -> None:
    one, other, third = numpy.eye(3, dtype=numpy.float32)
    near = Vectors([numpy.array([one]), numpy.array([one, other]), numpy.array([third])])
    of_two = BEST_PASSAGE + WHOLE_TEXT / numpy.sqrt(2)
    assert near.nearness(one) == pytest.approx([1, of_two, 0])
    assert near.nearness(third) == pytest.approx([0, 0, 1])
    assert near.whole(1) == pytest.approx((one + other) / numpy.sqrt(2))
