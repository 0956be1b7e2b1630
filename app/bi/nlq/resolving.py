"""A reading made a plan: which kind of question it is, and what it takes for granted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from app.bi.nlq.agreement import check_agreement
from app.bi.nlq.checking import UnclearError, check_ranks, checked
from app.bi.nlq.chosen import group_kind, with_conversion, with_threshold
from app.bi.nlq.dating import with_period
from app.bi.nlq.reading import Reading
from app.bi.nlq.sharing import alternatives, merged, with_share
from app.bi.nlq.tenses import of_stated, took_how_long
from app.bi.nlq.widening import of_either
from app.bi.nlq.within import apart, belonging, ranked_by, ranks_records, with_groups
from app.bi.plans import entities
from app.bi.plans.entities import Dimension, Measure, spoken
from app.bi.plans.filtering import is_of_all
from app.bi.plans.plan import Condition, Plan

# A state of the record itself: that of its client says nothing about the record.
LISTED = 10  # rows of "the newest", when no number is said


def resolved(reading: Reading, related: Sequence[Condition] = ()) -> Plan:
    """The plan of a reading.

    Raises: UnclearError.
    """
    measure, method = _measure(reading)
    if ranks_records(reading):
        measure, method, kind, dimensions = ranked_by(reading), "sum", "list", []
    else:
        kind = group_kind(reading) or _kind(reading, measure)
        dimensions = _dimensions(reading, kind, measure)
        if kind == "list" and (dimensions or reading.grain or reading.unit):
            kind = "count"
    check_ranks(reading, dimensions)
    conditions = merged(*of_either([one for _, one in reading.conditions], alternatives(reading)))
    kept = measure.filter if measure is not None and kind in ("measure", "share") else None
    also = [] if measure is None or kept is None else [Condition(kept, measure.label.lower())]
    means = reading.entity.data.get("means", {})
    check_agreement([*conditions, *also], means, reading.now.today)
    plan = Plan(
        entity=reading.entity,
        kind=kind,
        measure=measure if kind in ("measure", "list", "share") else None,
        method=method,
        conditions=(*conditions, *belonging(reading, dimensions), *related),
        dimensions=tuple(dimensions),
        grain=reading.grain or reading.unit or ("month" if "trend" in reading.flags else None),
        limit=reading.limit,
        extra_columns=tuple(reading.columns),
        sort=reading.sort,
        chart=reading.chart,
        distinct=reading.distinct if kind == "distinct" else None,
    )
    plan = with_period(_of_all(plan), reading)
    if kind == "mean" and plan.grain is not None:
        raise UnclearError(f"whether {plan.entity.many} are averaged by {plan.grain} or over all")
    if kind in ("mean", "distinct") and plan.compared is not None:
        raise UnclearError("how these figures of two periods are to be compared")
    if plan.grain == "hour" and plan.entity.is_date(plan.date or plan.entity.date):
        raise UnclearError("at what hour: there is a date and no time of it")
    if plan.compared is not None and plan.grain in ("day", "week"):
        raise UnclearError(f"how the {plan.grain}s of two periods are to be compared")
    if kind == "share":
        plan = with_share(plan, reading, related)
    plan = with_conversion(with_threshold(_with_issued(plan, reading), reading), reading)
    plan = with_groups(_with_order(plan, reading), reading)
    for one in plan.conditions:
        if note := reading.entity.data.get("state_notes", {}).get(one.words):
            plan = plan.with_assumption(note)
    if measure is not None and measure.note and kind == "measure" and not is_of_all(plan):
        plan = plan.with_assumption(measure.note)
    plan = checked(plan, reading)
    for note, other in dict.fromkeys(reading.doubts):
        plan = replace(plan.with_assumption(note), doubts=(*plan.doubts, other))
    return plan


def _of_all(plan: Plan) -> Plan:
    """``my best sellers`` are those of whoever asks to lead, not whoever asks."""
    person = plan.entity.person
    own = next((one for one in plan.conditions if one.words == "yours"), None)
    if own is None or person is None or person not in (*plan.dimensions, *plan.within):
        return plan
    kept = tuple(one for one in plan.conditions if one is not own)
    return replace(plan, conditions=kept).with_assumption("“my” is read as “our”")


def _measure(reading: Reading) -> tuple[Measure | None, str]:
    """The figure that is asked for, and how figures become one."""
    flags, entity = reading.flags, reading.entity
    method = "average" if "average" in flags else "sum"
    grouped = bool(reading.dimensions or reading.subjects or reading.unit or reading.grain)
    if reading.rank_word in ("highest", "lowest") and reading.measure is not None and not grouped:
        method = "max" if reading.rank == "desc" else "min"
    if reading.rank in ("old", "new") and _is_age(reading) and not grouped:
        method = "max" if reading.rank == "old" else "min"  # "how old is the oldest ticket"
    measure = reading.measure or took_how_long(reading)
    measure = None if measure is None else of_stated(measure, reading)
    asked = flags & {"amount", "how_much"} or ("average" in flags and "count" not in flags)
    sums = "sum" in flags and reading.noun_at is not None and "count" not in flags
    summed = entity.data.get("listed") == "sum" and "count" not in flags
    if measure is None and summed and (reading.dimensions or reading.grain):
        measure = entity.default_measure
    owed = any(one.amount for _, one in reading.conditions)
    totals = "sum" in flags and reading.noun_at is None and "count" not in flags and owed
    if measure is None and (asked or totals or (sums and not reading.dimensions_only)):
        measure = entity.default_measure
    if measure is None:
        return None, method
    if measure.average and method == "sum" and "sum" not in flags:
        method = "average"
    stated = next((one.amount for _, one in reading.conditions if one.amount), None)
    if measure.default and stated is not None:
        measure = due(entity, measure, stated)
    elif measure.default and measure.issued and reading.measure is None and _is_stated(reading):
        measure = replace(measure, label=f"Total of {entity.many}", note=None)
    return measure, method


def _is_stated(reading: Reading) -> bool:
    """Whether a state of the records themselves is named."""
    return any(one.is_own_state and not one.negated for _, one in reading.conditions)


def _is_age(reading: Reading) -> bool:
    return reading.measure is not None and reading.measure.of_named


def due(entity: entities.Entity, measure: Measure, stated: str) -> Measure:
    """Of records in such a state, not their whole amount counts."""
    label = f"Amount due of {entity.many}"
    return Measure(label=label, value=stated, money=measure.money, snapshot=True)


def _kind(reading: Reading, measure: Measure | None) -> str:
    flags = reading.flags
    if reading.distinct is not None and measure is None:
        return "distinct"
    if reading.rate is not None or "share" in flags:
        return "share"
    if "average" in flags and "count" in flags and (reading.dimensions or reading.subjects):
        return "mean"
    if measure is not None and ("count" not in flags or reading.counts_measure):
        ranked_list = reading.rank in ("desc", "asc") and reading.entity.is_number(measure.value)
        grouped = reading.dimensions or reading.subjects or reading.grain
        if (
            ranked_list
            and not grouped
            and reading.noun_at is not None
            and not flags & {"average", "sum"}
        ):
            return "list"
        return "measure"
    if "how_long" in flags:
        raise UnclearError("what is to be measured")
    if "average" in flags:
        raise UnclearError("of what the average is wanted")
    if "count" in flags:
        return "count"
    compared = len(reading.periods) > 1 or flags & {"change", "previous"} or reading.shift
    if reading.dimensions or reading.grain or compared or "trend" in flags:
        return "count"
    if reading.unit or "compare" in flags or (reading.subjects and reading.rank in ("desc", "asc")):
        return "count"
    if "sum" in flags and reading.noun_at is None:
        raise UnclearError("the total of what is wanted")
    if "sum" in flags or reading.subjects:
        return "count"
    return "list"


def _dimensions(reading: Reading, kind: str, measure: Measure | None) -> list[Dimension]:
    found = list(reading.dimensions)
    if reading.threshold is not None and reading.distinct is not None:
        found.append(reading.distinct)
    ranked = reading.rank in ("desc", "asc") or reading.threshold is not None
    asks_which = "list" in reading.flags and not {"count", "how_much"} & reading.flags
    for subject in reading.subjects:
        if subject in found:
            continue
        if (
            ranked
            or asks_which
            or (kind in ("measure", "share") and found)
            or (kind == "count" and measure is None and reading.noun_at is None)
        ):
            found.append(subject)
        else:
            raise UnclearError(f"what {subject.label} has to do with it")
    values = _compared_values(reading) or apart(reading, kind)
    if values is not None and kind in ("count", "measure", "share") and values not in found:
        found.append(values)
    return found


def _compared_values(reading: Reading) -> Dimension | None:
    """``won versus lost``, ``Amina and Ole each``: the property whose values are apart."""
    if not {"compare", "each"} & reading.flags or len(reading.periods) > 1:
        return None
    seen: dict[str, str] = {}
    for _, one in reading.conditions:
        if one.path is not None and seen.get(one.path, one.text) != one.text:
            dimensions = reading.entity.dimensions.values()
            return next((d for d in dimensions if one.path in (d.name, d.path, d.key)), None)
        seen[one.path or ""] = one.text
    return None


def _with_issued(plan: Plan, reading: Reading) -> Plan:
    """Figures and periods of invoices are about those issued, unless another state is named."""
    entity = plan.entity
    if entity.issued is None:
        return plan
    figures = plan.kind in ("measure", "share") and bool(plan.measure and plan.measure.issued)
    figures |= plan.kind == "share" and reading.took is not None  # "paid within 14 days"
    dated = plan.period is not None and plan.date == entity.date
    stated = any(one.is_own_state and not one.negated for one in plan.conditions)
    if (figures or dated) and not stated:
        return replace(plan, conditions=(*plan.conditions, Condition(entity.issued, "issued")))
    return plan


def _listed(reading: Reading) -> int:
    """How many of the newest or largest are shown: one, where one is asked for."""
    return 1 if reading.is_singular else LISTED


def _is_of_several(reading: Reading) -> bool:
    """``clients with the highest balance``: some of them, not the first alone."""
    at = reading.rank_at or 0
    before = [one.text.lower() for one in reading.slots[max(0, at - 2) : at]]
    return bool(reading.subjects) and "with" in before and "list" not in reading.flags


def _known(plan: Plan, order: str) -> Plan:
    """The smallest or largest are looked for among those that have the figure at all."""
    path = order.removesuffix(" desc")
    prop = plan.entity.prop(path) if plan.entity.join is None else None
    if prop is None or not prop.nullable:
        return plan
    condition = Condition(f"{path} ne null", f"with {spoken(path)}")
    return replace(plan, conditions=(*plan.conditions, condition))


def _in_order(plan: Plan, reading: Reading) -> Plan:
    """``open invoices, highest first``: by the figure that is shown, or the usual amount."""
    entity = reading.entity
    shown = [one for one in reading.columns if entity.is_number(one)]
    usual = reading.amount if not entity.data.get("unranked") else None
    path = shown[0] if len(shown) == 1 else usual
    if path is None and reading.noun_at is not None:
        raise UnclearError("by what they are to be sorted")
    if path is None:
        return replace(plan, measure=None)
    down = " desc" if reading.sort == "desc" else ""
    words = f"{'largest' if down else 'smallest'} first"
    return replace(plan, measure=None, order=f"{path}{down}", order_words=words)


def _with_order(plan: Plan, reading: Reading) -> Plan:
    rank, entity = reading.rank, plan.entity
    if plan.kind != "list":
        if reading.order is not None and reading.order_words == "by date":
            raise UnclearError("how groups are ordered by date")
        if reading.order is not None and reading.order_words.startswith("by "):
            return replace(plan, sort=plan.sort or "desc")
        if reading.order is not None:
            raise UnclearError(f"what is to be ordered by {reading.order_words}")
        if rank in ("desc", "asc") and (plan.dimensions or plan.grain):
            several = reading.rank_word in ("top", "bottom") or _is_of_several(reading)
            singular = not several or reading.one_subject
            low_is_good = plan.measure is not None and plan.measure.low_is_good
            if low_is_good and reading.rank_word in ("best", "worst"):
                rank = "asc" if reading.rank_word == "best" else "desc"
            limit = reading.limit or (1 if singular else LISTED)
            return replace(plan, ranked=rank, limit=limit)
        if rank in ("new", "old") and plan.method not in ("max", "min"):
            raise UnclearError(f"what is meant by {reading.rank_word}")
        if rank is not None and plan.method not in ("max", "min"):
            raise UnclearError("among what the extreme is looked for")
        return plan
    if reading.order is not None:
        order = reading.order
        is_sorted = reading.order_words.startswith("by ")  # and none is left out
        most = reading.limit if is_sorted else reading.limit or _listed(reading)
        if is_sorted and reading.sort is not None:
            order = order.removesuffix(" desc") + (" desc" if reading.sort == "desc" else "")
        plan = plan if is_sorted else _known(plan, order)
        return replace(plan, order=order, order_words=reading.order_words, limit=most)
    if rank is None and reading.sort is not None:
        return _in_order(plan, reading)
    if rank in ("new", "old"):
        date = plan.date or entity.date
        columns = (*plan.extra_columns, *([date] if "/" not in date else []))
        return replace(plan, order=f"{date} desc" if rank == "new" else date, extra_columns=columns,
                       order_words="newest first" if rank == "new" else "oldest first",
                       limit=reading.limit or _listed(reading))  # fmt: skip
    if rank in ("desc", "asc"):
        path = plan.measure.value if plan.measure is not None else reading.amount
        if entity.data.get("unranked") and plan.measure is None:
            raise UnclearError("by what they are to be ranked")
        vague = plan.measure is None and reading.rank_word in ("most", "least", "top", "bottom")
        if path is None or vague:
            raise UnclearError("by what they are to be ranked")
        direction = " desc" if rank == "desc" else ""
        return replace(_known(plan, path), order=f"{path}{direction}", measure=None,
                       order_words="largest first" if rank == "desc" else "smallest first",
                       limit=reading.limit or _listed(reading))  # fmt: skip
    return replace(plan, measure=None)
