"""A report that is a question: its query, columns, sums and chart as of today."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from app.bi.answering import plan_of
from app.bi.charts import Chart
from app.bi.periods.calendar import calendar
from app.bi.periods.spans import CYCLES
from app.bi.plans.plan import Plan
from app.bi.reports.definition import TYPES, Column
from app.clock import utc_now
from app.errors import ValidationError

_TIMES = ("year", "half", "quarter", "month", "week", "day", *CYCLES)


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
        "chart": _chart(plan, columns, compiled_plan.figures, compiled_plan.currency),
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


def _chart(
    plan: Plan, columns: Sequence[Column], figures: Sequence[str], currency: str | None
) -> Chart | None:
    """Figures over time, or of groups; None where there is nothing to compare."""
    groups = [
        column for column in columns if column.name not in figures and column.name != currency
    ]
    if not groups or not figures or plan.kind == "list" or plan.chart == "table":
        return None
    y = "percent" if plan.kind == "share" else figures[0]
    others, shape = groups[1:], "bar"
    x = groups[0]
    if plan.grain is not None:
        times = [
            group for group in groups if group.name in _TIMES or group.name == plan.date
        ] or groups[:1]
        x = next((time_ for time_ in times if time_.name == plan.grain), times[-1])
        others = [group for group in groups if group not in times]
        shape = "bar" if plan.grain in CYCLES else "line"
    kept = currency if plan.own is None else None  # the figures are all in one currency
    series = others[0].name if others else kept
    if plan.chart is not None:
        shape = "arc" if plan.chart == "pie" else plan.chart
    return Chart(shape, x.name, y, series, x.label, "")
