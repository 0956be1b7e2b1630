"""Two figures of a record against each other: ``more unhelpful than helpful votes``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.bi.nlq.vocabulary import Entity, Vocabulary
from app.bi.plans.entities import spoken
from app.bi.words.tokens import Token, phrase

LONGEST = 3  # words of a figure
# Small words before the second figure.
_SMALL = ("the", "their", "its", "his", "that", "than")
_BEING = ("is", "are", "was", "were", "has", "have", "been", "be")
_DATES = ("Edm.Date", "Edm.DateTimeOffset")


def pair_at(
    tokens: Sequence[Token], at: int, entity: Entity, vocabulary: Vocabulary
) -> tuple[int, Mapping[str, Any]] | None:
    """How many words compare two figures of a record, and the state that they say."""
    if against := _against(tokens, at, entity, vocabulary):
        return against
    pairing = vocabulary.wordings.pairing.get(tokens[at].stem)
    asked = tokens[0].stem in vocabulary.yes_no
    if pairing is None or asked or not _is_of_records(tokens, at, entity):
        return None
    operator, said = pairing
    than = next((place for place in range(at + 2, min(at + 2 * LONGEST, len(tokens)))
                 if tokens[place].stem == "than"), None)  # fmt: skip
    if than is None:
        return None
    begin = than + 1
    while begin < len(tokens) and tokens[begin].stem in _SMALL:
        begin += 1
    for length in range(min(LONGEST, len(tokens) - begin), 0, -1):
        second = tuple(token.stem for token in tokens[begin : begin + length])
        first = tuple(token.stem for token in tokens[at + 1 : than])
        low = _figure(entity, second)
        high = _figure(entity, first) or _figure(entity, (*first, *second[-1:]))
        if low and high and low != high and _alike(entity, low, high):
            words = f"{spoken(high)} {said} {spoken(low)}"
            state = {"text": f"{high} {operator} {low}", "words": words}
            return begin + length - at, {"state": state}
    return None


def _against(
    tokens: Sequence[Token], at: int, entity: Entity, vocabulary: Vocabulary
) -> tuple[int, Mapping[str, Any]] | None:
    """``whose balance is above their credit limit``: one figure or date against another."""
    if not _is_of_records(tokens, at, entity) or entity.join is not None:
        return None
    compared = vocabulary.wordings.against
    for length in range(LONGEST, 0, -1):
        first = _own(entity, tuple(token.stem for token in tokens[at : at + length]))
        begin = _behind(tokens, at + length, (*_BEING, *_SMALL))
        for words in (2, 1) if first else ():
            stems = tuple(token.stem for token in tokens[begin : begin + words])
            place = _behind(tokens, begin + words, _SMALL)
            for other in range(LONGEST, 0, -1):
                said = tuple(token.stem for token in tokens[place : place + other])
                second = _own(entity, said) if len(said) == other else None
                if stems in compared and second and first and _comparable(entity, first, second):
                    return place + other - at, _stated(entity, first, compared[stems], second)
    return None


def _behind(tokens: Sequence[Token], at: int, small: Sequence[str]) -> int:
    while at < len(tokens) and tokens[at].stem in small:
        at += 1
    return at


def _own(entity: Entity, stems: tuple[str, ...]) -> str | None:
    """The figure or the date of each record that words stand for."""
    if figure := _figure(entity, stems):
        return figure
    kinds = entity.lexicon.get(stems, ())
    return next((str(one.value) for one in kinds if one.kind in ("date", "property")
                 and _type(entity, str(one.value)) in _DATES), None)  # fmt: skip


def _type(entity: Entity, path: str) -> str:
    found = entity.prop(path)
    return "" if found is None else str(getattr(found.type, "name", ""))


def _comparable(entity: Entity, first: str, second: str) -> bool:
    """Whether two properties are different ones of one kind."""
    dates = [_type(entity, one) in _DATES for one in (first, second)]
    return first != second and dates[0] == dates[1] and _alike(entity, first, second)


def _stated(entity: Entity, first: str, operator: str, second: str) -> Mapping[str, Any]:
    """The state that a comparison says; of a day and an instant both are days."""
    days = {_type(entity, one) for one in (first, second)} == set(_DATES)
    left, right = (f"date({one})" if days and _type(entity, one) == _DATES[1] else one
                   for one in (first, second))  # fmt: skip
    said = {"gt": "over", "lt": "under"}[operator]
    words = f"{spoken(first)} {said} {spoken(second)}"
    return {"state": {"text": f"{left} {operator} {right}", "words": words}}


def _is_of_records(tokens: Sequence[Token], at: int, entity: Entity) -> bool:
    """Whether the records are named before."""
    return any(token.stem in entity.nouns for token in tokens[:at])


def _figure(entity: Entity, stems: tuple[str, ...]) -> str | None:
    """The number of each record that words stand for."""
    for words, path in entity.data.get("pairs", {}).items():
        if phrase(words) == stems:
            return str(path)
    for one in entity.lexicon.get(stems, ()):
        path = one.value if one.kind == "property" else getattr(one.value, "value", None)
        if one.kind in ("property", "measure") and entity.is_number(str(path)):
            return str(path)
    return None


def _alike(entity: Entity, first: str, second: str) -> bool:
    """Whether both are amounts of money, or neither is."""
    return entity.currency_of(first) == entity.currency_of(second)
