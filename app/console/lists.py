"""The list of an entity set: search, views, conditions, order and columns, read by the engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property, partial
from typing import Any
from urllib.parse import parse_qsl, urlencode

from babel.dates import format_datetime
from flask import Response, request
from markupsafe import Markup
from werkzeug.datastructures import MultiDict

from app import audit
from app.bi.exports.formats import FORMATS
from app.bi.exports.service import AT_ONCE
from app.bi.exports.writing import file_response, prepare, written
from app.bi.reports.definition import Column as ReportColumn, Report
from app.console import engine, session, wording
from app.console.area import console, page, refused_on, see_other
from app.console.bulk import actions_for
from app.console.cells import changed_by, may_change
from app.console.choices import changed_link, page_links, page_rows, skipped
from app.console.columns import Column, cells, choosable
from app.console.filters import WHERE, filterable, typed_condition
from app.console.language import SOURCE, page_language, translated
from app.console.list_query import ListQuery, first_sort, read_query, states_of, views_of
from app.console.property_kinds import kind_of
from app.console.saved_views import SHARES, delete_view, kept_query, save_view, views_saved
from app.console.sets import Page, page_of
from app.console.typed import key_in
from app.container.engine import query_address
from app.container.model import title_of
from app.errors import ApiError, NotFoundError, ValidationError
from app.http.page_sizes import CONSOLE_CHOICES
from app.http.security import current_caller, requires
from app.permissions import allowed
from app.settings.days import zone

# Fields of the form that adds a condition.
_ADDING = ("add", "operator", "value", "filtering", "arrange")

# No more of an address is looked at.
_MOST_QUERY = 10_000


@dataclass(frozen=True)
class Head:
    """The head of a column; ``link`` is the address that sorts by it, empty where none does.

    ``changed_by`` is the property that its cells are changed by, if they are.
    """

    column: Column
    sorted: str
    link: str
    changed_by: str | None

    @cached_property
    def cell(self) -> Markup:
        """How each of its cells begins."""
        kind = "number" if self.column.is_number else ""
        kind = kind or ("code" if self.column.path in ("number", "code") else "")
        of_kind = Markup(' class="%s"') % kind if kind else ""
        return Markup('td data-label="%s"%s') % (self.column.label, of_kind)

    @cached_property
    def changed_cell(self) -> Markup:
        """The same of a record that may be changed."""
        if not self.changed_by:
            return self.cell
        return self.cell + Markup(' data-edit="%s"') % self.column.path


@console.get("/<path>/")
def list_records(path: str, problem: ApiError | None = None) -> Response:
    set_page = page_of(path)
    if "filtering" in request.args:
        try:
            return see_other(_with_condition(set_page))
        except ValidationError as error:
            problem = error
    query = read_query(set_page, request.args)
    skip = skipped()
    options = {**query.options(), "top": page_rows(), "skip": skip or None}
    filterables = filterable(set_page)
    is_changed = may_change(set_page)
    more = {"select": f"{options['select']},allowedActions"} if is_changed else {}
    result = engine.read(set_page.set_name, count="true", **{**options, **more})
    total = int(result.body["@odata.count"])
    heads = _heads(query)
    texts = cells(set_page, query.columns, result.rows)
    return page(
        "list.html",
        set_page=set_page,
        query=query,
        rows=[
            (row, set_page.name_of(row), list(zip(heads, of_row, strict=True)))
            for row, of_row in zip(result.rows, texts, strict=True)
        ],
        heads=heads,
        is_changed=is_changed,
        states=states_of(set_page),
        views=_views(set_page, query),
        saved_views=views_saved(set_page),
        saved=key_in(request.args.get("saved", "")),
        typed_name=request.form.get("name", ""),
        may_share=allowed(current_caller(), SHARES),
        may_export=allowed(current_caller(), "bi:export"),
        formats=[(name, FORMATS[name].label) for name in ("xlsx", "csv")],
        choosable=choosable(set_page),
        places={column.path: number for number, column in enumerate(query.columns, 1)},
        is_arranging="arrange" in request.args,
        here_query=request.query_string.decode(),
        link=changed_link,
        actions=actions_for(set_page),
        conditions=[(each.words, _without(each.text)) for each in query.conditions],
        sorts=_sorts(query),
        sizes=sorted({*CONSOLE_CHOICES, page_rows()}),
        size=page_rows(),
        is_narrowed=query.is_narrowed or bool(skip),
        links=page_links(total),
        kept=_hidden_fields,
        problem=problem,
        filterable=filterables,
        adding=filterables.get(request.args.get("add", "")),
        typed_operator=request.args.get("operator", ""),
        typed_values=request.args.getlist("value"),
        cancel=changed_link(**dict.fromkeys(_ADDING, "")),
        address=query_address(set_page.set_name, options),
    )


@console.post("/<path>/views")
@refused_on(list_records)
def keep_view(path: str) -> Response:
    """Save the list as it is shown, or delete a saved view."""
    set_page = page_of(path)
    address = f"{session.ROOT}/{set_page.path}/"
    if (view_id := key_in(request.form.get("delete", ""))) is not None:
        delete_view(view_id)
        return see_other(address, translated("View deleted."))
    query = request.form.get("query", "")[:_MOST_QUERY]
    name = request.form.get("name", "")
    key = save_view(set_page, name, query, shared="shared" in request.form)
    query_string = urlencode([*kept_query(query), ("saved", key)])
    return see_other(f"{address}?{query_string}", translated("View saved."))


@console.post("/<path>/columns")
def choose_columns(path: str) -> Response:
    """Show the columns whose places were typed, in their order."""
    set_page = page_of(path)
    places: list[tuple[int, int, str]] = []
    for name, text in request.form.items():
        if name.startswith("place.") and text.strip().isdecimal():
            places.append((int(text.strip()[:4]), len(places), name.removeprefix("place.")))
    query = [pair for pair in kept_query(request.form.get("query", "")) if pair[0] != "columns"]
    columns = ",".join(name for _, _, name in sorted(places))
    if columns:
        query.append(("columns", columns))
    return see_other(f"{session.ROOT}/{set_page.path}/?{urlencode(query)}")


def _heads(query: ListQuery) -> list[Head]:
    path, _, direction = query.sort.partition(" ")
    heads = []
    for column in query.columns:
        is_sorted = (direction or "asc") if column.path == path else ""
        turned = f"{column.path} desc" if is_sorted == "asc" else column.path
        link = changed_link(sort=turned, skip=0) if column.order else ""
        heads.append(Head(column, is_sorted, link, changed_by(query.set_page, column)))
    return heads


def _sorts(query: ListQuery) -> list[tuple[str, str]]:
    """What the list can be sorted by, as the address says it and in words."""
    first = first_sort(query.set_page).partition(" ")[0]
    columns = {column.path: column for column in query.columns if column.order}
    columns |= {
        column.path: column
        for column in choosable(query.set_page)
        if column.path in (first, query.sort.partition(" ")[0])
    }
    return [
        (f"{column.path}{suffix}", f"{column.label}, {words}")
        for column in columns.values()
        for suffix, words in (("", translated("ascending")), (" desc", translated("descending")))
    ]


def _views(set_page: Page, query: ListQuery) -> list[tuple[str, str, bool]]:
    """The name, the address and whether it is this one of each view that everybody has."""
    current = None if "saved" in request.args else query.view
    return [
        (
            translated(name or "All"),
            f"?{urlencode({'view': name})}" if name else "?",
            name == current,
        )
        for name in ("", *views_of(set_page))
    ]


def _without(condition: str) -> str:
    conditions = [text for text in request.args.getlist(WHERE) if text != condition]
    return changed_link(**{WHERE: conditions}, skip=0)


def _with_condition(set_page: Page) -> str:
    """The address of the list with the condition that was typed."""
    args = request.args
    condition = typed_condition(
        set_page, args.get("add", ""), args.get("operator", ""), args.getlist("value")
    )
    conditions = [*args.getlist(WHERE), condition.text]
    changes: dict[str, Any] = {**dict.fromkeys(_ADDING, ""), WHERE: conditions, "skip": 0}
    return request.path + changed_link(**changes)


def _hidden_fields(*names: str) -> list[tuple[str, str]]:
    """What a form of the list sends along: all of the address but its own fields."""
    own = {*names, "skip", *_ADDING}
    return [(name, value) for name, value in request.args.items(multi=True) if name not in own]


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
