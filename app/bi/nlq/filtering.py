"""Everything that restricts the records of a plan, as OData filters."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from app.bi.nlq.plan import Plan, Side
from app.bi.nlq.spans import midnight


def condition_text(plan: Plan) -> str | None:
    """Everything that restricts the records, as one filter."""
    base = (plan.ratio.base if plan.ratio is not None else None) or plan.entity.base
    parts = [] if base is None else [base]
    parts += [one.odata for one in plan.conditions]
    measured = plan.measure.filter if plan.kind in ("measure", "share") and plan.measure else None
    if measured and measured not in parts:
        parts.append(measured)
    if plan.period is not None and not plan.sides:
        parts += _within(plan)
    if len(parts) > 1:
        parts = [f"({part})" if _is_composed(part) else part for part in parts]
    return " and ".join(dict.fromkeys(parts)) or None


def _is_composed(text: str) -> bool:
    return " or " in text


def _within(plan: Plan) -> list[str]:
    period, compared = plan.period, plan.compared
    assert period is not None
    starts, ends = [period.start], [period.end]
    if compared is not None:
        starts.append(compared.start)
        ends.append(compared.end)
    if compared is not None and period.start != compared.end:
        return [f"({span(plan, period.start, period.end)} or "
                f"{span(plan, compared.start, compared.end)})"]  # fmt: skip
    start = None if None in starts else min(s for s in starts if s is not None)
    end = None if None in ends else max(e for e in ends if e is not None)
    return [part for part in (span(plan, start, None), span(plan, None, end)) if part]


def side_text(plan: Plan, side: Side) -> str:
    """What the records of one side fulfil, those of the period by its own date."""
    parts = [one.odata for one in side.conditions]
    if plan.period is not None:
        parts.append(span(replace(plan, date=side.date), plan.period.start, plan.period.end))
    whole = [f"({part})" if _is_composed(part) else part for part in parts if part]
    return " and ".join(whole) or "true"


def span(plan: Plan, start: date | None, end: date | None) -> str:
    parts = []
    if start is not None:
        parts.append(f"{plan.date} ge {literal(plan, start)}")
    if end is not None:
        parts.append(f"{plan.date} lt {literal(plan, end)}")
    return " and ".join(parts)


def literal(plan: Plan, day: date) -> str:
    """A day as the plan's date property is compared with it."""
    is_date = plan.date is not None and plan.entity.is_date(plan.date)
    return str(day) if is_date else midnight(day, plan.zone)
