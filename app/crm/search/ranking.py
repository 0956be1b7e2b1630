"""How well a candidate fits what was typed: the score, and the fields that it was found by."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from rapidfuzz import distance as distances

from app.crm.search.candidates import Candidate
from app.crm.search.kinds import Kind
from app.crm.search.query import SearchQuery, Word

# What a word counts: by itself, at the beginning of a word, inside one, with typing errors.
WHOLE, BEGINNING, INSIDE = 1.0, 0.9, 0.7
MISSPELT = {0: 0.65, 1: 0.6, 2: 0.45}
# A hit that begins the title goes before one behind other words, a short title before a long one.
_LATER, _LENGTH = 0.97, 0.1


@dataclass(frozen=True, slots=True, eq=False)
class Match:
    """A candidate that fits: 0 < ``score`` <= 1; ``words`` of the record that were meant."""

    kind: Kind
    row: Candidate
    score: float
    matched: tuple[str, ...]
    words: frozenset[str]

    @property
    def id(self) -> int:
        """The key of the record."""
        return self.row.id

    @property
    def title(self) -> str:
        """The name that it is shown under."""
        values = self.values
        return next((values[name] for name in self.kind.titles if name in values), "")

    @property
    def plain(self) -> dict[str, str]:
        """Field on the wire -> its plain form, blanks around it."""
        return dict(zip(self.kind.fields, self.row.plain, strict=True))

    @property
    def values(self) -> dict[str, str]:
        """Field on the wire -> text, of those that are not empty."""
        texts = iter(self.row.texts)
        values = {}
        for name, (columns, _) in self.kind.fields.items():
            parts = [text for _ in columns if (text := next(texts))]
            if parts:
                values[name] = " ".join(parts)
        return values


def rank_as_typed(kind: Kind, query: SearchQuery, rows: Iterable[Candidate]) -> list[Match]:
    """The candidates that have every word, the best first."""
    return _ranked(_rated(kind, query, row, _as_typed) for row in rows)


def rank_nearly(kind: Kind, query: SearchQuery, rows: Iterable[Candidate]) -> list[Match]:
    """The candidates that have every word with at most the errors that are forgiven in it."""
    nearly = _Nearly()
    return _ranked(_rated(kind, query, row, nearly) for row in rows)


def _ranked(candidates: Iterable[Match | None]) -> list[Match]:
    return sorted(
        (match for match in candidates if match is not None),
        key=lambda match: (-match.score, match.id),
    )


# What a word counts in a text in plain form, and the word there that is meant; 0 for no match.
Rate = Callable[[Word, str], tuple[float, str]]


def _rated(kind: Kind, query: SearchQuery, row: Candidate, rate: Rate) -> Match | None:
    plain = dict(zip(kind.fields, row.plain, strict=True))
    best = dict.fromkeys(query.words, 0.0)
    matched: dict[str, None] = {}
    words: set[str] = set()
    for name, text in plain.items():
        weight = kind.fields[name][1]
        for word in best:
            quality, meant = rate(word, text)
            if quality:
                matched[name] = None
                words.add(meant)
                best[word] = max(best[word], quality * weight)
        if quality := _form(query, text) * weight:
            matched[name] = None
            best = {word: max(known, quality) for word, known in best.items()}
    if any(not quality and len(word.text) > 1 for word, quality in best.items()):
        return None
    score = sum(best.values()) / len(best)
    titles = [title for name in kind.titles if (title := plain[name].strip())]
    if query.phrase not in titles:
        title = titles[0] if titles else ""
        covered = min(1.0, len(query.phrase) / max(1, len(title)))
        nearness = 1.0 if title.startswith(query.phrase) else _LATER
        score *= nearness * (1 - _LENGTH + _LENGTH * covered)
    return Match(kind, row, round(score, 4), tuple(matched), frozenset(words))


def _form(query: SearchQuery, text: str) -> float:
    """What a query that is a number or an address counts as a whole, however it is written."""
    return max((_as_typed(Word(form, 0), text)[0] for form in query.forms), default=0.0)


def _as_typed(word: Word, text: str) -> tuple[float, str]:
    query = word.text
    if f" {query} " in text:
        return WHOLE, query
    if f" {query}" in text:
        return BEGINNING, query
    return (INSIDE, query) if len(query) > 1 and query in text else (0.0, "")


class _Nearly:
    """Counts words with typing errors; the same pair of words is compared once."""

    def __init__(self) -> None:
        self._known: dict[str, dict[str, int]] = {}

    def __call__(self, word: Word, text: str) -> tuple[float, str]:
        if not word.typos:
            return _as_typed(word, text)
        best, meant = word.typos + 1, ""
        known = self._known.setdefault(word.text, {})
        for other in text.split():
            errors = known.get(other)
            if errors is None:
                errors = known[other] = _errors(word, other)
            if errors < best:
                best, meant = errors, other
        return (MISSPELT[best], meant) if meant else (0.0, "")


def _errors(word: Word, other: str) -> int:
    """Typing errors between a word and another, or the beginning of the other."""
    limit = word.typos
    if len(other) < len(word.text) - limit:
        return limit + 1
    beginning = other[: len(word.text)]
    return min(
        distances.OSA.distance(word.text, other, score_cutoff=limit),
        distances.OSA.distance(word.text, beginning, score_cutoff=limit),
    )
