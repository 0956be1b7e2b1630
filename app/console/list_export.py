"""What a list shows as a file: its records, conditions, order and columns, by the exports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from functools import partial
from typing import Any
from urllib.parse import parse_qsl

from babel.dates import format_datetime
from flask import Response, request
from werkzeug.datastructures import MultiDict

from app import audit
from app.bi.exports.formats import FORMATS
from app.bi.exports.service import AT_ONCE
from app.bi.exports.writing import file_response, prepare, written
from app.bi.reports.definition import Column as ReportColumn, Report
from app.console import wording
from app.console.area import console
from app.console.columns import Column
from app.console.language import SOURCE, page_language, translated
from app.console.list_query import ListQuery, read_query
from app.console.named_records import title_of
from app.console.property_kinds import kind_of
from app.console.sets import page_of
from app.errors import NotFoundError, ValidationError
from app.http.security import requires
from app.settings.days import zone

# Kind of property -> type of column, where it is no text.
_TYPES: Mapping[str, str] = {
    "amount": "money", "number": "number", "whole": "integer", "day": "date", "moment": "instant",
    "check": "boolean",
}  # fmt: skip


@console.get("/<path>/export.<form>")
@requires("bi:export")
def export_list(path: str, form: str) -> Response:
    """The records of the list as a file.

    The form of those chosen sends their keys as ``key``, and the address of its list as ``query``.
    """
    if form not in FORMATS:
        raise NotFoundError(translated("There is no such format."))
    args, keys = request.args, request.args.getlist("key")
    if "query" in args:
        args = MultiDict(parse_qsl(args["query"]))
    if "query" in request.args and not keys and "all" not in request.args:
        raise ValidationError([("", translated("Choose records first."))])
    query = read_query(page_of(path), args)
    keys = [] if "all" in request.args else keys
    if not keys:
        query.refuse_unknown()
    report = _report(query, keys)
    table = prepare(report, {}, form, language=page_language())
    if table.total > AT_ONCE:
        text = translated(
            "A list of at most %(most)s rows is exported; this one has %(total)s: narrow it.",
            most=f"{AT_ONCE:,}", total=f"{table.total:,}",
        )  # fmt: skip
        raise ValidationError([("", text)])
    if page_language() != SOURCE:
        table.write_value = partial(_cell, has_days=FORMATS[form].has_days)
    file = written(table, form)
    audit.record(
        "list.exported", query.set_page.entity_set.type.name,
        after={"format": form, "rowCount": file.rows, "filter": query.filter},
    )  # fmt: skip
    return file_response(file)


def _cell(column: ReportColumn, value: Any, *, has_days: bool) -> Any:
    """A value in the language of the page, as the heads are.

    Args:
        has_days: the file has days and instants of its own, which its reader shows in theirs.
    """
    if not isinstance(value, str | bool):
        return value
    if column.type in ("date", "instant"):
        return value if has_days else _day_text(column, str(value))
    return wording.value_words(column.name, value)


def _day_text(column: ReportColumn, value: str) -> str:
    if column.type == "date":
        return wording.day_text(date.fromisoformat(value))
    moment = datetime.fromisoformat(value)
    return format_datetime(moment, "medium", zone(), page_language())


def _report(query: ListQuery, keys: Sequence[str]) -> Report:
    """The list as the exports know it."""
    read = query.options_of_columns()
    options = {name: str(value) for name, value in read.items() if value is not None}
    if chosen := [key for key in keys if key.isdecimal() and len(key) <= 18]:
        clause = f"id in ({','.join(chosen)})"
        options["filter"] = f"{options['filter']} and {clause}" if "filter" in options else clause
    columns = [_column(column) for column in query.columns]
    if any(column.type == "money" for column in columns):
        columns.append(ReportColumn("currency", translated("Currency"), "text"))
    set_page = query.set_page
    return Report(0, None, set_page.label, None, set_page.set_name, options, columns=tuple(columns))


def _column(column: Column) -> ReportColumn:
    if column.target is not None:
        return ReportColumn(f"{column.path}/{title_of(column.target.name)}", column.label, "text")
    assert column.declared is not None
    type_ = _TYPES.get(kind_of(column.declared), "text")
    return ReportColumn(column.path, column.label, type_)
