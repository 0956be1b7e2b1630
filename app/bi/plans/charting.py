"""Which chart shows the figures of a plan: over time, or of groups."""

from __future__ import annotations

from app.bi.charts import Chart
from app.bi.periods.spans import CYCLES
from app.bi.plans.columns import Compiled
from app.bi.plans.phrasing import GRAIN_WORDS
from app.bi.plans.plan import Plan

_TIMES = ("year", "half", "quarter", "month", "week", "day", *CYCLES)


def chart_of_plan(plan: Plan, query: Compiled) -> Chart | None:
    """The chart by the columns of the query; None where there is nothing to compare."""
    groups = query.group_columns
    if not groups or not query.figures or plan.kind == "list" or plan.chart == "table":
        return None
    y = "percent" if plan.kind == "share" else query.figures[0]
    axis, shape, title = groups[:1], "bar", groups[0].label
    if plan.grain is not None:
        axis = [column for column in groups if column.name in (*_TIMES, plan.date)] or axis
        shape = "bar" if plan.grain in CYCLES else "line"
        title = plan.say.capital(GRAIN_WORDS.get(plan.grain, plan.grain))
    x = next((column for column in axis if column.name == plan.grain), axis[-1])
    others = [column.name for column in groups if column not in axis]
    # The figures are all in one currency where a worth stands beside them.
    series = others[0] if others else query.currency if plan.own is None else None
    if plan.chart is not None:
        shape = "arc" if plan.chart == "pie" else plan.chart
    label = next(column.label for column in query.columns if column.name == y)
    return Chart(shape, x.name, y, series, title, label)
