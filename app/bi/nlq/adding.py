"""What is asked of records that were named before, added to the plan of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from app.bi.nlq.checking import UnclearError
from app.bi.nlq.parts import once, texts_of
from app.bi.nlq.slots import LONGEST_PHRASE
from app.bi.nlq.vocabulary import Entity, Vocabulary
from app.bi.plans import entities
from app.bi.plans.entities import Dimension, Measure, spoken
from app.bi.plans.plan import Condition, Figure, Plan
from app.bi.words.tokens import phrase

# One number of a record against another: ``hoursSpent gt budgetHours``.
_PAIR = re.compile(r"(\w+) (gt|ge|lt|le) (\w+)(?: mul [\d.]+)?")
_KEYS = ("id", "number", "code")
_COUNTED = re.compile(r"(\w+) (?:eq|ne|gt|ge|lt|le) \d+")


def as_list(plan: Plan) -> Plan:
    """The records that a figure was of."""
    if plan.kind == "list":
        return plan
    more = [] if plan.share_of is None else [plan.share_of]
    if plan.measure is not None and plan.measure.filter and plan.kind == "measure":
        more.append(Condition(plan.measure.filter, plan.measure.label.lower()))
    told = {one.odata for one in plan.conditions}
    conditions = (*plan.conditions, *(one for one in more if one.odata not in told))
    return replace(plan, kind="list", measure=None, method="sum", conditions=conditions,
                   dimensions=(), grain=None, ranked=None, limit=None, compared=None, sort=None,
                   figures=(), threshold=None, is_counted=False, share_of=None, distinct=None,
                   sides=(), ratio=None, within=(), within_grain=False, order=None,
                   order_words="")  # fmt: skip


def with_column(plan: Plan, *paths: str) -> Plan:
    """The list with more columns; of a figure without groups, its records.

    Raises: UnclearError.
    """
    if plan.kind != "list" and (plan.dimensions or plan.grain or plan.threshold):
        raise UnclearError(f"of which {plan.entity.many} the {spoken(paths[0])} is meant")
    plan = as_list(plan)
    if plan.entity.join is not None and any(path.count("/") > 1 for path in paths):
        raise UnclearError(f"what {spoken(paths[0])} has to do with it")
    # What is asked for is told in words even where the list has it; of payments their client is.
    there = plan.entity.columns if plan.entity.join is not None else ()
    more = dict.fromkeys(one for one in paths if one not in (*there, *plan.extra_columns))
    return replace(plan, extra_columns=(*plan.extra_columns, *more))


def is_one(plan: Plan) -> bool:
    """Whether one record is asked for: the largest, or the one of a number."""
    return plan.limit == 1 or any(one.path in _KEYS and not one.negated for one in plan.conditions)


def with_named(plan: Plan, dimension: Dimension | None, words: str, *, is_new: bool) -> Plan:
    """Whose the records are: a column of a list, the groups of a figure.

    Args:
        is_new: whether it is asked after the list was shown; what it showed is not asked for again.

    Raises: UnclearError.
    """
    if dimension is None:
        raise UnclearError(f"{words} {plan.entity.many}")
    if plan.kind == "list":
        is_shown = dimension.path in (*plan.entity.columns, *plan.extra_columns)
        if is_shown and is_new and not is_one(plan):
            return grouped(plan, dimension)
        return with_column(plan, dimension.path)
    if dimension in plan.dimensions:
        return plan
    if plan.ranked and len(plan.dimensions) == 1 and _is_of_group(dimension, plan.dimensions[0]):
        return replace(plan, dimensions=(*plan.dimensions, dimension))
    return grouped(plan, dimension)


def _is_of_group(dimension: Dimension, group: Dimension) -> bool:
    """Whether what is asked for is one of each of the groups: whose clients the clients are."""
    owner = group.path.rpartition("/")[0]
    return bool(owner) and dimension.path.startswith(f"{owner}/")


def grouped(plan: Plan, dimension: Dimension) -> Plan:
    """The figure by other groups; the number of records that were a list."""
    if plan.kind in ("distinct", "mean") or plan.threshold or plan.is_within or plan.limit:
        raise UnclearError(f"which {dimension.label} is meant")
    kind = "count" if plan.kind == "list" else plan.kind
    instead = bool(plan.dimensions or plan.grain)
    return replace(plan, kind=kind, dimensions=(dimension,), grain=None, order=None,
                   order_words="", extra_columns=(), unsure=plan.unsure + instead)  # fmt: skip


def person_of(entity: entities.Entity, role: str | None) -> Dimension | None:
    """Who is responsible for records, or has another part in them."""
    if role is not None and role in entity.dimensions:
        return entity.dimensions[role]
    return entity.person if role in (None, "owner") else None


# --- dates


def with_date(plan: Plan, rest: str, vocabulary: Vocabulary) -> Plan | None:
    """``when should it be done``, ``since when``; None where other words are in it.

    Raises: UnclearError.
    """
    if rest.startswith("since"):
        path: str | None = _since(plan)
    else:
        path, is_whole = _date_said(vocabulary.entities[plan.entity.key], rest, vocabulary)
        if not is_whole:
            return None
    if path is None:
        raise UnclearError("whose date is wanted")
    return with_column(plan, path)


def _since(plan: Plan) -> str:
    """Since when records are what they are."""
    entity = plan.entity
    ahead: Sequence[str] = entity.data.get("ahead", ())
    texts = " ".join(one.text for one in plan.conditions)
    if ahead and ("isOverdue" in texts or any(f"{path} lt" in texts for path in ahead)):
        return ahead[0]
    changed: dict[str, str] = entity.data.get("since", {})
    stated = next((one.date for one in plan.conditions if one.date), None)
    own = next((path for name, path in changed.items() if name in texts), None)
    return own or stated or entity.date


def _date_said(entity: Entity, rest: str, vocabulary: Vocabulary) -> tuple[str | None, bool]:
    """The date that words name, and whether there are none but those."""
    follow, stems = vocabulary.wordings.follow, phrase(rest)
    ahead: Sequence[str] = entity.data.get("ahead", ())
    waits = any(re.search(rf"\b{one}\b", rest, re.IGNORECASE) for one in follow.ahead)
    found: list[str] = []
    is_whole, at = True, 0
    while at < len(stems):
        for length in range(min(LONGEST_PHRASE, len(stems) - at), 0, -1):
            words = stems[at : at + length]
            path = _date_meant(entity, words)
            known = path or words in vocabulary.words or " ".join(words) in follow.ahead
            known = known or (length == 1 and words[0] in vocabulary.known)
            if known:
                found += [path] if path else []
                at += length
                break
        else:
            is_whole, at = False, at + 1
    said = [path for path in found if path in ahead] if waits and ahead else found
    dates = [*said, *ahead[: int(waits)], *found]
    return (dates[0] if dates else None), is_whole


def _date_meant(entity: Entity, words: tuple[str, ...]) -> str | None:
    for one in entity.lexicon.get(words, ()):
        if one.kind == "date":
            return str(one.value)
        if one.kind == "state" and one.value.get("date"):
            return str(one.value["date"])
        prop = entity.prop(str(one.value)) if one.kind == "property" else None
        if prop is not None and getattr(prop.type, "name", "") in (
            "Edm.Date",
            "Edm.DateTimeOffset",
        ):
            return str(one.value)
    return None


# --- figures


def beside(plan: Plan, other: Plan) -> Plan | None:
    """A figure with one more beside it; None where they do not go together."""
    plain = all(one.kind in ("count", "measure") and not one.is_within for one in (plan, other))
    if not plain or plan.compared or other.compared or plan.threshold or plan.sides or other.sides:
        return None
    dates = {(one.period, one.date) for one in (plan, other) if one.period is not None}
    if texts_of(plan) != texts_of(other) or len(dates) > 1:
        return None
    first = Figure(plan.measure if plan.kind == "measure" else None, plan.method)
    figure = Figure(other.measure if other.kind == "measure" else None, other.method)
    if _same(figure) in (_same(one) for one in (first, *plan.figures)):
        return _by_both(plan, other)
    moneys = {one.money for one in (*plan.measures, *other.measures) if one.money}
    if len(moneys) > 1:
        return None
    conditions = max((plan.conditions, other.conditions), key=len)
    unsure = max(plan.unsure, other.unsure)
    both = replace(_by_both(plan, other), conditions=conditions, unsure=unsure)
    if plan.kind == "count":
        return replace(both, kind="measure", measure=other.measure, method=other.method,
                       figures=once((*other.figures, *plan.figures, first)))  # fmt: skip
    return replace(both, figures=once((*plan.figures, figure, *other.figures)))


def _by_both(plan: Plan, other: Plan) -> Plan:
    """The plan by the groups of both."""
    dimensions = tuple(dict.fromkeys((*plan.dimensions, *other.dimensions)))
    dated = plan if plan.period is not None else other
    return replace(plan, dimensions=dimensions, grain=other.grain or plan.grain,
                   period=dated.period, date=dated.date)  # fmt: skip


def figured(plan: Plan) -> tuple[object, ...]:
    """What figures a plan has, and of what groups."""
    first = Figure(plan.measure if plan.kind == "measure" else None, plan.method)
    figures = [_same(one) for one in (first, *plan.figures)]
    return plan.kind, figures, plan.dimensions, plan.grain, plan.threshold


def _same(figure: Figure) -> tuple[str | None, str]:
    return (figure.measure.value, figure.method) if figure.measure else (None, "")


def with_difference(plan: Plan, rest: str) -> Plan:
    """``by how many hours``: how far one number of each record is from the other.

    Raises: UnclearError.
    """
    for one in plan.conditions:
        match = _PAIR.fullmatch(one.text)
        numbers = match and all(plan.entity.is_number(match[at]) for at in (1, 3))
        if match is None or not numbers or one.negated:
            continue
        more, less = (match[1], match[3]) if match[2] in ("gt", "ge") else (match[3], match[1])
        label = f"{spoken(more).capitalize()} over {spoken(less)}"
        measure = Measure(label=label, value=f"{more} sub {less}",
                          money=plan.entity.currency_of(more))  # fmt: skip
        plan = replace(as_list(plan), difference=measure)
        in_order = replace(plan, order="difference desc", order_words="largest first")
        return in_order if rest else plan
    raise UnclearError("the difference of what is meant")


def with_number(plan: Plan, rest: str, vocabulary: Vocabulary) -> Plan:
    """``how many are on the third one``: another number of what was asked for.

    Raises: UnclearError.
    """
    number = _ordinal(rest, vocabulary)
    if rest.startswith("how many"):
        plan = replace(as_list(plan), kind="count", extra_columns=())
    for one in plan.conditions:
        match = _COUNTED.fullmatch(one.text)
        if match and plan.entity.is_number(match[1]) and not plan.entity.currency_of(match[1]):
            said = Condition(f"{match[1]} eq {number}", f"{spoken(match[1])} {number}", match[1],
                             (str(number),))  # fmt: skip
            kept = tuple(said if other is one else other for other in plan.conditions)
            return replace(plan, conditions=kept)
    raise UnclearError("what the number is of")


def _ordinal(text: str, vocabulary: Vocabulary) -> int:
    said = [one for one in text.split() if one != "one"]
    named = vocabulary.wordings.follow.ordinals
    digits = "".join(filter(str.isdigit, said[-1]))
    return named.index(said[-1]) + 1 if said[-1] in named else int(digits)


def of_set(plan: Plan, entity: Entity) -> Plan | None:
    """The same of records that are kept in the same set: of credit notes, not of invoices."""
    if plan.entity.set != entity.set or plan.entity is entity:
        return None
    measure = plan.measure
    if measure is not None:
        words = {word for told, one in plan.entity.measures if one == measure for word in told}
        own = (
            one for told, one in entity.measures
            if one.value == measure.value or words & set(told)
        )  # fmt: skip
        measure = next(own, None) or (
            entity.measure_of(measure.value) if entity.is_number(measure.value) else None
        )
        if measure is None:
            return None
    names = [one.name for one in plan.dimensions]
    if not set(names) <= set(entity.dimensions) or plan.figures or plan.share_of:
        return None
    old = {plan.entity.issued, *(text for text in (plan.measure and plan.measure.filter,) if text)}
    kept = [one for one in plan.conditions if one.text not in old]
    if any(one.is_own_state for one in kept):
        return None
    issued = [Condition(entity.issued, "issued")] if entity.issued else []
    note = plan.measure.note if plan.measure is not None else None
    noted = tuple(one for one in plan.assumptions if one != note)
    return replace(plan, entity=entity, measure=measure, conditions=(*kept, *issued),
                   date=entity.date, dimensions=tuple(entity.dimensions[one] for one in names),
                   extra_columns=(), assumptions=noted)  # fmt: skip
