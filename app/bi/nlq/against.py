"""Two things set against each other that are no values of one property: ``created vs solved``.

Each is counted by itself, in the period by the date of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from app.bi.nlq.vocabulary import Entity, Vocabulary
from app.bi.plans.entities import spoken
from app.bi.plans.plan import Condition, Plan, Side
from app.bi.words.tokens import Token, phrase

_SINGLE = ("v", "vs", "versus", "against")
_DOUBLE = (("compared", "to"), ("compared", "with"), ("as", "opposed"))
_LONGEST = 4
_DONE = ("date", "state", "subset")

Half = tuple[Token, ...]


def halves(tokens: Sequence[Token], vocabulary: Vocabulary) -> Iterator[tuple[Half, Half]]:
    """The question once with each of what is set against each other."""
    for at in range(1, len(tokens) - 1):
        two = tuple(token.stem for token in tokens[at : at + 2])
        length = 1 if two[0] in _SINGLE else 2 if two in _DOUBLE else 0
        if not length:
            continue
        for entity in _entities(tokens, vocabulary):
            begin = at + length
            left = _done([tokens[one:at] for one in range(max(0, at - _LONGEST), at)], entity)
            ends = range(min(len(tokens), begin + _LONGEST), begin, -1)
            right = _done([tokens[begin:one] for one in ends], entity)
            if not left or not right:
                continue
            before, behind = _named(tokens[: at - len(left)], tokens[begin + len(right) :], entity)
            yield (*before, *left, *behind), (*before, *right, *behind)


def _entities(tokens: Sequence[Token], vocabulary: Vocabulary) -> list[Entity]:
    """What the question is about; where it does not say so, whatever it may be about."""
    stems = {token.stem for token in tokens}
    named = [one for one in vocabulary.entities.values() if one.nouns & stems]
    return named or list(vocabulary.entities.values())


def _done(runs: Sequence[Sequence[Token]], entity: Entity) -> Sequence[Token]:
    """The first words that say what was done to records of an entity; none where none do."""
    for run in runs:
        negated = len(run) > 1 and run[0].stem == "not"
        stems = tuple(token.stem for token in run[negated:])
        if any(one.kind in _DONE for one in entity.lexicon.get(stems, ())):
            return run
    return ()


def _named(before: Sequence[Token], behind: Sequence[Token], entity: Entity) -> tuple[Half, Half]:
    """What stands around the halves, with the records where nothing names them."""
    if any(token.stem in entity.nouns for token in (*before, *behind)):
        return tuple(before), tuple(behind)
    noun = tuple(Token(text, text) for text in phrase(entity.many))
    return (*before, *noun), tuple(behind)


def opposed(first: Plan, second: Plan) -> Plan | None:
    """Both plans as one with two figures; None where they are not of the same shape."""
    if first.entity is not second.entity or not (_is_plain(first) and _is_plain(second)):
        return None
    if _figure(first) != _figure(second) or first.dimensions != second.dimensions:
        return None
    period = first.period or second.period
    if any(one.period not in (None, period) for one in (first, second)):
        return None
    texts = [{one.odata for one in plan.conditions} for plan in (first, second)]
    common = texts[0] & texts[1]
    if any(one.date and one.odata in common for one in first.conditions):
        return None  # what was done is said of both: which of them it is meant of is not clear
    sides = tuple(_side(plan, common) for plan in (first, second))
    if sides[0] == sides[1]:
        return None
    shared = tuple(one for one in first.conditions if one.odata in common)
    kind = "count" if first.kind == "list" else first.kind
    plan = replace(first, kind=kind, conditions=shared, period=period, sides=sides, order=None,
                   order_words="", extra_columns=(), unsure=max(first.unsure, second.unsure),
                   assumptions=tuple(dict.fromkeys((*first.assumptions, *second.assumptions))),
                   doubts=tuple(dict.fromkeys((*first.doubts, *second.doubts))))  # fmt: skip
    return _told(plan)


def _is_plain(plan: Plan) -> bool:
    odd = plan.compared or plan.ranked or plan.threshold or plan.figures or plan.grain or plan.sides
    listed = plan.kind == "list" and not plan.limit
    summed = plan.kind == "measure" and plan.method == "sum"
    return not odd and not plan.is_within and (listed or summed or plan.kind == "count")


def _figure(plan: Plan) -> tuple[object, ...]:
    return (plan.measure if plan.kind == "measure" else None,)


def _side(plan: Plan, common: set[str]) -> Side:
    own: tuple[Condition, ...] = tuple(o for o in plan.conditions if o.odata not in common)
    said = [one.spoken for one in own]
    words = ", ".join(said) or spoken(plan.date or plan.entity.date).removesuffix(" at")
    return Side(words[:1].upper() + words[1:], own, plan.date)


def _told(plan: Plan) -> Plan:
    """The plan that says by which date each side is told, where these are not the same."""
    first, second = plan.sides
    if plan.period is None or first.date == second.date:
        return plan
    # "Unpaid this month" has no date of its own: made then, or unpaid since then.
    plan = replace(plan, unsure=plan.unsure + any(map(_is_undated, plan.sides)))
    parts = [f"{one.words.lower()} by {spoken(one.date or '')}" for one in plan.sides]
    return plan.with_assumption(f"each is counted by its own date: {', '.join(parts)}")


def _is_undated(side: Side) -> bool:
    """Whether a side is a state that no date is kept of."""
    stated = [one for one in side.conditions if one.words != "issued"]
    return bool(stated) and not any(one.date for one in stated)
