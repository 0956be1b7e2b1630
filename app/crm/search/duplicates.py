"""Which of the records that were found may be the same one, entered twice."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from app.crm.search.ranking import Found
from app.lazy import lazy

if TYPE_CHECKING:
    from rapidfuzz import distance as distances, process
else:
    distances, process = lazy("rapidfuzz.distance"), lazy("rapidfuzz.process")

# Names that are at least so much alike, legal forms left out, may mean the same.
ALIKE = 0.85
_DIGITS = re.compile("[0-9]+")
_LEGAL_FORMS = frozenset(
    """ab ag aps as bv co company corp corporation cv eg ek eu gbr gmbh inc incorporated kft kg
    kgaa limited llc llp ltd mbh nv oao ohg ooo oy oyj plc pty sa sarl sas sl spa srl sro ug und
    and the""".split()  # noqa: SIM905
)


def possible_duplicates(found: Sequence[Found], shown: Iterable[Found]) -> list[list[int]]:
    """Pairs of ids with the same e-mail address, tax number or nearly the same name.

    Args:
        found: of one kind; at least one of a pair is among ``shown``.
    """
    wanted = {one.id for one in shown}
    names = {one.id: _name(one) for one in found}
    pairs = {*_with_same_marks(found), *_with_like_names(names, wanted)}
    return [list(pair) for pair in sorted(pairs) if not wanted.isdisjoint(pair)]


def _with_same_marks(found: Iterable[Found]) -> Iterator[tuple[int, int]]:
    """Who share what only one record should have."""
    holders: dict[str, list[int]] = defaultdict(list)
    for one in found:
        plain = one.plain
        for field in ("email", "taxId"):
            if mark := plain.get(field, "").replace(" ", ""):
                holders[f"{field} {mark}"].append(one.id)
    for ids in holders.values():
        yield from combinations(sorted(ids), 2)


def _with_like_names(names: dict[int, str], wanted: Iterable[int]) -> Iterator[tuple[int, int]]:
    for first in wanted:
        name = names[first]
        if not name:
            continue
        alike = process.extract(
            name, names, scorer=distances.OSA.normalized_similarity, score_cutoff=ALIKE, limit=None
        )
        for other, _, second in alike:
            # Branch 1 and branch 2 are two.
            if second != first and _DIGITS.findall(name) == _DIGITS.findall(other):
                yield min(first, second), max(first, second)


def _name(one: Found) -> str:
    """The title in plain form without legal forms, unless it has nothing else."""
    plain = one.plain
    words = next((words for name in one.kind.titles if (words := plain[name].split())), [])
    return " ".join([word for word in words if word not in _LEGAL_FORMS] or words)
