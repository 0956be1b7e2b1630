"""Records beside a figure of theirs, by group: ``open tasks and estimated hours by person``."""

from __future__ import annotations

from collections.abc import Sequence

from app.bi.nlq.slots import positions
from app.bi.nlq.vocabulary import Entity, Vocabulary
from app.bi.words.tokens import Token

_LONGEST = 4
# What may stand before the records; any other word asks for something by itself.
_LEADING = {"list", "stop", "me", "noun"}
_NUMBER = (Token("number", "number"), Token("of", "of"))
_METHODS = ("sum", "average")


def counted(tokens: Sequence[Token], vocabulary: Vocabulary) -> tuple[Token, ...] | None:
    """The question with ``number of`` before the records; None where it asks for nothing so."""
    found = positions(tokens, vocabulary)
    place = next((at for at, (_, _, kinds) in enumerate(found) if "noun" in kinds), None)
    if place is None:
        return None
    begin, end, kinds = found[place]
    if any(not _LEADING & set(one) for _, _, one in found[:place]):
        return None
    behind = _behind_figure(tokens, end, vocabulary.entities[str(kinds["noun"])], vocabulary)
    if behind is None or not any(at == behind and "by" in one for at, _, one in found):
        return None
    lead = max((stop for _, stop, one in found[:place] if "list" in one), default=0)
    return (*_NUMBER, *tokens[min(lead, begin) :])


def _behind_figure(
    tokens: Sequence[Token], at: int, entity: Entity, vocabulary: Vocabulary
) -> int | None:
    """Where a figure of the records ends that is linked here; None where none is."""
    begin = at
    while at < len(tokens) and tokens[at].stem in (vocabulary.links | vocabulary.between):
        at += 1
    if at == begin or not any(one.stem in vocabulary.links for one in tokens[begin:at]):
        return None
    if at < len(tokens) and vocabulary.figures.get((tokens[at].stem,)) in _METHODS:
        at += 1  # "and average resolution time"
    for length in range(_LONGEST, 0, -1):
        stems = tuple(one.stem for one in tokens[at : at + length])
        if any(one.kind == "measure" for one in entity.lexicon.get(stems, ())):
            return at + len(stems)
    return None
