"""A question that goes on: the plan before it, changed by what it says instead or besides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from app.bi.nlq.agreement import check_agreement
from app.bi.nlq.checking import UnclearError
from app.bi.nlq.reading import Reading
from app.bi.nlq.resolving import LISTED, due, resolved
from app.bi.nlq.sharing import merged
from app.bi.periods.spans import Period
from app.bi.plans.entities import spoken
from app.bi.plans.plan import Condition, Plan

Repairs = tuple[tuple[str, str], ...]


def changed(plan: Plan, reading: Reading, repaired: Repairs = ()) -> Plan:
    """``plan`` with what a later question says.

    Raises: UnclearError.
    """
    compares = {"compare", "change", "previous"} & reading.flags
    shift = reading.shift
    if shift is not None:
        return _shifted(plan, shift, bool(compares), repaired)
    ranked = _ranked(plan, reading)
    own = resolved(_as_follower(reading))
    changes: dict[str, Any] = {**_kind(plan, own, reading), **_groups(plan, own)}
    if own.period is not None:
        own = replace(own, period=_ahead(own.period, plan, reading))
        date = own.date if reading.date or any(c.date for c in own.conditions) else plan.date
        changes.update(period=own.period, date=date, compared=own.compared)
        if compares and plan.period is not None and len(reading.periods) == 1:
            changes.update(period=plan.period, compared=reading.periods[0], date=plan.date)
    if ranked:
        changes.update(ranked)
    elif own.ranked or own.limit:
        changes.update(ranked=own.ranked or plan.ranked,
                       limit=reading.limit or plan.limit or own.limit)  # fmt: skip
        if plan.kind != "list" and own.kind == "list":
            changes.update(ranked="asc" if reading.rank == "asc" else "desc")
    if own.order and (plan.kind == "list" or not own.sort):
        changes.update(order=own.order, order_words=own.order_words)
    if own.chart or own.sort:
        changes.update(chart=own.chart or plan.chart, sort=own.sort or plan.sort)
    fresh = [one for one in own.conditions if one.words != "issued"]
    replaced = {one.path for one in fresh if one.path}
    old = [one for one in plan.conditions if one.path not in replaced or one.path is None]
    changes.update(conditions=tuple(merged([*_agreeing(plan, old, fresh), *fresh])))
    columns = [one for one in reading.columns if one not in plan.extra_columns]
    changes.update(extra_columns=(*plan.extra_columns, *columns))  # "and their e-mail"
    result = _in_order(_due(_issued(replace(plan, **changes))), own)
    if columns and result.kind != "list":
        raise UnclearError(f"what {spoken(columns[0])} has to do with it")
    return replace(result, repaired=(*plan.repaired, *repaired))


def _in_order(plan: Plan, own: Plan) -> Plan:
    """``highest first``, of a list: by the number that chose the records, or else by their amount.

    Raises: UnclearError, there is no such number, or there are several.
    """
    if plan.kind != "list" or own.sort not in ("desc", "asc") or plan.order:
        return plan
    told = {one.text.partition(" ")[0] for one in plan.conditions}
    numbers = [one for one in told if plan.entity.is_number(one)]
    guessed = not numbers and plan.entity.amount is not None
    if not guessed and len(numbers) != 1:
        raise UnclearError("what they are to be ordered by")
    path = plan.entity.amount if guessed else numbers[0]
    assert path is not None
    down = " desc" if own.sort == "desc" else ""
    return replace(plan, order=f"{path}{down}", order_words=f"by {spoken(path)}",
                   unsure=plan.unsure + guessed)  # fmt: skip


def _ahead(period: Period | None, plan: Plan, reading: Reading) -> Period | None:
    """``and friday?`` after ``due tomorrow``: the coming one, for that lay ahead, too."""
    today = reading.now.today
    before = plan.period
    is_ahead = before is not None and before.end is not None and (before.start or today) > today
    return period.this_year(today) if period is not None and is_ahead else period


def _agreeing(
    plan: Plan, old: Sequence[Condition], fresh: Sequence[Condition]
) -> Sequence[Condition]:
    """The conditions of before, but for those that the fresh ones contradict: ``and below 500?``"""
    try:
        means = plan.entity.data.get("means", {})
        check_agreement([*old, *fresh], means, plan.today or date.min)
    except UnclearError:
        about = {one.text.partition(" ")[0] for one in fresh}
        return [one for one in old if one.text.partition(" ")[0] not in about]
    return old


def _ranked(plan: Plan, reading: Reading) -> dict[str, Any]:
    """``top 3``: of the groups that there are, by the figure they have."""
    grouped = plan.dimensions and plan.grain is None and not reading.dimensions
    bare = reading.measure is None and reading.noun_at is None and not reading.subjects
    if not (grouped and bare and reading.rank in ("desc", "asc")):
        return {}
    one = None if reading.rank_word in ("top", "bottom") else 1
    found = {"ranked": reading.rank, "limit": reading.limit or one or LISTED}
    reading.rank = reading.limit = None
    return found


def _as_follower(reading: Reading) -> Reading:
    """A "sort by count" says how, not what."""
    if reading.sort is not None and not reading.rank:
        reading.flags -= {"count", "sum", "amount", "list"}
    if "sum" in reading.flags and reading.noun_at is None:
        reading.noun_at = 0  # "sum it up": the records are those from before
    return reading


def _kind(plan: Plan, own: Plan, reading: Reading) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    if own.kind != "list":
        keeps_figure = own.kind == "count" and plan.kind != "list" and "count" not in reading.flags
        if not keeps_figure:
            changes.update(kind=own.kind, measure=own.measure, method=own.method,
                           share_of=own.share_of, order=None, figures=own.figures,
                           threshold=own.threshold, is_counted=own.is_counted,
                           sides=())  # fmt: skip
            if plan.kind == "list" and plan.limit and not own.limit:
                changes.update(limit=None)
    elif "listed" in reading.flags or ("list" in reading.flags and reading.noun_at is not None):
        changes.update(kind="list", measure=None, dimensions=(), grain=None, ranked=None,
                       compared=None, sort=None, figures=(), threshold=None,
                       is_counted=False, sides=())  # fmt: skip
    return changes


def _groups(plan: Plan, own: Plan) -> dict[str, Any]:
    if not (own.dimensions or own.grain):
        return {}
    changes: dict[str, Any] = {"dimensions": own.dimensions, "grain": own.grain}
    if plan.kind == "list" and own.kind == "list":
        changes.update(kind="count")
    if plan.ranked and not own.ranked:
        changes.update(ranked=None, limit=None)
    return changes


def _shifted(plan: Plan, unit: str, compares: bool, repaired: Repairs) -> Plan:
    """``the month before?``: the same of an earlier period, or set against it."""
    if plan.period is None:
        raise UnclearError("what period is meant")
    earlier = plan.period.earlier(unit)
    if earlier is None:
        raise UnclearError(f"which {unit} is before it")
    repaired = (*plan.repaired, *repaired)
    if compares:
        return replace(plan, compared=earlier, repaired=repaired)
    span = replace(earlier, label=f"{earlier.label} {plan.period.label}")
    return replace(plan, period=span, compared=None, repaired=repaired)


def _due(plan: Plan) -> Plan:
    """The total of what is overdue is what of it is still to be paid."""
    stated = next((one.amount for one in plan.conditions if one.amount), None)
    if plan.kind != "measure" or stated is None or plan.measure is None or not plan.measure.default:
        return plan
    return replace(plan, measure=due(plan.entity, plan.measure, stated))


def _issued(plan: Plan) -> Plan:
    """Figures of invoices are about those issued, unless another state is named."""
    if plan.kind != "measure" or plan.measure is None or not plan.measure.issued:
        return plan
    issued = plan.entity.issued or ""
    stated = any(one.is_own_state for one in plan.conditions)
    if issued and not stated:
        return replace(plan, conditions=(*plan.conditions, Condition(issued, "issued")))
    return plan
