"""The short form of the tests, for ``make test``, and the rest, for ``make test-all``.

Every test is in one of the two. The short form has of each test function:

- of what is marked ``costly(n)``, every n-th case only; none for 0, as of what kills a service;
- none of what drives a browser;
- of a matrix (three ``parametrize`` and more) cases in which each value of one meets each value of
  every other;
- of a longer list that is asked of an application ``LONGEST_LIST`` cases, evenly spread;
- each case on one database, in turn, except in the rooms of ``BOTH_DATABASES`` and where it is
  marked ``both_databases``: there SQL is made, and what a database does with it is at stake.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Hashable, Sequence
from itertools import combinations

import pytest

FORMS = ("all", "short", "rest")
BOTH_DATABASES = (
    "tests/container/", "tests/db/", "tests/models/", "tests/odata/", "tests/reference/",
    "tests/search/",
)  # fmt: skip
LONGEST_LIST = 4
# Fixtures that are an application: what asks one costs a hundred times of what calls a function.
_APPLICATIONS = frozenset({"app", "reference_app"})
_FEWEST_AXES = 3

Case = tuple[Hashable, ...]  # the value of each axis


def short_form(items: Sequence[pytest.Item]) -> set[pytest.Item]:
    """The tests of ``items`` that the short form has."""
    functions: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        functions[item.nodeid.partition("[")[0]].append(item)
    kept: set[pytest.Item] = set()
    for name, of_function in functions.items():
        cases: dict[Case, dict[str, pytest.Item]] = defaultdict(dict)
        for item in of_function:
            database, case = _case(item)
            cases[case][database] = item
        chosen = _thinned(of_function[0], list(cases))
        if _needs_both(of_function[0]):
            kept.update(item for case in chosen for item in cases[case].values())
            continue
        first = zlib.crc32(name.encode())  # else what has one case only would all be on one
        for turn, case in enumerate(chosen, first):
            on = cases[case]
            kept.add(on[sorted(on)[turn % len(on)]])
    return kept


def pairwise(cases: Sequence[Case]) -> list[Case]:
    """Cases in which every two values of two axes meet; all of them if there are only two axes."""
    axes = _axes(cases)
    if len(axes) < _FEWEST_AXES:
        return list(cases)
    pairs = {case: set(combinations([(axis, case[axis]) for axis in axes], 2)) for case in cases}
    chosen = []
    missing = set().union(*pairs.values())
    while missing:
        best = max(cases, key=lambda case: len(pairs[case] & missing))
        chosen.append(best)
        missing -= pairs[best]
    return chosen


def spread(cases: Sequence[Case], most: int = LONGEST_LIST) -> list[Case]:
    """At most so many of a list, the first and the last among them, equally far from each other."""
    if len(cases) <= most:
        return list(cases)
    return [cases[round(place * (len(cases) - 1) / (most - 1))] for place in range(most)]


def _axes(cases: Sequence[Case]) -> list[int]:
    """The places of the parameters that have several values."""
    return [axis for axis, values in enumerate(zip(*cases, strict=True)) if len(set(values)) > 1]


def _needs_both(item: pytest.Item) -> bool:
    marked = item.get_closest_marker("both_databases") is not None
    return marked or item.nodeid.startswith(BOTH_DATABASES)


def _drives_a_browser(item: pytest.Item) -> bool:
    return any("chromium" in mark.args for mark in item.iter_markers("needs"))


def _thinned(item: pytest.Item, cases: list[Case]) -> list[Case]:
    mark = item.get_closest_marker("costly")
    step = 0 if _drives_a_browser(item) else mark.args[0] if mark else 1
    chosen = pairwise(cases)[::step] if step else []
    is_list = len(_axes(cases)) < _FEWEST_AXES
    asks_an_application = not _APPLICATIONS.isdisjoint(getattr(item, "fixturenames", ()))
    return spread(chosen) if is_list and asks_an_application else chosen


def _case(item: pytest.Item) -> tuple[str, Case]:
    """The database of a test, and its other parameters: those of one ``parametrize`` are one axis.

    A value is known by its identity: it is the same object in every test of a function.
    """
    callspec = getattr(item, "callspec", None)
    values = dict(callspec.params) if callspec else {}
    database = values.pop("database", "")
    axes: list[Hashable] = []
    for mark in item.iter_markers("parametrize"):
        names = mark.args[0]
        together = [name.strip() for name in names.split(",")] if isinstance(names, str) else names
        axes.append(tuple(id(values.pop(name)) for name in together if name in values))
    return database, (*axes, *(id(value) for value in values.values()))
