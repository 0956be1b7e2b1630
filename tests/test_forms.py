"""The short form of the tests: what it keeps of a matrix."""

from __future__ import annotations

from itertools import combinations, product
from pathlib import Path

import pytest

from tests.forms import BOTH_DATABASES, Case, pairwise

ROOT = Path(__file__).parents[1]


def matrix(*sizes: int) -> list[Case]:
    """Each value of each axis with all of the others."""
    return list(product(*(range(size) for size in sizes)))


def pairs(cases: list[Case]) -> set[object]:
    return {pair for case in cases for pair in combinations(enumerate(case), 2)}


@pytest.mark.parametrize("sizes", [(2, 3, 4), (3, 3, 3, 3), (5, 2, 6, 1), (2, 2, 2, 2, 2, 2)])
def test_every_two_values_meet_in_fewer_cases(sizes: tuple[int, ...]) -> None:
    cases = matrix(*sizes)
    chosen = pairwise(cases)
    assert pairs(chosen) == pairs(cases)
    assert len(chosen) < len(cases) / 1.5
    assert set(chosen) < set(cases)


def test_what_has_two_axes_is_kept_whole() -> None:
    cases = matrix(4, 9, 1)
    assert pairwise(cases) == cases


def test_what_a_function_has_once_is_kept() -> None:
    assert pairwise([()]) == [()]


@pytest.mark.parametrize("room", BOTH_DATABASES)
def test_rooms_that_are_named_are_there(room: str) -> None:
    assert (ROOT / room).is_dir()
