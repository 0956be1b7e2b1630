"""Which of the records that were found may be the same one, entered twice."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from rapidfuzz import distance as distances, process

from app.crm.search.ranking import Match
from app.writing.equivalence import email_form, name_form, tax_id_form

# Names that are at least so much alike, legal forms left out, may mean the same.
ALIKE = 0.85
_DIGITS = re.compile("[0-9]+")


def possible_duplicates(matches: Sequence[Match], page: Iterable[Match]) -> list[list[int]]:
    """Pairs of ids with the same e-mail address, tax or telephone number, or nearly the same name.

    Args:
        matches: of one kind; at least one of a pair is among ``page``.
    """
    shown_keys = {record.id for record in page}
    names = {match.id: _name(match) for match in matches}
    pairs = {*_with_same_marks(matches), *_with_like_names(names, shown_keys)}
    return [list(pair) for pair in sorted(pairs) if not shown_keys.isdisjoint(pair)]


def _with_same_marks(matches: Iterable[Match]) -> Iterator[tuple[int, int]]:
    """Who share what only one record should have."""
    holders: dict[str, list[int]] = defaultdict(list)
    for match in matches:
        for mark in _marks(match):
            holders[mark].append(match.id)
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


def _marks(match: Match) -> Iterator[str]:
    """What one record alone should have; colleagues share the telephone of their office."""
    values, plain = match.values, match.plain
    if "email" in values:
        yield f"email {email_form(values['email'])}"
    if "taxId" in values:
        yield f"taxId {tax_id_form(values['taxId'])}"
    field = "mobile" if "mobile" in plain else "phone"
    if number := plain.get(field, "").strip():
        yield f"{field} {number}"


def _name(match: Match) -> str:
    return next(
        (name for title in match.kind.titles if (name := name_form(match.plain[title]))), ""
    )
