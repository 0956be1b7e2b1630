"""Reports as the API shows them: the list, one, its rows, its chart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.bi.chart_pictures import draw
from app.bi.charts import vega_lite
from app.bi.exports.formats import FORMATS
from app.bi.periods.calendar import calendar
from app.bi.query import run
from app.bi.reports.builtin import built_in
from app.bi.reports.charting import chart_of
from app.bi.reports.definition import Report
from app.bi.reports.saving import FIRST_SAVED, made_whole, saved_report, saved_reports
from app.bi.reports.totals import totals
from app.clock import utc_now
from app.container.model import container
from app.db.types import iso_instant
from app.errors import NotFoundError
from app.http.page_sizes import REPORT
from app.http.security import Caller, current_caller
from app.permissions import allowed, require


def list_reports() -> list[dict[str, Any]]:
    """The reports whose records the caller may read."""
    caller = current_caller()
    reports = [*built_in().values(), *saved_reports(caller)]
    return [describe(report) for report in reports if _is_readable(report, caller)]


def _is_readable(report: Report, caller: Caller) -> bool:
    if report.question is not None or report.entity not in container().sets:
        return True  # what a question needs shows when it is run
    resource = container().sets[report.entity].type.resource
    return resource is None or allowed(caller, f"{resource}:read")


def get_report(report_id: str) -> Report:
    """A report by its number, or a built-in one by its key.

    Raises: NotFoundError; ForbiddenError, the caller may not read its records.
    """
    caller = current_caller()
    report: Report | None = None
    if report_id.isdecimal() and len(report_id) < 16:
        number = int(report_id)
        report = built_in().get(number)
        if report is None and number > FIRST_SAVED:
            report = made_whole(saved_report(number, caller))
    else:
        report = next((each for each in built_in().values() if each.key == report_id), None)
    if report is None:
        raise NotFoundError(f"There is no report {report_id[:50]}.")
    if report.entity in container().sets:
        resource = container().sets[report.entity].type.resource
        if resource is not None:
            require(caller, f"{resource}:read")
    return report


def describe(report: Report) -> dict[str, Any]:
    return {
        "id": report.id,
        "key": report.key,
        "name": report.name,
        "description": report.description,
        "builtIn": report.is_built_in,
        "formats": list(FORMATS),
        "parameters": [
            {
                "name": parameter.name,
                "type": parameter.wire_type,
                "default": parameter.default or None,
                "description": parameter.description,
            }
            for parameter in report.parameters
        ],
        "question": report.question,
        "ownerId": report.owner_id,
        "shared": report.is_shared,
        "schedule": report.schedule,
        **report.more,
    }  # fmt: skip


def describe_fully(report: Report) -> dict[str, Any]:
    """A report by itself: its columns, chart and query besides."""
    query = report.query({}, calendar(utc_now()))
    chart = report.chart
    return describe(report) | {
        "columns": _columns(report),
        "chart": None if chart is None else {"type": chart.type, "x": chart.x, "y": chart.y,
                                             "series": chart.series},
        "query": {"entity": query.set_name, "odata": query.url},
    }  # fmt: skip


def report_data(report: Report, filters: Mapping[str, Any], limit: int) -> dict[str, Any]:
    """The rows of a report under the caller's rights, with sums by currency."""
    now = utc_now()
    today = calendar(now)
    query = report.query(filters, today)
    result = run(query, min(limit, REPORT.largest))
    rows = [report.row(row) for row in result.rows]
    return {
        "reportId": report.id,
        "name": report.name,
        "parameters": report.values(filters, today),
        "columns": _columns(report),
        "rows": rows,
        "rowCount": len(rows),
        "truncated": result.truncated,
        # Of rows that were left out there are no sums: half a total would be a wrong one.
        "totals": [] if result.truncated else totals(report, rows),
        "query": {"entity": query.set_name, "odata": query.url},
        "asOf": iso_instant(now),
    }


def _columns(report: Report) -> list[dict[str, Any]]:
    return [
        {"name": column.name, "label": column.label, "type": column.type, "total": column.is_total}
        for column in report.columns
    ]


def report_chart(report: Report, filters: Mapping[str, Any], form: str) -> bytes:
    """The chart of a report as ``svg`` or ``png``.

    Raises: NotFoundError, it has none; ServiceUnavailableError, it cannot be drawn now.
    """
    spec = report_chart_spec(report, filters)
    if spec is None:
        raise NotFoundError("This report has no chart.")
    return draw(spec, form)


def report_chart_spec(report: Report, filters: Mapping[str, Any]) -> dict[str, Any] | None:
    """The Vega-Lite specification; None without a chart. An empty report is an empty chart."""
    if report.chart is None:
        return None
    charted = chart_of(report, run(report.query(filters, calendar(utc_now())), REPORT.largest).rows)
    if charted is None:
        return vega_lite(report.chart, [], report.name)
    return vega_lite(charted.chart, charted.rows, report.name, charted.remark)
