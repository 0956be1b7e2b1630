"""Figures named one after the other: ``number, value and weighted value of deals by stage``.

Each is asked for by itself, with the words that all of them have in common; what is understood of
all of them becomes one answer where the figures are of the same records and groups.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from app.bi.nlq.parts import together
from app.bi.nlq.vocabulary import Phrase, Vocabulary
from app.bi.plans.plan import Plan
from app.bi.words.tokens import Token

MOST_FIGURES = 4
_LONGEST = 4  # words of a figure
_FIGURES = {"count", "sum", "average", "amount", "how_much"}
_AROUND = {"stop", "list", "me"}


def enumerated(
    tokens: Sequence[Token], vocabulary: Vocabulary, fresh: Callable[[list[Token]], Sequence[Plan]]
) -> Plan | None:
    """The figures of a list of them as one plan; None where it is no such list.

    Args:
        fresh: the plans of a question by itself.
    """
    named = _named(tokens, vocabulary)
    if named is None or not 2 <= len(named.figures) <= MOST_FIGURES:
        return None
    plans: list[Plan] = []
    for figure in named.figures:
        asked = (fresh([*words]) for words in named.questions(figure))
        plan = next((found[0] for found in asked if len(found) == 1), None)
        if plan is None:
            return None
        plans.append(plan)
    plans.sort(key=lambda plan: plan.kind != "count")  # the number of records goes last
    whole = plans[0]
    for plan in plans[1:]:
        both = together(plan, whole, counts=False, again=False)
        if both is None or len(both.figures) != len(whole.figures) + 1:
            return None
        whole = both
    return whole


def figures_named(tokens: Sequence[Token], vocabulary: Vocabulary) -> int:
    """How many figures a list of them names; 0 where there is no list."""
    named = _named(tokens, vocabulary)
    return 0 if named is None else len(named.figures)


@dataclass(frozen=True)
class _Named:
    """Figures, and what all of them are of: before them, behind them, and the kind of records."""

    figures: tuple[tuple[Token, ...], ...]
    before: tuple[Token, ...] = ()
    behind: tuple[Token, ...] = ()
    noun: Token | None = None

    def questions(self, figure: Sequence[Token]) -> Iterator[Sequence[Token]]:
        """How one of the figures may be asked for."""
        of = () if figure[-1].stem == "of" else (Token("of", "of"),)
        if self.before:
            yield (*figure, *of, *self.before)
            yield (*self.before, *figure)
        elif self.noun is not None:
            yield (*figure, *of, self.noun, *self.behind)
        else:
            yield (*(figure if of else figure[:-1]), *self.behind)
            yield (*figure, *self.behind)


def _named(tokens: Sequence[Token], vocabulary: Vocabulary) -> _Named | None:
    """The figures that are named one after the other, and what is said of all of them."""
    parts = _parts(tokens, vocabulary)
    if len(parts) < 2:
        return None
    if parts[1][0].mark in (":", "-"):
        all_of = [_whole(part, vocabulary) for part in parts[1:]]
        said = tuple(tuple(one) for one in all_of if one is not None)
        return _Named(said, before=tuple(parts[0])) if len(said) == len(all_of) else None
    *first, last = parts
    end = _figure_at(last, vocabulary)
    nouns = [_noun(part, vocabulary) for part in (*first, last[: end + 1])]
    noun = next((one for one in nouns if one is not None), None)
    all_of = [_whole([one for one in part if one is not noun], vocabulary) for part in first]
    said = tuple(tuple(one) for one in all_of if one is not None)
    if not end or len(said) < len(first):
        return None
    behind = tuple(one for one in last[end:] if one is not noun)
    return _Named((*said, tuple(last[:end])), behind=behind, noun=noun)


def _noun(part: Sequence[Token], vocabulary: Vocabulary) -> Token | None:
    """The kind of records, where one word of a figure names it: ``number of deals``."""
    return next((one for one in part[1:] if vocabulary.is_of_records(one.stem, {"noun"})), None)


def _parts(tokens: Sequence[Token], vocabulary: Vocabulary) -> list[list[Token]]:
    """The words between marks and links."""
    found: list[list[Token]] = [[]]
    for token in tokens:
        is_link = token.stem in vocabulary.links
        if (token.mark or is_link) and found[-1]:
            found.append([])
        if not is_link:
            found[-1].append(token)
    return [part for part in found if part]


def _whole(part: Sequence[Token], vocabulary: Vocabulary) -> list[Token] | None:
    """The words of one figure, written out; None where they are something else."""
    words = [token for token in part if not _is_around(token, vocabulary)]
    if not words:
        return None
    if _figure_at(words, vocabulary) == len(words):
        return [replace(token, apart=False, mark="") for token in words]
    written_out = _begun(words[0].stem, vocabulary) if len(words) == 1 else None
    if written_out is None:
        return None
    return [replace(words[0], text=word, stem=word, apart=False, mark="") for word in written_out]


def _figure_at(tokens: Sequence[Token], vocabulary: Vocabulary) -> int:
    """How many words of a figure stand first: ``total hours``, ``number``."""
    at = 0
    while at < len(tokens):
        for length in range(min(_LONGEST, len(tokens) - at), 0, -1):
            if _is_figure(tuple(token.stem for token in tokens[at : at + length]), vocabulary):
                at += length
                break
        else:
            break
    return at


def _is_figure(stems: Phrase, vocabulary: Vocabulary) -> bool:
    named = {one.kind for one in vocabulary.words.get(stems, ())}
    return stems in vocabulary.figures or vocabulary.is_measure(stems) or bool(_FIGURES & named)


def _is_around(token: Token, vocabulary: Vocabulary) -> bool:
    meanings = vocabulary.words.get((token.stem,), ())
    if (token.stem,) in vocabulary.figures:
        return False
    return bool(meanings) and all(one.kind in _AROUND for one in meanings)


def _begun(word: str, vocabulary: Vocabulary) -> Phrase | None:
    """``weighted``: the figure of two words of which it is the first, where no other one is."""
    for entity in vocabulary.entities.values():
        found = {
            stems: meaning.value.value
            for stems, meanings in entity.lexicon.items()
            for meaning in meanings
            if meaning.kind == "measure" and len(stems) == 2 and stems[0] == word
        }
        if found and len(set(found.values())) == 1:
            return next(iter(found))
    return None
