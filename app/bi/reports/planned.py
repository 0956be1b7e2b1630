"""The report that a plan is: its query, its columns with the sums that make sense, its chart."""

from __future__ import annotations

from app.bi.plans.charting import chart_of_plan
from app.bi.plans.columns import Compiled
from app.bi.plans.plan import Plan
from app.bi.reports.definition import TYPES, Column, Report


def report_of_plan(plan: Plan, compiled_plan: Compiled) -> Report:
    """A report without a name."""
    summed, query = _summed(plan), compiled_plan.query
    columns = tuple(
        Column(column.name, column.label, column.type if column.type in TYPES else "number",
               column.name in summed, column.currency)
        for column in compiled_plan.columns
    )  # fmt: skip
    options = {name: text for name, text in query.options.items() if name != "count"}
    chart = chart_of_plan(plan, compiled_plan)
    return Report(0, None, "", None, query.set_name, options, columns=columns, chart=chart)


def _summed(plan: Plan) -> tuple[str, ...]:
    """The figures that make sense added up: no averages, no percentages, no first few of many."""
    measure = plan.measure
    if plan.limit is not None or plan.compared is not None:
        return ()
    if plan.kind == "measure" and measure is not None:
        return ("amount",) if plan.method == "sum" and not measure.average else ()
    return {"count": ("count",), "share": ("hits", "count")}.get(plan.kind, ())
