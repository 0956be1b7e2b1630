"""Two figures of a record against each other: ``more unhelpful than helpful votes``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.bi.nlq.vocabulary import Entity, Vocabulary, spoken
from app.bi.nlq.words import Token, phrase

LONGEST = 3  # words of a figure
# Small words before the second figure.
_SMALL = ("the", "their", "its")


def pair_at(
    tokens: Sequence[Token], at: int, entity: Entity, vocabulary: Vocabulary
) -> tuple[int, Mapping[str, Any]] | None:
    """How many words compare two figures of a record, and the state that they say."""
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
