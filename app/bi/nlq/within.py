"""Rankings within groups: ``top 3 clients per country``, ``the newest ticket of each client``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from app.bi.nlq.checking import UnclearError
from app.bi.nlq.reading import Reading
from app.bi.plans.entities import Dimension, Measure
from app.bi.plans.plan import Condition, Plan

# Between a superlative and the records that it is about.
_ATTRIBUTES = {"stop", "state", "number", "value", "currency", "noun", "subset"}


def ranks_records(reading: Reading) -> bool:
    """Whether records are ranked within groups, not groups by their figures."""
    at, noun = reading.rank_at, reading.noun_at
    if at is None and reading.order is not None:  # "the most viewed article of each category"
        at = next((place for place, one in enumerate(reading.slots) if "order" in one), None)
    if at is None or noun is None or at > noun or reading.subjects or not reading.dimensions:
        return False
    if reading.rank_word in ("most", "least") or reading.flags & {"count", "share", "average"}:
        return False
    between = reading.slots[at + 1 : noun]
    return reading.grain is None and all(_ATTRIBUTES & set(one.meanings) for one in between)


def belonging(reading: Reading, dimensions: Sequence[Dimension]) -> list[Condition]:
    """``hours per project manager``: of what belongs to a project at all."""
    found: Mapping[str, str] = reading.entity.data.get("belonging", {})
    return [Condition(found[one.name], f"with {one.label}") for one in dimensions
            if one.name in found]  # fmt: skip


def with_groups(plan: Plan, reading: Reading) -> Plan:
    """The plan, its limit counted in each of the groups that the question names so.

    Raises: UnclearError.
    """
    if plan.kind == "list":
        return _records(plan, reading) if ranks_records(reading) else plan
    outer = tuple(one for one in reading.dimensions if one not in reading.subjects)
    by_time = reading.grain is not None and bool(plan.dimensions)
    if plan.ranked is None or not reading.subjects or not (outer or by_time):
        return plan
    inner, groups = reading.subjects[0].label, " and ".join(one.label for one in outer)
    if len(reading.subjects) > 1 or plan.compared is not None or plan.kind in ("mean", "distinct"):
        raise UnclearError(f"how to rank the {inner} within each {groups or reading.grain}")
    if plan.kind == "count" and reading.noun_at is None and "count" not in reading.flags:
        raise UnclearError(f"by what the {inner} within each {groups or reading.grain} is ranked")
    return replace(plan, within=outer, within_grain=by_time)


def _records(plan: Plan, reading: Reading) -> Plan:
    if plan.order is None or plan.entity.join is not None:
        label = reading.dimensions[0].label
        raise UnclearError(f"how to rank {plan.entity.many} within each {label}: ask for one")
    shown = [one.path for one in reading.dimensions if one.path.count("/") < 2]
    kept = [one for one in shown if plan.entity.prop(one.partition("/")[0]) is None]
    columns = (*plan.extra_columns, *kept)
    return replace(plan, within=tuple(reading.dimensions), extra_columns=columns)


def ranked_by(reading: Reading) -> Measure | None:
    """The figure that records within groups are ranked by, if one is named."""
    measure = reading.measure
    if measure is not None and not reading.entity.is_number(measure.value):
        raise UnclearError(f"how to rank {reading.entity.many} by {measure.label.lower()}")
    if measure is None and reading.flags & {"amount"}:
        return reading.entity.default_measure
    return measure


def apart(reading: Reading, kind: str) -> Dimension | None:
    """``won and lost deals per month``: the property whose values are each counted."""
    named = reading.noun_at is None and reading.dimensions  # "number of wins and losses per owner"
    averaged = reading.measure is not None and reading.measure.average
    averaged |= "average" in reading.flags  # "average views of german and french articles"
    if kind not in ("count", "measure") or not (reading.grain or named or averaged):
        return None
    for (first_at, first), (last_at, last) in pairwise(reading.conditions):
        same = first.path == last.path and first.path and not (first.negated or last.negated)
        between = {one.text.lower() for one in reading.slots[first_at:last_at]}
        if same and "and" in between and {len(first.values), len(last.values)} == {1}:
            found = reading.entity.dimensions.values()
            return next((one for one in found if first.path in (one.path, one.key)), None)
    return None
