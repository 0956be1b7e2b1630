"""Everything that restricts the records of a plan, as OData filters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date, timedelta

from app.bi.periods.spans import Period, midnight
from app.bi.plans.entities import Entity
from app.bi.plans.plan import Plan


def condition_text(plan: Plan) -> str | None:
    """Everything that restricts the records, as one filter."""
    base = (plan.ratio.base if plan.ratio is not None else None) or plan.base
    parts = [] if base is None or is_of_all(plan) else [base]
    parts += [condition.odata for condition in plan.conditions]
    measured = plan.measure.filter if plan.kind in ("measure", "share") and plan.measure else None
    if measured and measured not in parts:
        parts.append(measured)
    if plan.period is not None:
        parts += _within(plan)
    return all_of(parts) or None


def all_of(filters: Iterable[str | None]) -> str:
    """Filters as one; empty for none."""
    parts = list(dict.fromkeys(filter(None, filters)))
    return " and ".join(f"({part})" if " or " in part and len(parts) > 1 else part
                        for part in parts)  # fmt: skip


def steps_of(entity: Entity, where: str | None, *computed: Iterable[str]) -> list[str]:
    """The first steps of ``$apply``: what is joined, which records count, and what is computed."""
    steps = [f"join({entity.join})"] if entity.join else []
    steps += [f"filter({where})"] if where else []
    return [*steps, *(f"compute({','.join(values)})" for values in computed if values)]


def is_of_all(plan: Plan) -> bool:
    """Whether the question itself says which of the records count that usually are left out."""
    texts = [*(item.text for item in plan.conditions), *(item.path for item in plan.dimensions)]
    unless = plan.entity.data.get("base_unless")
    return unless is not None and any(unless in text for text in texts)


def _within(plan: Plan) -> list[str]:
    period, compared = plan.period, plan.compared
    assert period is not None
    if compared is None:
        return bounds(plan, period)
    is_next = period.start == compared.end and period.hours is None and compared.hours is None
    if not is_next or period.start is None:
        return [f"({span(plan, period)} or {span(plan, compared)})"]
    return bounds(plan, replace(period, start=compared.start))


def span(plan: Plan, period: Period) -> str:
    """That the date of the plan is in a period."""
    return " and ".join(bounds(plan, period))


def bounds(plan: Plan, period: Period) -> list[str]:
    """From when, and until when."""
    return list(bounds_of(plan.entity, plan.date or "", period, plan.zone))


def bounds_of(entity: Entity, path: str, period: Period, zone: str) -> Iterator[str]:
    """That a date of records is not before a period, and not after it."""

    def literal(day: date, hour: int = 0) -> str:
        return str(day) if entity.is_date(path) else midnight(day, zone, hour)

    begin, end = period.hours or (0, 24)
    if period.start is not None:
        yield f"{path} ge {literal(period.start, begin)}"
    if period.end is not None and end == 24:
        yield f"{path} lt {literal(period.end)}"
    elif period.end is not None:
        yield f"{path} lt {literal(period.end - timedelta(days=1), end)}"
