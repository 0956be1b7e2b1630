"""Reports that people save: an OData query, or a question that is understood anew each time."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import unquote_plus, urlsplit

from sqlalchemy import or_, select

from app import audit
from app.bi.answering import check_question, plan_of
from app.bi.charts import Chart
from app.bi.periods.calendar import calendar
from app.bi.query import Query, Row, run
from app.bi.reports.definition import Column, Report
from app.bi.reports.planned import report_of_plan
from app.bi.words.speech import capital
from app.clock import utc_now
from app.container.model import container
from app.db import records
from app.db.types import iso_instant
from app.errors import ForbiddenError, NotFoundError, ValidationError
from app.http.security import Caller, current_caller
from app.models.report import SavedReport
from app.odata.names import apart
from app.permissions import allowed

# Numbers below are those of the built-in reports.
FIRST_SAVED = 100
MOST_SAVED = 500
# So many rows tell what the columns are.
SAMPLE = 100
OPTIONS = ("apply", "compute", "expand", "filter", "orderby", "search", "select", "skip", "top")
_PATH = re.compile(r"^(?:https?://[^/]+)?/?(?:odata/(?:v1/)?)?([A-Za-z]\w*)$")


def saved_reports(caller: Caller) -> list[Report]:
    """Those of the caller, and those that others share."""
    statement = (
        select(SavedReport)
        .where(or_(SavedReport.owner_id == caller.user_id, SavedReport.is_shared))
        .order_by(SavedReport.id)
    )
    with records.looking() as connection:
        return [_report(saved) for saved in records.read_all(statement, of=connection)]


def saved_report(report_id: int, caller: Caller) -> Report:
    """One of them.

    Raises: NotFoundError, there is none, or it is somebody else's.
    """
    saved = records.read(SavedReport, report_id - FIRST_SAVED)
    if saved is None or not (saved.is_shared or saved.owner_id == caller.user_id):
        raise NotFoundError(f"There is no report {report_id}.")
    return _report(saved)


def own_report(report_id: int, caller: Caller) -> Report:
    """A saved report that the caller may change.

    Raises: NotFoundError; ForbiddenError, it is built in or somebody else's.
    """
    if report_id < FIRST_SAVED:
        raise ForbiddenError("Built-in reports are not changed.", [("id", "is built in")])
    report = saved_report(report_id, caller)
    if report.owner_id != caller.user_id and not allowed(caller, "settings:update"):
        raise ForbiddenError("Only its owner changes a report.", [("id", "is somebody else's")])
    return report


def save_report(values: Mapping[str, Any]) -> int:
    """Save a new report of the caller; returns its id.

    Args:
        values: ``name``, ``description``, ``shared``, and ``question`` or ``odata``.
    Raises: ValidationError; what the query itself is refused with.
    """
    caller = current_caller()
    owned = select(SavedReport.id).where(SavedReport.owner_id == caller.user_id)
    if len(records.connection().execute(owned).all()) >= MOST_SAVED:
        raise ValidationError([("name", f"you have {MOST_SAVED} reports: delete one first")])
    if ("question" in values) == ("odata" in values):
        raise ValidationError([("odata", "give either a question or an OData query")])
    now = utc_now()
    row = {
        "created_at": now,
        "updated_at": now,
        "name": values["name"],
        "description": values.get("description"),
        "owner_id": caller.user_id,
        "is_shared": values.get("shared", False),
        **_content(values),
    }
    key = records.insert(SavedReport, row)
    audit.record("report.created", "Report", key + FIRST_SAVED, after={"name": row["name"]})
    return key + FIRST_SAVED


def change_report(report_id: int, values: Mapping[str, Any]) -> None:
    """Change what is named; only the owner may.

    Raises: NotFoundError; ForbiddenError; ValidationError.
    """
    own_report(report_id, current_caller())
    if "question" in values and "odata" in values:
        raise ValidationError([("odata", "give either a question or an OData query")])
    changes: dict[str, Any] = {"updated_at": utc_now()}
    for name, column in (("name", "name"), ("description", "description"), ("shared", "is_shared")):
        if name in values:
            changes[column] = values[name]
    if "question" in values or "odata" in values:
        changes.update(_content(values))
    records.update(SavedReport, report_id - FIRST_SAVED, changes)
    audit.record("report.updated", "Report", report_id, after=dict(values))


def delete_report(report_id: int) -> None:
    """Delete a saved report.

    Raises: NotFoundError; ForbiddenError.
    """
    report = own_report(report_id, current_caller())
    records.delete(SavedReport, report_id - FIRST_SAVED)
    audit.record("report.deleted", "Report", report_id, before={"name": report.name})


def _content(values: Mapping[str, Any]) -> dict[str, Any]:
    if "question" in values:
        question = check_question(values["question"])
        report_of_question(question)  # refused now, not when it is mailed
        return {"question": question, "definition": {}}
    query = read_url(values["odata"])
    columns = values.get("columns") or columns_of(run(query, SAMPLE).rows, _selected(query.options))
    definition = {"entity": query.set_name, "options": dict(query.options), "columns": columns,
                  "chart": values.get("chart")}  # fmt: skip
    return {"question": None, "definition": definition}


def read_url(url: str) -> Query:
    """An OData address, or the part of it behind the root, as a query.

    Raises: ValidationError.
    """
    parts = urlsplit(url.strip())
    match = _PATH.match(
        f"{parts.scheme}://{parts.netloc}{parts.path}" if parts.netloc else parts.path
    )
    if match is None or match[1] not in container().sets:
        known = ", ".join(container().sets)
        raise ValidationError([("odata", f"must be an entity set with its options: {known}")])
    options: dict[str, str] = {}
    for part in filter(None, parts.query.split("&")):
        name, _, text = part.partition("=")
        name = unquote_plus(name).lstrip("$").lower()
        if name == "count":
            continue
        if name not in OPTIONS or name in options:
            raise ValidationError(
                [("odata", f"${name} is not an option of a report, or stands twice")]
            )
        options[name] = unquote_plus(text)
    return Query(match[1], options)


def _selected(options: Mapping[str, str]) -> list[str]:
    """The properties that a query names, in its order; none where it names none."""
    names = [name.strip() for name in options.get("select", "").split(",")]
    return [] if "*" in names else [name for name in names if name]


def columns_of(rows: list[Row], selected: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Columns as the first value of each shows them, those that were selected in their order.

    Lists are left out, but for those of texts and numbers that were selected by name.
    """
    known: dict[str, Any] = {}
    for row in rows:
        known |= {name: value for name, value in row.items() if known.get(name) is None}
    outer = {name.rpartition("/")[0] for name in known}  # null in some rows, an object in others
    return [
        {"name": name, "label": label_of(name), "type": _type_of(value)}
        for name, value in sorted(known.items(), key=lambda item: _index_of(item[0], selected))
        if name not in outer and (not isinstance(value, list) or _is_plain(name, value, selected))
    ]


def _index_of(name: str, selected: Sequence[str]) -> int:
    """Where a column stands: ``billingAddress/city`` where ``billingAddress`` was selected."""
    while name and name not in selected:
        name = name.rpartition("/")[0]
    return selected.index(name) if name else len(selected)


def _is_plain(name: str, value: list[Any], selected: Sequence[str]) -> bool:
    return name in selected and not any(isinstance(member, dict | list) for member in value)


def label_of(name: str) -> str:
    """``Client/name`` -> ``Client name``."""
    return capital(apart(name.replace("/", " ")).lower())


def _type_of(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if value is not None and not isinstance(value, str | list):
        return "number"
    text = value if isinstance(value, str) else ""
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
        return "date"
    return "instant" if re.fullmatch(r"\d{4}-\d{2}-\d{2}T[\d:.]+Z", text) else "text"


def _report(saved: SavedReport) -> Report:
    definition = saved.definition or {}
    chart = definition.get("chart")
    return Report(
        id=saved.id + FIRST_SAVED,
        key=None,
        name=saved.name,
        description=saved.description,
        entity=definition.get("entity", ""),
        options=definition.get("options", {}),
        columns=_columns(definition.get("columns") or []),
        chart=None if chart is None else Chart(**chart),
        owner_id=saved.owner_id,
        is_shared=saved.is_shared,
        question=saved.question,
        schedule=saved.schedule,
        more={
            "createdAt": iso_instant(saved.created_at), "updatedAt": iso_instant(saved.updated_at)
        },
    )  # fmt: skip


def _columns(columns: Sequence[Mapping[str, Any]]) -> tuple[Column, ...]:
    return tuple(Column(column["name"], column["label"], column["type"]) for column in columns)


def made_whole(report: Report) -> Report:
    """A report with its query: one that is a question is understood as of today.

    One that had no rows when it was saved has the columns that its rows have by now.

    Raises: ValidationError, it is not understood any more.
    """
    if report.question is None:
        if report.columns:
            return report
        rows = run(Query(report.entity, report.options), SAMPLE).rows
        return replace(report, columns=_columns(columns_of(rows, _selected(report.options))))
    planned = report_of_question(report.question)
    return replace(report, entity=planned.entity, options=planned.options, columns=planned.columns,
                   chart=planned.chart)  # fmt: skip


def report_of_question(question: str) -> Report:
    """The report of a question that is understood, without a name.

    Raises: ValidationError, it is not understood (any more), or can be meant in several ways.
    """
    planned = plan_of(question, calendar(utc_now()))
    if planned is None:
        raise ValidationError([("question", "is not understood, or can be meant in several ways")])
    return report_of_plan(*planned)
