"""Nearness of many vectors: the few that the signs choose are those that all would give."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from app.search import vectors
from app.search.vectors import Vectors

DIMENSION = 384


def texts(count: int, passages: int = 1) -> list[Any]:
    """Texts around common subjects, as real ones are."""
    random = numpy.random.default_rng(7)
    subjects = random.standard_normal((max(count // 20, 1), DIMENSION))
    blocks = []
    for number in range(count):
        near = subjects[number % len(subjects)]
        block = near + random.standard_normal((1 + number % passages, DIMENSION))
        blocks.append(
            (block / numpy.linalg.norm(block, axis=1, keepdims=True)).astype(numpy.float32)
        )
    return blocks


def question(block: Any) -> Any:
    """Something near to a text."""
    vector = block[0] + numpy.random.default_rng(3).standard_normal(DIMENSION) * 0.04
    return (vector / numpy.linalg.norm(vector)).astype(numpy.float32)


@pytest.mark.parametrize("passages", [1, 5])
def test_signs_choose_what_all_would_give(monkeypatch: pytest.MonkeyPatch, passages: int) -> None:
    blocks = texts(3000, passages)
    every = Vectors(blocks)
    monkeypatch.setattr(vectors, "ALL_UP_TO", 100)
    monkeypatch.setattr(vectors, "CHOSEN", 150)
    few = Vectors(blocks)
    nothing = numpy.zeros(0, dtype=numpy.int64)
    for number in range(0, 3000, 151):
        asked = question(blocks[number])
        exact, quick = every.nearness(asked, nothing), few.nearness(asked, nothing)
        best = numpy.argsort(-exact, kind="stable")[:10]
        assert numpy.argsort(-quick, kind="stable")[:10].tolist() == best.tolist()
        assert numpy.allclose(quick[best], exact[best], atol=1e-5)
        assert numpy.count_nonzero(quick) < 1000


def test_what_is_asked_for_is_compared_in_any_case(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "ALL_UP_TO", 10)
    monkeypatch.setattr(vectors, "CHOSEN", 5)
    blocks = texts(400)
    kept = Vectors(blocks)
    asked = question(blocks[0])
    far = int(numpy.argmin(kept.matrix @ asked))
    near = kept.nearness(asked, numpy.array([far]))
    assert near[far] == pytest.approx(float(blocks[far][0] @ asked), abs=1e-5)


def test_a_dimension_that_fills_no_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "ALL_UP_TO", 1)
    blocks = [numpy.eye(70, dtype=numpy.float32)[[number]] for number in range(70)]
    near = Vectors(blocks).nearness(blocks[69][0], numpy.zeros(0, dtype=numpy.int64))
    assert int(numpy.argmax(near)) == 69
