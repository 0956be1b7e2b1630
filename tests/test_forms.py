"""The forms of the tests: what each has of a matrix, of a list, and of this run."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import is_hypothesis_test

from tests.forms import (
    BOTH_DATABASES,
    LONGEST_LIST,
    Case,
    all_of,
    divide,
    on_databases,
    pairwise,
    spread,
)

ROOT = Path(__file__).parents[1]


def matrix(*sizes: int) -> list[Case]:
    """Each value of each axis with all of the others."""
    return list(itertools.product(*(range(size) for size in sizes)))


def pairs(cases: list[Case]) -> set[object]:
    return {pair for case in cases for pair in itertools.combinations(enumerate(case), 2)}


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


@pytest.mark.parametrize("length", [1, LONGEST_LIST, LONGEST_LIST + 1, 20, 93])
def test_of_a_list_both_ends_are_kept_and_what_is_equally_far_apart(length: int) -> None:
    cases = matrix(length)
    chosen = spread(cases)
    assert len(set(chosen)) == len(chosen) == min(length, LONGEST_LIST)
    assert (chosen[0], chosen[-1]) == (cases[0], cases[-1])
    steps = {after - before for (before,), (after,) in itertools.pairwise(chosen)}
    assert max(steps, default=0) - min(steps, default=0) <= 1


def test_a_third_of_the_cases_is_on_postgresql(request: pytest.FixtureRequest) -> None:
    here = request.node
    on = {"postgresql": here, "sqlite": request.session.items[0]}
    assert list(on_databases([on] * 6, 3, on_both=0)).count(here) == 2
    assert len(list(on_databases([on] * 6, 3, on_both=6))) == 12
    assert len(list(on_databases([on] * 6, 3, on_both=1))) == 7
    assert list(on_databases([{"": here}] * 3, 1, on_both=0)) == [here] * 3


def test_each_function_is_in_a_form_and_only_what_generates_in_both(
    request: pytest.FixtureRequest,
) -> None:
    items = request.session.items
    forms = divide(items)
    assert functions(forms.short | forms.rest) == functions(items)
    assert all(is_hypothesis_test(item.obj) for item in forms.short & forms.rest)


def test_every_case_of_a_folded_list_that_fails_is_named() -> None:
    asked: list[int] = []

    def is_even(number: int) -> None:
        asked.append(number)
        assert number % 2 == 0

    cases = {f"case {number}": {"number": number} for number in (1, 2, 3)}
    with pytest.RaisesGroup(AssertionError, AssertionError) as caught:
        all_of(is_even, cases)(number=1)
    assert [error.__notes__ for error in caught.value.exceptions] == [["in case 1"], ["in case 3"]]
    assert asked == [1, 2, 3]
    with pytest.raises(AssertionError, match="1 % 2"):
        all_of(is_even, {"alone": {"number": 1}})(number=1)
    all_of(is_even, {"even": {"number": 2}})(number=2)


def functions(items: Iterable[pytest.Item]) -> set[str]:
    return {item.nodeid.partition("[")[0] for item in items}


@pytest.mark.parametrize("room", BOTH_DATABASES)
def test_rooms_that_are_named_are_there(room: str) -> None:
    assert (ROOT / room).is_dir()
