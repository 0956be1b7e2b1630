"""``/api/bi``: questions in plain words, reports, exports."""

from __future__ import annotations

from typing import Any

from flask import Response, request

from app.bi import schemas, sessions
from app.bi.exports import service as exports
from app.bi.exports.writing import ExportFile, file_response
from app.bi.reports import saving, schedules, service
from app.errors import ValidationError
from app.http.areas import Area, reads_query
from app.http.page_sizes import REPORT
from app.http.schema_parts import PageQuerySchema, page_schema
from app.http.security import requires

FILE = {"type": "string", "format": "binary"}
# Bytes in most formats, and an object in JSON: no type says both.
EXPORT = {"description": "The file in the format that was asked for."}
area = Area("bi", __name__, description="Figures: questions in plain words, reports, exports")


@area.post("/nlq")
@area.arguments(schemas.FiguresQuestionSchema)
@area.response(200, schemas.FiguresAnswerSchema)
@area.doc(responses={404: {"$ref": "#/components/responses/Error404"}})
@requires("bi:query")
def ask(query: dict[str, Any]) -> dict[str, Any]:
    """Answer a question about the data in plain words.

    The answer comes with the rows, a chart where there are groups, and the OData address that
    gives the same rows. What can be meant in several ways is `needsClarification` with questions to
    choose from; what the data cannot answer is `unsupported`. Amounts of different currencies are
    never added up. Nothing is changed by a question.
    """
    return sessions.ask(query["question"], query["session_id"], query["limit"])


@area.get("/reports")
@area.arguments(PageQuerySchema, location="query")
@area.response(200, page_schema(schemas.ReportSchema))
@requires("bi:query")
def list_reports(query: dict[str, Any]) -> dict[str, Any]:
    """List the reports that you may run: the built-in ones, your own, and those shared."""
    reports = service.list_reports()
    page = reports[query["offset"] :][: query["limit"]]
    return {"items": page, "total": len(reports), **query}


@area.post("/reports")
@area.arguments(schemas.NewReportSchema)
@area.response(201, schemas.FullReportSchema)
@requires("bi:query")
def save_report(values: dict[str, Any]) -> Any:
    """Save a report, from a question or from an OData query.

    A question is understood anew each time the report is run, so "this month" moves along.
    """
    report = service.get_report(str(saving.save_report(values)))
    return service.describe_fully(report), 201, {"Location": f"/api/v1/bi/reports/{report.id}"}


@area.get("/reports/<string:report_id>")
@area.response(200, schemas.FullReportSchema)
@requires("bi:query")
def get_report(report_id: str) -> dict[str, Any]:
    """Show a report with its columns, chart and query; a built-in one also by its key."""
    return service.describe_fully(service.get_report(report_id))


@area.patch("/reports/<string:report_id>")
@area.arguments(schemas.ReportChangeSchema)
@area.response(200, schemas.FullReportSchema)
@requires("bi:query")
def change_report(values: dict[str, Any], report_id: str) -> dict[str, Any]:
    """Change a report that you saved."""
    saving.change_report(_saved(report_id), values)
    return service.describe_fully(service.get_report(report_id))


@area.delete("/reports/<string:report_id>")
@area.response(204)
@requires("bi:query")
def delete_report(report_id: str) -> None:
    """Delete a report that you saved."""
    saving.delete_report(_saved(report_id))


@area.get("/reports/<string:report_id>/data")
@area.response(200, schemas.ReportDataSchema)
@requires("bi:query")
@reads_query
def report_data(report_id: str) -> dict[str, Any]:
    """Run a report: its rows, and the sums of each currency.

    Its parameters are given by their names in the query; `limit` is the most rows, 1000 unless said
    otherwise, at most 5000.
    """
    filters = _query_parameters()
    limit = _limit(filters.pop("limit", str(REPORT.default)))
    return service.report_data(service.get_report(report_id), filters, limit)


@area.get("/reports/<string:report_id>/chart.svg")
@area.response(200, FILE, content_type="image/svg+xml")
@requires("bi:query")
@reads_query
def report_chart_svg(report_id: str) -> Response:
    """Draw the chart of a report as SVG; parameters as for its data."""
    picture = service.report_chart(service.get_report(report_id), _query_parameters(), "svg")
    # A picture that is opened by itself must not run anything.
    return Response(
        picture,
        content_type="image/svg+xml",
        headers={"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'"},
    )


@area.get("/reports/<string:report_id>/chart.png")
@area.response(200, FILE, content_type="image/png")
@requires("bi:query")
@reads_query
def report_chart_png(report_id: str) -> Response:
    """Draw the chart of a report as PNG; parameters as for its data."""
    picture = service.report_chart(service.get_report(report_id), _query_parameters(), "png")
    return Response(picture, content_type="image/png")


@area.post("/reports/<string:report_id>/export")
@area.arguments(schemas.ReportExportRequestSchema)
@area.response(202, schemas.ReportExportSchema, description="A large export, left to the worker.")
@area.alt_response(200, schema=EXPORT, content_type="*/*", description="The file.", success=True)
@requires("bi:export")
def export_report(wishes: dict[str, Any], report_id: str) -> Any:
    """Export a report as a file.

    Up to 20,000 rows are answered as a file; more are left to the worker (202): ask for the export
    at `url` until it is `done`, then fetch `downloadUrl`. `X-Row-Count` is the number of rows in
    the file, `X-Truncated` whether more were left out.
    """
    export = exports.export_report(
        service.get_report(report_id), wishes["format"], wishes["filters"],
        later=wishes["background"],
    )  # fmt: skip
    if isinstance(export, ExportFile):
        return file_response(export)
    return export, 202, {"Location": export["url"]}


@area.put("/reports/<int:report_id>/schedule")
@area.arguments(schemas.ReportScheduleSchema)
@area.response(200, schemas.ReportScheduleSchema)
@requires("bi:export")
def schedule_report(values: dict[str, Any], report_id: int) -> dict[str, Any]:
    """Mail a saved report by the day, the week or the month, with your rights at that time."""
    return schedules.schedule_report(report_id, values)


@area.delete("/reports/<int:report_id>/schedule")
@area.response(204)
@requires("bi:export")
def unschedule_report(report_id: int) -> None:
    """Mail a saved report no more."""
    schedules.unschedule_report(report_id)


@area.get("/exports/<string:key>")
@area.response(200, schemas.ReportExportSchema)
@requires("bi:export")
def get_export(key: str) -> dict[str, Any]:
    """Show how far an export is; it is kept for 7 days."""
    return exports.describe(exports.get_export(key))


@area.get("/exports/<string:key>/file")
@area.response(200, EXPORT, content_type="*/*")
@requires("bi:export")
def download_export(key: str) -> Response:
    """Download the file of an export that is done."""
    return file_response(exports.export_file(key))


def _saved(report_id: str) -> int:
    """The number of a saved report; built-in ones have names as well, and are not changed.

    Raises: NotFoundError.
    """
    if report_id.isascii() and report_id.isdecimal() and len(report_id) < 16:
        return int(report_id)
    return int(service.get_report(report_id).id)


def _query_parameters() -> dict[str, str]:
    """The parameters in the query, each once."""
    problems = [
        (name, "stands twice") for name in request.args if len(request.args.getlist(name)) > 1
    ]
    if problems:
        raise ValidationError(problems)
    return dict(request.args)


def _limit(text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or not 1 <= int(text[:9]) <= REPORT.largest:
        raise ValidationError([("limit", f"must be a whole number from 1 to {REPORT.largest}")])
    return int(text)
