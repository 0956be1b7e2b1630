"""A plan answered: words, rows, a chart, and the OData address that gives the same rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.bi.charts import MOST_POINTS, vega_lite
from app.bi.currencies import amounts_of, in_one_currency
from app.bi.periods.spans import CYCLES
from app.bi.plans.columns import Compiled
from app.bi.plans.compiling import compiled
from app.bi.plans.entities import spoken
from app.bi.plans.phrasing import (
    and_more,
    answer,
    cycle_name,
    decided,
    group_name_of,
    group_words,
    interpretation,
    money,
    offered,
)
from app.bi.plans.plan import Plan
from app.bi.plans.records import by_itself, listed, next_plans, record_words, standing
from app.bi.query import Row, count, run
from app.bi.reports.charting import Charting
from app.bi.reports.language import ReportLanguage
from app.bi.reports.planned import report_of_plan
from app.container.measures import MEASURES
from app.http.page_sizes import ANSWER

EXAMPLES = (
    "Revenue by month this year", "Overdue amount by client", "Open tickets by priority",
    "Win rate by owner this quarter", "Clients with more than 2 overdue invoices",
)  # fmt: skip
KINDS = (
    "You can ask about clients, contacts, leads, deals, invoices, credit notes, payments, products,"
    " tickets, tasks, projects, articles and documents."
)
_BEHIND = 3  # groups that are told behind the first
_EMPTY = 0.2  # by which an answer is less sure that found nothing
Answer = dict[str, Any]


@dataclass(frozen=True)
class SessionState:
    """What the next question of a session goes on from, as JSON that bi.questions.stored reads."""

    value: Any


def blank(question: str, as_of: str) -> Answer:
    """The body of an answer that has nothing yet."""
    return {
        "question": question, "interpretation": "", "status": "unsupported", "answer": "",
        "columns": [], "rows": [], "rowCount": 0, "truncated": False, "chart": None,
        "query": None, "confidence": 0.0, "alternatives": [], "asOf": as_of, "reportId": None,
    }  # fmt: skip


def answered(plan: Plan, compiled_plan: Compiled, confidence: float, limit: int) -> Answer:
    """What the query of a plan gives, under the rights of the caller.

    Args:
        confidence: how sure it is that this is asked; less so where nothing is found.
    Raises: ForbiddenError.
    """
    result, so = run(compiled_plan.query, max(1, min(limit, ANSWER.largest))), ""
    alone = by_itself(plan)
    record_query = None if alone is None else compiled(alone)
    of_it = None if record_query is None else run(record_query.query, 2)
    is_one = alone is not None and of_it is not None and len(of_it.rows) == 1
    if alone and record_query and of_it and is_one:  # it is told as it is, whether it is so or not
        so = "" if plan.asked_columns else plan.say("Yes" if result.rows else "No") + ". "
        compiled_plan, result = record_query, of_it
    rows = [_complete(row, compiled_plan) for row in result.rows]
    total = (
        count(compiled_plan.query) if result.truncated and result.total is None else result.total
    )
    text = (so + record_words(alone, rows[0], standing(plan)) if alone and is_one
            else _sentence(plan, compiled_plan, rows, total))  # fmt: skip
    if plan.ranked:
        text += _behind(plan, compiled_plan, rows)
    chart = chart_of(plan, compiled_plan, rows, total)
    if plan.chart == "pie" and chart is not None and chart["type"] != "arc":
        text += " " + plan.say("A pie shows all parts in one currency, so these are bars.")
    return {
        "interpretation": interpretation(plan),
        "status": "answered",
        "answer": text,
        "columns": [
            {"name": column.name, "label": column.label, "type": column.type}
            for column in compiled_plan.columns
        ],
        "rows": rows,
        "rowCount": len(rows),
        "truncated": result.truncated,
        "chart": chart,
        "query": {"entity": compiled_plan.query.set_name, "odata": compiled_plan.query.url},
        "confidence": round(confidence - _EMPTY * _is_empty(plan, compiled_plan, rows), 2),
        "alternatives": _alternatives(plan, total or len(rows)),
    }


def _sentence(plan: Plan, compiled_plan: Compiled, rows: Sequence[Row], total: int | None) -> str:
    """The rows in words."""
    yes_or_no = decided(plan, compiled_plan, rows)
    if plan.kind != "list":
        worth = _in_one_currency(plan, compiled_plan, rows)
        return yes_or_no + (worth or answer(plan, compiled_plan, rows, total))
    is_summed = plan.limit is None and (total or len(rows)) > 1
    return yes_or_no + listed(plan, rows, total, _worth(plan) if is_summed else "")


def _in_one_currency(plan: Plan, compiled_plan: Compiled, rows: Sequence[Row]) -> str:
    """Groups in several currencies by what they are worth in one; empty of others.

    The largest numbers of different currencies would say nothing of which group is the largest.
    """
    key, groups = compiled_plan.currency, compiled_plan.group_columns
    if key is None or not groups or len({row[key] for row in rows if row[key]}) < 2:
        return ""
    worth = in_one_currency(replace(plan, is_converted=True))
    if worth.worth is None or worth.money is not None:
        return ""
    query = compiled(worth)
    result = run(query.query, ANSWER.largest)
    total = count(query.query) if result.truncated else None
    return answer(worth, query, result.rows, total)


def _worth(plan: Plan) -> str:
    """What amounts of the records of a list add up to; empty where they have none."""
    say, worth = plan.say, amounts_of(plan)
    amounts = ", ".join(money(say, amount, code) for amount, code in worth.amounts)
    if not amounts:
        return ""
    label = "" if plan.amount == plan.entity.amount else f"{say.named(spoken(plan.amount))} "
    sentence = "{amounts} in all, converted" if worth.is_converted else "{amounts} in all"
    return label + say(sentence, amounts=amounts)


def _complete(row: Row, compiled_plan: Compiled) -> Row:
    """The row with all columns: of a record that is not there, each of its values is null."""
    parents = {
        column.name.partition("/")[0] for column in compiled_plan.columns if "/" in column.name
    }
    values = {
        name: value for name, value in row.items() if value is not None or name not in parents
    }
    return values | {column.name: row.get(column.name) for column in compiled_plan.columns}


def _behind(plan: Plan, compiled_plan: Compiled, rows: Sequence[Row]) -> str:
    """Who has as much as the one group that is told, or else the groups that come next."""
    if not rows or plan.is_within or plan.limit != 1 or not compiled_plan.group_columns:
        return ""
    say, query, name = plan.say, compiled_plan.query, compiled_plan.figures[0]
    if plan.kind == "share":
        name = compiled_plan.figures[-1]
    options = {**query.options, "top": str(_BEHIND + 1)}
    others = run(replace(query, options=options), _BEHIND + 1).rows[1:]
    alike = [row for row in others if row[name] == rows[0][name]]
    if alike:
        names = ", ".join(group_name_of(plan, compiled_plan, row) for row in alike)
        figure = "null" if rows[0][name] is None else rows[0][name]
        steps = f"{query.options['apply']}/filter({name} eq {figure})"
        more = 0
        if len(alike) == _BEHIND:
            more = count(replace(query, options={"apply": steps})) - 1 - len(alike)
        return " " + say("On a par: {names}.", names=names + and_more(say, more))
    after = "; ".join(group_words(plan, compiled_plan, row) for row in others)
    return " " + say("Next: {groups}.", groups=after) if after else ""


def _is_empty(plan: Plan, compiled_plan: Compiled, rows: Sequence[Row]) -> bool:
    """Whether nothing was found."""
    figures = [row.get(name) for row in rows for name in compiled_plan.figures]
    return not rows or (plan.kind != "list" and not any(figures))


def _alternatives(plan: Plan, known: int) -> list[str]:
    """Questions beside this one.

    Args:
        known: how many rows there are.
    """
    say, net, gross = plan.say, MEASURES["Revenue"].label, MEASURES["GrossRevenue"].label
    if plan.kind == "measure" and plan.measure is not None and plan.measure.label in (
        net, say("{figure} in {currency}", figure=say.named(net), currency=plan.worth)
    ):  # fmt: skip
        with_tax = next(each for each in plan.entity.figures.values() if each.label == gross)
        return [offered(replace(plan, measure=with_tax, own=None))]
    if plan.kind == "list" and known < 2:
        return []
    return [offered(each) for each in next_plans(plan)]


def chart_of(
    plan: Plan, compiled_plan: Compiled, rows: Sequence[Row], total: int | None = None
) -> dict[str, Any] | None:
    """A chart where there are groups to compare; None for a single figure or a list."""
    report = report_of_plan(plan, compiled_plan)
    if report.chart is None or not 2 <= len(rows) <= MOST_POINTS:
        return None
    charting = Charting(report, ReportLanguage(plan.say.code))
    for row in rows:
        charting.add(row | {name: cycle_name(plan.say, name, row[name])
                            for name in CYCLES if name in row})  # fmt: skip
    charted = charting.result((total or len(rows)) - len(rows))
    if charted is None:
        return None
    chart = charted.chart
    if chart.series is not None and len({row[chart.series] for row in charted.rows}) < 2:
        chart = replace(chart, series=None)
    spec = vega_lite(chart, charted.rows, chart.y_label, charted.remark)
    return {"type": chart.type, "x": plan.grain or chart.x, "y": chart.y, "spec": spec}


def unread(plan: Plan) -> Answer:
    """What is said of records that the caller may not read."""
    return {
        "interpretation": interpretation(plan), "alternatives": [],
        "answer": plan.say("You may not read {many}, or something that the question needs.",
                           many=plan.say.named(plan.entity.many)),
    }  # fmt: skip
