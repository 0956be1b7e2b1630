"""Reports: run with their parameters, drawn, exported, mailed by the clock, changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from babel.dates import get_day_names
from flask import Response, request

from app.bi.exports import service as exports
from app.bi.exports.formats import DEFAULT_FORMAT, FORMATS
from app.bi.exports.writing import ExportFile, file_response
from app.bi.reports import saving, schedules, service
from app.bi.reports.definition import Report
from app.console import engine, session
from app.console.area import console, page, refused_on, see_other
from app.console.language import marked, page_language, translated
from app.console.references import KINDS, find, named
from app.console.svg_charts import picture_of
from app.console.typed import refused_at, typed_addresses, typed_count, typed_name, typed_note
from app.console.wording import deleted
from app.errors import ApiError, ValidationError
from app.http.page_sizes import CONSOLE_WHOLE
from app.http.security import current_caller, requires
from app.permissions import allowed

ADDRESS = f"{session.ROOT}/reports"
EVERY = (marked("daily"), marked("weekly"), marked("monthly"))
# The last segment of an address -> the form of the page that is sent there.
_FORMS = {"export": "export", "schedule": "schedule"}
# Parameters that name a record, and its type.
_REFERENCES = {"clientId": "Client", "assigneeId": "User"}


@console.get("/reports")
@requires("bi:query")
def show_reports() -> Response:
    return page("reports.html", reports=service.list_reports())


@console.get("/reports/<int:report_id>")
@requires("bi:query")
def show_report(report_id: int, problem: ApiError | None = None) -> Response:
    """A report with its rows, by the parameters in the address."""
    form = _FORMS.get(request.path.rpartition("/")[2], "change") if problem else ""
    report = service.get_report(str(report_id))
    data: dict[str, Any] | None = None
    picture = None
    try:
        data = service.report_data(report, _parameter_values(report), CONSOLE_WHOLE)
        spec = service.report_chart_spec(report, _parameter_values(report))
        if spec is not None and report.chart is not None:
            picture = picture_of({"type": report.chart.type, "spec": spec})
    except ValidationError as error:
        problem, form = error, "parameters"
    described = service.describe(report)
    may_change = not report.is_built_in and (
        report.owner_id == current_caller().user_id or allowed(current_caller(), "settings:update")
    )
    weekdays = get_day_names(context="stand-alone", locale=page_language())
    return page(
        "report.html",
        report=described,
        data=data,
        picture=picture,
        values=data["parameters"] if data else request.values,
        names=_names(data["parameters"] if data else {}),
        choices={name: KINDS[type_].set_name.lower() for name, type_ in _REFERENCES.items()},
        may_change=may_change,
        formats={name: each.label for name, each in FORMATS.items()},
        default_format=DEFAULT_FORMAT,
        every=[(each, translated(each)) for each in EVERY],
        weekdays=[(str(day + 1), weekdays[day]) for day in range(7)],  # as ISO counts them
        typed=request.form,
        form=form,
        problem=problem,
        problems=_problems(problem),
    )


@console.post("/reports/<int:report_id>")
@requires("bi:query")
@refused_on(show_report)
def change_report(report_id: int) -> Response:
    """Give a report of one's own another name, share it, or delete it."""
    if request.form.get("step") == "delete":
        saving.delete_report(report_id)
        return see_other(ADDRESS, deleted(translated("Report")))
    name = typed_name(200, translated("Give the report a name of up to 200 characters."))
    description = typed_note("description", 1000)
    shared = "shared" in request.form
    saving.change_report(report_id, {"name": name, "description": description, "shared": shared})
    return see_other(f"{ADDRESS}/{report_id}", translated("Saved."))


@console.post("/reports/<int:report_id>/export")
@requires("bi:export")
@refused_on(show_report)
def export_report(report_id: int) -> Response:
    """The rows as a file; a large one is made by the worker."""
    form = request.form.get("format", "")
    if form not in FORMATS:
        raise ValidationError(
            [("format", translated("must be one of %(formats)s", formats=", ".join(FORMATS)))]
        )
    report = service.get_report(str(report_id))
    export = exports.export_report(
        report,
        form,
        _parameter_values(report),
        later="background" in request.form,
        language=page_language(),
    )
    if isinstance(export, ExportFile):
        return file_response(export)
    return see_other(f"{session.ROOT}/exports/{export['id']}")


@console.get("/exports/<key>")
@requires("bi:export")
def show_export(key: str) -> Response:
    return page("export.html", export=exports.describe(exports.get_export(key)))


@console.get("/exports/<key>/file")
@requires("bi:export")
def download_export(key: str) -> Response:
    return file_response(exports.export_file(key))


@console.post("/reports/<int:report_id>/schedule")
@requires("bi:export")
@refused_on(show_report)
def schedule_report(report_id: int) -> Response:
    """Mail a report by the clock, or no more."""
    if request.form.get("step") == "stop":
        schedules.unschedule_report(report_id)
        message = translated("The report is not mailed any more.")
    else:
        schedules.schedule_report(report_id, _schedule())
        message = translated("The report will be mailed.")
    return see_other(f"{ADDRESS}/{report_id}", message)


def _parameter_values(report: Report) -> dict[str, str]:
    """The parameters that the address or the form has; blank ones mean none.

    Raises: ValidationError, a name that is that of no record or of several.
    """
    values = {}
    for parameter in report.parameters:
        text = request.values.get(parameter.name)
        if text and parameter.name in _REFERENCES:
            with refused_at(parameter.name):
                text = str(find(KINDS[_REFERENCES[parameter.name]], text))
        if text is not None:
            values[parameter.name] = text
    return values


def _names(parameters: Mapping[str, Any]) -> dict[str, str]:
    """What the fields of references show."""
    typed = {name: request.values[name] for name in _REFERENCES if request.values.get(name)}
    return typed | {
        name: named(KINDS[type_], int(parameters[name]))
        for name, type_ in _REFERENCES.items()
        if parameters.get(name)
    }


def _schedule() -> dict[str, Any]:
    form = request.form
    every = form.get("every", "")
    if every not in EVERY or form.get("format") not in FORMATS:
        raise ValidationError([("every", translated("Choose one of the offered."))])
    hour, _, minute = form.get("time", "").partition(":")
    if not (_is_below(24, hour) and _is_below(60, minute)):
        raise ValidationError([("time", translated("must be like 07:00"))])
    to = typed_addresses("to")
    if not 1 <= len(to) <= 20:
        raise ValidationError([("to", translated("must be 1 to 20 addresses"))])
    schedule: dict[str, Any] = {
        "every": every, "time": f"{int(hour):02d}:{int(minute):02d}", "format": form["format"],
        "to": list(to), "language": page_language(),
    }  # fmt: skip
    if every == "weekly":
        schedule["weekday"] = typed_count("weekday", 7)
    if every == "monthly":
        schedule["day"] = typed_count("day", 31)
    return schedule


def _is_below(limit: int, text: str) -> bool:
    """Whether one or two digits were typed, and are less than ``limit``."""
    return text.isdecimal() and len(text) <= 2 and int(text) < limit


def _problems(problem: ApiError | None) -> dict[str, str]:
    if problem is None:
        return {}
    return {
        name.removeprefix("filters.").partition("[")[0]: text
        for name, text in engine.problems_of(problem).items()
    }
