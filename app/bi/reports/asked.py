"""A report that is a question: its query, columns, sums and chart as of today."""

from __future__ import annotations

from typing import Any

from app.bi.answering import plan_of
from app.bi.periods.calendar import calendar
from app.bi.plans.charting import chart_of_plan
from app.bi.plans.plan import Plan
from app.bi.reports.definition import TYPES, Column
from app.clock import utc_now
from app.errors import ValidationError


def report_of_question(question: str) -> dict[str, Any]:
    """What a report is besides its name, of a question that is understood.

    Raises: ValidationError, it is not understood (any more), or can be meant in several ways.
    """
    asked = plan_of(question, calendar(utc_now()))
    if asked is None:
        raise ValidationError([("question", "is not understood, or can be meant in several ways")])
    plan, compiled_plan = asked
    summed = _summed(plan)
    columns = tuple(
        Column(column.name, column.label, _type(column.type), column.name in summed)
        for column in compiled_plan.columns
    )
    return {
        "entity": compiled_plan.query.set_name,
        "options": {
            name: text for name, text in compiled_plan.query.options.items() if name != "count"
        },
        "columns": columns,
        "chart": chart_of_plan(plan, compiled_plan),
    }


def _type(name: str) -> str:
    return name if name in TYPES else "number"


def _summed(plan: Plan) -> tuple[str, ...]:
    """The figures that make sense added up: no averages, no percentages, no first few of many."""
    measure = plan.measure
    if plan.limit is not None or plan.compared is not None:
        return ()
    if plan.kind == "measure" and measure is not None:
        return ("amount",) if plan.method == "sum" and not measure.average else ()
    return {"count": ("count",), "share": ("hits", "count")}.get(plan.kind, ())
