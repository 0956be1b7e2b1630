"""Figures side by side: ``number and total of open invoices``, ``lowest and highest rating``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.bi.nlq.slots import positions
from app.bi.nlq.vocabulary import Vocabulary
from app.bi.plans.plan import Figure, Plan
from app.bi.words.tokens import Token

_LONGEST = 4


@dataclass(frozen=True)
class SideBySide:
    """The question with one of the figures in it, and all methods in the order they were asked."""

    tokens: tuple[Token, ...]
    methods: tuple[str, ...]


def side_by_side(tokens: Sequence[Token], vocabulary: Vocabulary) -> SideBySide | None:
    """The figures that one question asks for at once; None for one figure or none."""
    for begin in range(len(tokens)):
        found, end = _run(tokens, begin, vocabulary)
        methods = tuple(dict.fromkeys(method for method, _ in found))
        if "measure" in methods and set(methods) != {"count", "measure"}:
            continue  # "the largest order value": one figure, or two of them
        if len(methods) > 1:
            if begin and _is_group(tokens[begin - 1], vocabulary):
                return None  # "by number and total": in what order
            return SideBySide(_with_one(tokens, begin, end, found), methods)
    return None


def _is_group(token: Token, vocabulary: Vocabulary) -> bool:
    kinds = {kind for _, _, kinds in positions([token], vocabulary) for kind in kinds}
    return "by" in kinds


def _run(
    tokens: Sequence[Token], at: int, vocabulary: Vocabulary
) -> tuple[list[tuple[str, Sequence[Token]]], int]:
    """Figures that are linked from here on, each with its words, and where they end."""
    found: list[tuple[str, Sequence[Token]]] = []
    end = place = at
    while figure := _figure(tokens, place, vocabulary):
        length, method = figure
        found.append((method, tokens[place : place + length]))
        end = place = place + length
        linked = False
        while place < len(tokens):
            token = tokens[place]
            linked = linked or token.stem in vocabulary.links or token.mark == ","
            if token.stem not in (vocabulary.links | vocabulary.between):
                break
            place += 1
        if not linked:
            break
    return found, end


def _figure(tokens: Sequence[Token], at: int, vocabulary: Vocabulary) -> tuple[int, str] | None:
    for length in range(min(_LONGEST, len(tokens) - at), 0, -1):
        stems = tuple(token.stem for token in tokens[at : at + length])
        behind = tokens[at + length].stem if at + length < len(tokens) else ""
        if stems in vocabulary.figures and behind != "first":
            return length, vocabulary.figures[stems]
        if vocabulary.is_measure(stems):
            return length, "measure"
    return None


def _with_one(
    tokens: Sequence[Token], begin: int, end: int, found: Sequence[tuple[str, Sequence[Token]]]
) -> tuple[Token, ...]:
    """The question about the total, else about the average: it says of what the figures are."""
    words: Sequence[Token] = [Token("average", "average")]
    if {method for method, _ in found} in ({"count", "sum"}, {"count", "measure"}):
        words = next(words for method, words in found if method != "count")
    rest = tokens[end:]
    if any(token.kind == "word" and len(token.stem) > 3 for token in rest):
        return (*tokens[:begin], *words, *rest)
    return (*words, *tokens[:begin], *rest)  # "payments in May: how many, how much"


def with_figures(plan: Plan, methods: Sequence[str]) -> Plan | None:
    """The plan of one figure made one of all; None where they are none of the same records."""
    simple = plan.kind == "measure" and plan.measure is not None and plan.compared is None
    if not simple or plan.ranked is not None or plan.is_within or plan.measure is None:
        return None
    if plan.measure.average and "sum" in methods:
        return None
    asked = [plan.method if one == "measure" else one for one in methods]
    first, *others = [Figure(None if one == "count" else plan.measure, one)
                      for one in sorted(asked, key=lambda one: one == "count")]  # fmt: skip
    # The smallest and the largest record may be meant, not how small and large they are.
    unsure = plan.unsure + (set(methods) <= {"min", "max"} and not plan.dimensions)
    return replace(plan, method=first.method, figures=tuple(others), unsure=unsure)
