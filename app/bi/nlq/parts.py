"""Two questions in one sentence: one answer where they have the same shape, else a choice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date

from app.bi.nlq.agreement import check_agreement
from app.bi.nlq.checking import UnclearError
from app.bi.nlq.sharing import merged
from app.bi.nlq.slots import positions
from app.bi.nlq.vocabulary import Vocabulary
from app.bi.plans.entities import Dimension, Measure
from app.bi.plans.plan import Condition, Figure, Plan
from app.bi.words.tokens import Token

_AGAINST = ("vs", "versus", "against", "compared", "to", "with")
# With what another question begins.
_HEADS = {"count", "how_much", "how_long", "when", "share"}
_ASKING = ("what", "which", "who", "what's", "whose", "how")
_SENTENCE = ("?", ".", "!", ";")
_THOSE = ("those", "these", "them")
_BEFORE_THOSE = ("by", "from", "for", "of", "with", "to")


@dataclass(frozen=True)
class Two:
    """Two questions; ``apart``, whether the first is a sentence by itself."""

    first: tuple[Token, ...]
    second: tuple[Token, ...]
    apart: bool


def two_of(tokens: Sequence[Token], vocabulary: Vocabulary) -> Two | None:
    """The two questions of a sentence, or of two; None for one."""
    for at in range(1, len(tokens)):
        linked = tokens[at].stem in vocabulary.links or tokens[at].mark
        begin = at
        while begin < len(tokens) and tokens[begin].stem in (
            *vocabulary.links,
            "also",
            "then",
            "so",
        ):
            begin += 1
        if (
            not linked
            or not _asks(tokens, begin, vocabulary)
            or not _asks_at_all(tokens[:at], vocabulary)
        ):
            continue
        if _is_group(tokens, at, begin, vocabulary):
            continue  # "per source and rating"
        apart = any(token.mark in _SENTENCE for token in tokens[at : begin + 1])
        return Two(tuple(tokens[:at]), tuple(tokens[begin:]), apart)
    return None


def _is_group(tokens: Sequence[Token], at: int, begin: int, vocabulary: Vocabulary) -> bool:
    """Whether what stands behind a link is one more group."""
    before = {kind for _, _, kinds in positions(tokens[:at], vocabulary) for kind in kinds}
    heads = [kinds for place, _, kinds in positions(tokens[begin : begin + 3], vocabulary)]
    is_head = any(_HEADS & set(kinds) for kinds in heads)
    named = vocabulary.is_of_records(tokens[begin].stem, {"dimension"})
    return "by" in before and named and not is_head


def two_measures(tokens: Sequence[Token], vocabulary: Vocabulary) -> Two | None:
    """``planned and actual hours``, ``hours spent vs budgeted``: the question once with each."""
    for at, token in enumerate(tokens):
        if token.stem not in vocabulary.links and token.stem not in _AGAINST:
            continue
        begin, end = at - 1, at + 1
        while end < len(tokens) and tokens[end].stem in _AGAINST:
            end += 1
        for first, second, left, right in _halves(tokens, begin, end, vocabulary):
            before, behind = tokens[: at - left], tokens[end + right :]
            return Two((*before, *first, *behind), (*before, *second, *behind), apart=False)
    return None


def _halves(
    tokens: Sequence[Token], begin: int, end: int, vocabulary: Vocabulary
) -> Iterator[tuple[Sequence[Token], Sequence[Token], int, int]]:
    """Two measures that share a word; how many words each takes of the question."""
    for left in (1, 2):
        one = tokens[max(0, begin + 1 - left) : begin + 1]
        for right in (3, 2, 1):
            other = tokens[end : end + right]
            if len(one) < left or len(other) < right:
                continue
            if right > 1 and _is_measure(other, vocabulary):
                whole = (*one, other[-1])  # "planned and actual hours"
                if _is_measure(whole, vocabulary) and _is_short(one, whole, vocabulary):
                    yield whole, other, left, right
            elif right == 1 and left == 2 and _is_measure(one, vocabulary):
                for both in ((one[0], *other), (*other, one[0])):  # "hours spent vs budgeted"
                    if _is_measure(both, vocabulary) and not _is_measure(other, vocabulary):
                        yield one, both, left, right


def _is_short(one: Sequence[Token], whole: Sequence[Token], vocabulary: Vocabulary) -> bool:
    """Whether words are no figure without the word they share: ``gross`` is the gross amount."""
    short, long = (tuple(token.stem for token in part) for part in (one, whole))
    return all(
        meaning.kind != "measure"
        or any(meaning.value == other.value for other in entity.lexicon.get(long, ()))
        for entity in vocabulary.entities.values()
        for meaning in entity.lexicon.get(short, ())
    )  # fmt: skip


def _is_measure(tokens: Sequence[Token], vocabulary: Vocabulary) -> bool:
    return vocabulary.is_measure(tuple(token.stem for token in tokens))


def _asks(tokens: Sequence[Token], at: int, vocabulary: Vocabulary) -> bool:
    """Whether a question begins at this place."""
    if at >= len(tokens):
        return False
    if tokens[at].stem in _BEFORE_THOSE and _is_head(tokens[at + 1 : at + 3], vocabulary):
        return any(
            _HEADS & set(kinds) for _, _, kinds in positions(tokens[at : at + 3], vocabulary)
        )
    if tokens[at].stem in _ASKING and not tokens[at].is_capital:
        return True
    while at < len(tokens) and tokens[at].stem in vocabulary.between:
        at += 1
    two = [token.stem for token in tokens[at : at + 2]]
    if two and (two[0] in _THOSE or (two[0] in _BEFORE_THOSE and two[-1] in _THOSE)):
        return True
    return _is_head(tokens[at : at + 4], vocabulary)


def _is_head(tokens: Sequence[Token], vocabulary: Vocabulary) -> bool:
    first = [kinds for at, _, kinds in positions(tokens, vocabulary)[:1] if at == 0]
    if first and {"descending", "ascending"} & set(first[0]):
        return False  # "highest first"
    if first and _HEADS & set(first[0]):
        return True
    if len(tokens) > 1 and vocabulary.is_of_records(tokens[0].stem, {"state"}):
        behind = tokens[1].stem
        if vocabulary.figures.get((behind,)) == "sum":
            return True  # "and overdue amount"
    stems = [tuple(token.stem for token in tokens[:length]) for length in range(1, len(tokens) + 1)]
    return any(one in vocabulary.figures or vocabulary.is_measure(one) for one in stems)


def _asks_at_all(tokens: Sequence[Token], vocabulary: Vocabulary) -> bool:
    """Whether a figure or records are asked for in these words."""
    figured = any(_is_head(tokens[at : at + 4], vocabulary) for at in range(min(8, len(tokens))))
    kinds = {kind for _, _, found in positions(tokens, vocabulary) for kind in found}
    return figured or tokens[0].stem in _ASKING or {"noun", "by"} <= kinds


# --- both together


def together(first: Plan, second: Plan, *, counts: bool, again: bool) -> Plan | None:
    """Two plans as one: two figures of the same records, or one of several kinds of them.

    Args:
        counts: whether the second asks how many; what only restricts is no question of its own.
        again: whether the second may ask the same once more.
    """
    if first.entity is not second.entity or not (_is_plain(first) and _is_plain(second)):
        return None
    shared = _shared(first, second)
    if shared is None:
        return None
    first, second = shared
    if not first.conditions and first.kind == second.kind == "measure" and first.measure:
        first = replace(first, conditions=second.conditions)  # "hours and budget of active ones"
    one, other = texts_of(first), texts_of(second)
    if one == other and _figure(first) == _figure(second) and len(second.figures) == 1:
        return _of_both(second, first)  # "total billed, gross and net"
    if one == other and _figure(first) == _figure(second):
        return _of_both(first, second) if again else None  # "why are they lost? count per reason"
    if one == other:
        return _with_both(first, second)
    if _figure(first) != _figure(second) or first.figures or second.figures:
        return None
    if counts and one < other and first.kind == "count" and not first.figures:
        return _of_whom(first, second)
    return _by_value(first, second)


def _is_plain(plan: Plan) -> bool:
    odd = plan.compared or plan.ranked or plan.limit or plan.threshold or plan.sort
    return plan.kind in ("count", "measure") and not odd and not plan.is_within


def _shared(first: Plan, second: Plan) -> tuple[Plan, Plan] | None:
    """Groups and a period that only one of them says are those of both."""
    grouped = first if first.dimensions or first.grain else second
    for one in (first, second):
        own = (one.dimensions, one.grain)
        if own not in (((), None), (grouped.dimensions, grouped.grain)):
            return None
    dated = first if first.period is not None else second
    for one in (first, second):
        if one.period not in (None, dated.period):
            return None
    if dated.period is not None and first.date != second.date:
        return None
    one, other = (
        replace(one, period=dated.period, date=dated.date, grain=grouped.grain,
                dimensions=grouped.dimensions)
        for one in (first, second)
    )  # fmt: skip
    return one, other


def texts_of(plan: Plan) -> frozenset[str]:
    """What records have to be, for a figure of them."""
    texts = {one.odata for one in plan.conditions}
    kept = plan.measure.filter if plan.kind == "measure" and plan.measure is not None else None
    return frozenset({*texts, *([kept] if kept else []), *_issued(plan)})


def _issued(plan: Plan) -> list[str]:
    """Of what is dated or summed up, the issued ones count."""
    issued = plan.entity.issued
    stated = any(one.is_own_state for one in plan.conditions)
    return [issued] if issued and not stated else []


def _figure(plan: Plan) -> tuple[object, ...]:
    return plan.kind, plan.measure, plan.method if plan.kind == "measure" else None


def _with_both(first: Plan, second: Plan) -> Plan | None:
    main, other = (first, second) if first.kind == "measure" else (second, first)
    if first.figures or (second.figures and main is second):
        return None
    moneys = {one.measure.money for one in (main, other) if one.kind == "measure" and one.measure}
    if len(moneys - {None}) > 1:
        return None
    figure = Figure(other.measure if other.kind == "measure" else None, other.method)
    conditions = max((first.conditions, second.conditions), key=len)
    figures = (figure, *other.figures)
    general = main.measure is not None and main.measure.default and figure.measure is not None
    if general and main.measure is not None and _has(figures, main.measure, main.method):
        # "total billed, net and gross": these two are the total.
        main = replace(main, measure=figure.measure, method=figure.method)
        figures = figures[1:]
    return _of_both(replace(main, conditions=conditions, figures=once(figures)), other)


def once(figures: Sequence[Figure]) -> tuple[Figure, ...]:
    """Figures, none of them twice."""
    found: dict[tuple[str, str], Figure] = {}
    for one in figures:
        key = (one.measure.value, one.method) if one.measure is not None else ("", "")
        found.setdefault(key, one)
    return tuple(found.values())


def _has(figures: Sequence[Figure], measure: Measure, method: str) -> bool:
    known = [(one.measure.value, one.method) for one in figures[1:] if one.measure is not None]
    return (measure.value, method) in known


def _of_both(plan: Plan, other: Plan) -> Plan:
    return replace(
        plan,
        assumptions=tuple(dict.fromkeys((*plan.assumptions, *other.assumptions))),
        doubts=tuple(dict.fromkeys((*plan.doubts, *other.doubts))),
        repaired=tuple(dict.fromkeys((*plan.repaired, *other.repaired))),
        unsure=max(plan.unsure, other.unsure),
    )


def _of_whom(first: Plan, second: Plan) -> Plan | None:
    """``how many tickets are open and how many of those breached``: how many of all."""
    more = [one for one in second.conditions if one.odata not in texts_of(first)]
    if len(more) != 1 or len(texts_of(second)) != len(texts_of(first)) + 1:
        return None
    if not _agree((*first.conditions, more[0]), first):
        return None  # "how many are overdue and how many not yet due": these are others
    hit = replace(more[0], text=more[0].odata, negated=False, words=more[0].spoken)
    return _of_both(replace(first, kind="share", share_of=hit), second)


def _agree(conditions: Sequence[Condition], plan: Plan) -> bool:
    """Whether a record can fulfil all of it."""
    try:
        means = plan.entity.data.get("means", {})
        check_agreement(conditions, means, plan.today or date.min)
    except UnclearError:
        return False
    return True


def _by_value(first: Plan, second: Plan) -> Plan | None:
    """``how many by phone and how many by chat``: each of the values by itself."""
    one = [c for c in first.conditions if c not in second.conditions]
    other = [c for c in second.conditions if c not in first.conditions]
    if len(one) != 1 or len(other) != 1:
        return None
    values = one[0], other[0]
    same = values[0].path is not None and values[0].path == values[1].path
    if not same or any(c.negated or len(c.values) != 1 for c in values):
        return None
    dimension = dimension_of(first, values[0])
    if dimension is None or dimension in first.dimensions:
        return None
    kept = tuple(c for c in first.conditions if c is not one[0])
    conditions = (*kept, *merged(values))
    plan = replace(first, conditions=conditions, dimensions=(*first.dimensions, dimension))
    return _of_both(plan, second)


def dimension_of(plan: Plan, condition: Condition) -> Dimension | None:
    """What a condition is a value of."""
    found = plan.entity.dimensions.values()
    paths = (condition.path, (condition.path or "").removesuffix("Id"))
    return next((d for d in found if d.name in paths or d.path in paths or d.key in paths), None)
