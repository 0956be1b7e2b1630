"""The search of customer relations: ranked, forgiving, and only what the caller may read.

What was found is marked, and told together where it may be the same record entered twice.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import orjson
from rapidfuzz import distance as distances, process

from app.crm.search.candidates import Search
from app.crm.search.kinds import KINDS, Kind
from app.crm.search.query import SearchQuery, as_typed, nearly, read_query, tiers
from app.crm.search.ranking import Match, rank_as_typed, rank_nearly
from app.db.engines import read_engine
from app.events import entity_url
from app.http.page_sizes import RECORD_SEARCH
from app.http.security import Caller, current_caller
from app.models.searched import search_text
from app.permissions import require, scope_of
from app.settings import organisation
from app.writing.normal_forms import email_form, name_form, tax_id_form

ALL = "all"
TYPES = (*KINDS, ALL)
# Rows are ranked among so many neighbours; a page of the next ones begins anew.
BLOCK = 100
# With so many rows that have what was typed, nobody is asked whether it was a typing error.
ENOUGH = 10
MOST_NEARLY = 200
# Duplicates are looked for among the page and so many of the best.
MOST_COMPARED = 100


def search(
    text: str, *, type: str = "client", limit: int = RECORD_SEARCH.default, offset: int = 0
) -> dict[str, Any]:
    """Find clients, contacts, leads or opportunities; the body of contract 11.1.

    Case, accents and punctuation do not matter; every word must be there, at least inside another.
    Where that finds few records, those with typing errors follow: one in words of four letters or
    more, two from eight on.

    Raises: ValidationError; ForbiddenError, the caller may read nothing of the type.
    """
    caller = current_caller()
    query = read_query(text, organisation().seller.country)
    kinds = _kinds(caller, type)
    with read_engine().connect() as connection:
        searches = [_Kind(Search(kind, caller, connection, query.literals), query)
                    for kind in kinds]  # fmt: skip
        page = _page(searches, limit, offset)
        total = sum(search.total for search in searches)
    compared = [match for match in page if match.kind is kinds[0]]
    compared_ids = {match.id for match in compared}
    best = [match for match in searches[0].best()[:MOST_COMPARED] if match.id not in compared_ids]
    return {
        "query": query.query,
        "type": type,
        "total": total,
        "items": [_item(match) for match in page],
        "possibleDuplicates": possible_duplicates([*compared, *best], compared),
    }


def _kinds(caller: Caller, type_: str) -> list[Kind]:
    """The kinds to look at: under ``all`` those that the caller may read."""
    resources = {name: f"{kind.table}:read" for name, kind in KINDS.items()}
    if type_ != ALL:
        require(caller, resources[type_])
        return [KINDS[type_]]
    readable = [kind for name, kind in KINDS.items() if scope_of(caller, resources[name])]
    if not readable:
        require(caller, resources["client"])
    return readable


@dataclass
class _Kind:
    """The rows of one kind: as typed in blocks, then those with typing errors."""

    search: Search
    wanted: SearchQuery
    _counted: int | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._blocks: dict[int, list[Match]] = {}
        self.exact = 0
        self.similar: list[Match] = []
        pattern = as_typed(self.wanted)
        if pattern is None:
            return
        self._tiers = (*tiers(self.wanted), pattern)
        known = {match.id for match in self.block(0)}
        # A block that is not full has been all.
        if len(known) < BLOCK:
            self.exact = len(known)
        elif self._counted is not None:
            self.exact = self._counted
        else:
            self.exact = self.search.count(pattern)
        for forgiving in nearly(self.wanted) if self.exact < ENOUGH else ():
            rows = self.search.some(forgiving, limit=MOST_NEARLY)
            rows = [row for row in rows if row.id not in known]
            self.similar = rank_nearly(self.search.kind, self.wanted, rows)
            if self.similar:
                break

    @property
    def total(self) -> int:
        """How many rows were found."""
        return self.exact + len(self.similar)

    def best(self) -> list[Match]:
        """The first of them."""
        return [*(self.block(0) if self.exact else ()), *self.similar]

    def block(self, number: int) -> list[Match]:
        """A block of the rows that have what was typed, the best first."""
        if number not in self._blocks:
            self._blocks[number] = self._read(number)
        return self._blocks[number]

    def _read(self, number: int) -> list[Match]:
        if number and number * BLOCK >= self.exact:
            return []
        rows, self._counted = self.search.ranked(self._tiers, limit=BLOCK, offset=number * BLOCK)
        return rank_as_typed(self.search.kind, self.wanted, rows)


def _page(kinds: Sequence[_Kind], limit: int, offset: int) -> list[Match]:
    """``limit`` of all rows from ``offset`` on, block by block, kinds mixed in each."""
    page: list[Match] = []
    blocks = -(-max(kind.exact for kind in kinds) // BLOCK)
    before = 0
    for number in range(blocks):
        size = sum(max(0, min(BLOCK, kind.exact - number * BLOCK)) for kind in kinds)
        if before + size > offset:
            rows = _merged([kind.block(number) for kind in kinds])
            page += rows[max(0, offset - before) :]
        before += size
        if len(page) >= limit:
            return page[:limit]
    page += _merged([kind.similar for kind in kinds])[max(0, offset - before) :]
    return page[:limit]


def _merged(rows: Sequence[list[Match]]) -> list[Match]:
    if len(rows) == 1:
        return rows[0]
    order = list(KINDS)
    return sorted(
        (match for matches in rows for match in matches),
        key=lambda match: (-match.score, order.index(match.kind.name), match.id),
    )


def _item(match: Match) -> dict[str, Any]:
    record, values = orjson.loads(match.row.record), match.values
    title_name = next((name for name in match.kind.titles if name in match.matched), None)
    text = match.title
    if title_name is None and match.matched:
        text = values[match.matched[0]]
    elif title_name is not None:
        text = values[title_name]
    return {
        "type": match.kind.name,
        "id": match.id,
        "title": match.title,
        "subtitle": match.kind.subtitle(record),
        "score": match.score,
        "matchedFields": list(match.matched),
        "highlight": highlight(text, match.words),
        "url": entity_url(match.kind.entity, match.id),
        # The text that the database made: its amounts are exact.
        "record": orjson.Fragment(match.row.record),
    }


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


def _with_like_names(names: dict[int, str], ids: Iterable[int]) -> Iterator[tuple[int, int]]:
    for first in ids:
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


def highlight(text: str, words: Iterable[str]) -> str:
    """``Müller & Co`` for ``mull`` -> ``<mark>Müll</mark>er &amp; Co``.

    Args:
        words: in plain form; each is marked where it begins a word, else wherever it stands.
    """
    plain, origins = _with_origins(text)
    marked = [False] * len(text)
    for word in words:
        for start in _places(plain, word):
            for at in range(start, start + len(word)):
                marked[origins[at]] = True
    return "".join(_pieces(text, marked))


def _with_origins(text: str) -> tuple[str, list[int]]:
    """The plain form, a blank before it, and where each of its letters stands in ``text``."""
    plain, origins = [" "], [0]
    for at, character in enumerate(text):
        for letter in search_text(character):
            if letter == " " and plain[-1] == " ":
                continue
            plain.append(letter)
            origins.append(at)
    return "".join(plain), origins


def _places(plain: str, word: str) -> Iterator[int]:
    """Where to mark ``word``; nowhere for an empty one."""
    if not word:
        return
    piece, ahead = (f" {word}", 1) if f" {word}" in plain else (word, 0)
    start = plain.find(piece)
    while start >= 0:
        yield start + ahead
        start = plain.find(piece, start + len(word))


def _pieces(text: str, marked: list[bool]) -> Iterator[str]:
    inside = False
    for character, is_marked in zip(text, marked, strict=True):
        # An accent of its own belongs to the letter before it.
        wanted = is_marked or (inside and unicodedata.combining(character) != 0)
        if wanted != inside:
            yield "<mark>" if wanted else "</mark>"
            inside = wanted
        yield html.escape(character)
    if inside:
        yield "</mark>"
