"""Collections within collections for SQLite: arrays of texts and null, as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, TypeVar

import orjson

Value = TypeVar("Value")


def _of_arrays(
    compute: Callable[[list[Any], list[Any]], Value],
) -> Callable[[str, str], Value]:
    """A function of two arrays that are given as JSON."""
    return lambda whole, part: compute(orjson.loads(whole), orjson.loads(part))


@_of_arrays
def has_subset(whole: list[Any], part: list[Any]) -> bool:
    """Whether each member of ``part`` stands in ``whole`` at least as often."""
    return not Counter(part) - Counter(whole)


@_of_arrays
def has_subsequence(whole: list[Any], part: list[Any]) -> bool:
    """Whether the members of ``part`` stand in ``whole`` in their order, others between them."""
    rest = iter(whole)
    return all(member in rest for member in part)


def _index_of(whole: list[Any], part: list[Any]) -> int:
    """Where the members of ``part`` stand in ``whole`` one behind the other; -1 if nowhere."""
    places = range(len(whole) - len(part) + 1)
    return next((at for at in places if whole[at : at + len(part)] == part), -1)


index_of = _of_arrays(_index_of)
contains = _of_arrays(lambda whole, part: _index_of(whole, part) >= 0)
starts_with = _of_arrays(lambda whole, part: whole[: len(part)] == part)
ends_with = _of_arrays(lambda whole, part: whole[max(len(whole) - len(part), 0) :] == part)
same = _of_arrays(lambda whole, part: whole == part)
