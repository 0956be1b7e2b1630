"""The short form of the tests, for ``make test``, and the rest, for ``make test-all``.

The short form has of each test function:

- of what is marked ``costly(n)``, every n-th case only; none for 0, as of what kills a service;
- none of what drives a browser;
- of a matrix (three ``parametrize`` and more) cases in which each value of one meets each value of
  every other;
- of a longer list that is asked of an application, or of a server, ``LONGEST_LIST`` cases, evenly
  spread;
- each case on one database, a third of them on PostgreSQL; the first case on both in the rooms of
  ``BOTH_DATABASES`` and where it is marked ``both_databases``: there SQL is made, and what a
  database does with it is at stake;
- of what generates examples a tenth of them.

The rest has the other cases, on one database each, and of a function that would be on one only
its first case on the other too; in the rooms of ``BOTH_DATABASES`` all cases are on both. So every
function is on both, and every case on one. What generates examples comes again with half.

In both forms the cases of a list that asks for no fixture are one test: see ``fold``.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import pytest
from hypothesis import is_hypothesis_test, settings

FORMS = ("all", "short", "rest")
BOTH_DATABASES = (
    "tests/container/", "tests/db/", "tests/models/", "tests/odata/", "tests/reference/",
    "tests/search/",
)  # fmt: skip
LONGEST_LIST = 2
EXAMPLES = {"short": 10, "rest": 50}  # of the 100 that Hypothesis makes else
# Fixtures that are an application, or a server that runs: what asks one costs a hundred times of
# what calls a function.
_ASKED = frozenset({"app", "reference_app", "port", "server"})
_FEWEST_AXES = 3

Case = tuple[Hashable, ...]  # the value of each axis


@dataclass(frozen=True)
class Forms:
    """The tests of each; some are in both, and some in neither."""

    short: set[pytest.Item]
    rest: set[pytest.Item]


def divide(items: Sequence[pytest.Item]) -> Forms:
    """The forms of ``items``."""
    functions: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        functions[item.nodeid.partition("[")[0]].append(item)
    forms = Forms(set(), {item for item in items if _generates(item)})
    for name, of_function in functions.items():
        cases: dict[Case, dict[str, pytest.Item]] = defaultdict(dict)
        for item in of_function:
            database, case = _case(item)
            cases[case][database] = item
        chosen = _thinned(of_function[0], list(cases))
        others = [case for case in cases if case not in set(chosen)]
        first = zlib.crc32(name.encode())  # else what has one case only would all be on one
        needs_both = _needs_both(of_function[0])
        on_both = 1 if needs_both else 0
        in_short = set(on_databases([cases[case] for case in chosen], first, on_both))
        forms.short.update(in_short)
        of_others = [cases[case] for case in others]
        on_both = len(of_others) if needs_both or not chosen else 0
        in_rest = set(on_databases(of_others, first, on_both))
        again = chosen if needs_both else _first_on_one(chosen, in_short | in_rest)
        in_rest.update({item for case in again for item in cases[case].values()} - in_short)
        forms.rest.update(in_rest)
    return forms


def _first_on_one(cases: list[Case], of_function: set[pytest.Item]) -> list[Case]:
    """The first case, where a function's tests are all on the same database."""
    return cases[:1] if len({_case(item)[0] for item in of_function}) == 1 else []


def on_databases(
    cases: Iterable[Mapping[str, pytest.Item]], first: int, on_both: int
) -> Iterator[pytest.Item]:
    """Of so many cases, by their database, all tests; of the others one each.

    A third of these are on PostgreSQL, beginning with the ``first`` of three.
    """
    for place, on in enumerate(cases):
        names = sorted(on)
        if place < on_both:
            yield from on.values()
        else:
            yield on[names[min((first + place) % 3, len(names) - 1)]]


def fold(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """As many tests as functions where these take nothing but the values of their cases.

    What a test costs by itself, some thousandths of a second, is more than most of these cost.
    """
    folded = []
    of_function: dict[str, list[Any]] = defaultdict(list)
    for item in items:
        name = item.nodeid.partition("[")[0]
        if not _takes_only_values(item) or name not in of_function:
            folded.append(item)
        if _takes_only_values(item):
            of_function[name].append(item)
    for cases in of_function.values():
        if len(cases) > 1:
            cases[0].obj = all_of(cases[0].obj, {case.name: case.callspec.params for case in cases})
    return folded


def all_of(
    test: Callable[..., None], cases: Mapping[str, Mapping[str, Any]]
) -> Callable[..., None]:
    """A test of all cases, by their names, which tells each that fails."""

    def test_all(**_of_first: Any) -> None:
        failures: list[BaseException] = []
        for name, values in cases.items():
            try:
                test(**values)
            except (Exception, pytest.fail.Exception) as failure:
                failure.add_note(f"in {name}")
                failures.append(failure)
        if len(failures) > 1:
            raise BaseExceptionGroup(f"{len(failures)} of {len(cases)} cases fail", failures)
        if failures:
            raise failures[0]

    return test_all


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


def few_examples(form: str) -> None:
    """From now on; to be called before the tests are imported."""
    settings.register_profile(form, max_examples=EXAMPLES[form], deadline=None)
    settings.load_profile(form)


def _generates(item: pytest.Item) -> bool:
    return is_hypothesis_test(getattr(item, "obj", None))


def _takes_only_values(item: pytest.Item) -> bool:
    callspec = getattr(item, "callspec", None)
    if callspec is None or _generates(item) or getattr(item, "cls", None) is not None:
        return False
    marks = {mark.name: mark for mark in item.iter_markers()}
    is_plain = marks.keys().isdisjoint({"skip", "skipif", "xfail", "usefixtures"})
    is_direct = not any(mark.kwargs.get("indirect") for mark in item.iter_markers("parametrize"))
    return is_plain and is_direct and callspec.params.keys() >= set(item.fixturenames)  # type: ignore[attr-defined]


def _drives_a_browser(item: pytest.Item) -> bool:
    return any("chromium" in mark.args for mark in item.iter_markers("needs"))


def _thinned(item: pytest.Item, cases: list[Case]) -> list[Case]:
    mark = item.get_closest_marker("costly")
    step = 0 if _drives_a_browser(item) else mark.args[0] if mark else 1
    chosen = pairwise(cases)[::step] if step else []
    is_list = len(_axes(cases)) < _FEWEST_AXES
    asks = not _ASKED.isdisjoint(getattr(item, "fixturenames", ()))
    return spread(chosen) if is_list and asks else chosen


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
