"""The page of a record: what it is, what belongs to it, what happened, and what may be done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flask import Response, request
from markupsafe import Markup

from app.console import engine, session
from app.console.area import console, page, see_other
from app.console.choices import page_links, page_rows, skipped
from app.console.documents import files_of
from app.console.language import translated, translated_as
from app.console.named_records import names_of
from app.console.numbers import amount_text
from app.console.related import expanded, order_of, readable, related
from app.console.sets import GROUP, Group, Page, page_of, page_of_type
from app.console.steps import COMMENT, Step, arranged, preset, step_message, steps_of, take
from app.console.tickets import ASSIGN, assign_to_me, desk_of, settle_answer, taken_over, talk_of
from app.console.timeline import FIRST, timeline_of
from app.console.wording import deleted, inside
from app.container.engine import ask, query_address
from app.errors import ApiError, NotFoundError
from app.extensions import db
from app.http.security import current_caller
from app.kb.rendering import to_html
from app.permissions import require
from app.writing.deletion import Consequences, consequences

_NEVER_SHOWN = ("id", "allowedActions", "customFields")


@console.get("/<path>/<int:key>")
def show_record(path: str, key: int) -> Response:
    return _show(page_of(path), key)


@console.post("/<path>/<int:key>")
def act_on_record(path: str, key: int) -> Response:
    """Do one of the steps that the page offered; the ETag of the page must still stand."""
    set_page = page_of(path)
    step = request.form.get("step", "")
    version = request.form.get("version")
    try:
        if step == "delete":
            ask("DELETE", f"{set_page.set_name}({key})", version=version)
            return see_other(f"{session.ROOT}/{path}/", deleted(set_page.singular_label))
        if step == ASSIGN and set_page.set_name == "Tickets":
            message = assign_to_me(key, version)
        else:
            is_state = set_page.set_name == "Tickets" and step.startswith(f"{set_page.state}:")
            besides = taken_over(key) if is_state else {}
            answer = take(set_page.set_name, key, step, version, request.form, besides)
            message = step_message(set_page.set_name, set_page.singular_label, step, answer)
        if step == COMMENT:
            key, message = settle_answer(key, answer, request.form.get("then", ""))
    except ApiError as error:
        db.session.rollback()  # of two changes the first may have been done
        return _show(set_page, key, error)
    return see_other(f"{session.ROOT}/{path}/{key}", message)


@console.get("/<path>/<int:key>/delete")
def show_deletion(path: str, key: int) -> Response:
    """What a deletion would take along, before it is done."""
    set_page = page_of(path)
    require(current_caller(), f"{set_page.entity_set.type.resource}:delete")
    record = engine.read(f"{set_page.set_name}({key})").body
    service: Any = set_page.entity_set.service
    return page(
        "delete.html", set_page=set_page, key=key, name=set_page.name_of(record),
        version=record.get("@odata.etag"),
        consequences=_in_words(consequences(service.rules, key)),
    )  # fmt: skip


@console.get("/<path>/<int:key>/all/<name>")
def show_all_related(path: str, key: int, name: str) -> Response:
    """All records behind one of the navigation properties of a record, page by page."""
    set_page = page_of(path)
    if name not in readable(set_page, set_page.related):
        raise NotFoundError(translated("There is no such list."))
    record = engine.read(f"{set_page.set_name}({key})").body
    skip, address = skipped(), f"{set_page.set_name}({key})/{name}"
    options: dict[str, str | int | None] = {
        "orderby": order_of(set_page, name), "top": page_rows(), "skip": skip or None,
    }  # fmt: skip
    result = engine.read(address, count="true", **options)
    total = int(result.body["@odata.count"])
    return page(
        "all_related.html",
        set_page=set_page, key=key, record=record, name=set_page.name_of(record),
        group=related(set_page, record, name, result.rows, total), links=page_links(total),
        query=query_address(address, options),
    )  # fmt: skip


def _show(set_page: Page, key: int, error: ApiError | None = None) -> Response:
    type_ = set_page.entity_set.type
    children = readable(set_page, set_page.related)
    expand = expanded(set_page, children)
    record = engine.read(
        f"{set_page.set_name}({key})", select=",".join(type_.properties), expand=expand
    ).body
    actions = record.get("allowedActions") or []
    state = record.get(set_page.state) if set_page.state else None
    groups = {
        name: related(set_page, record, name, record[name], int(record[f"{name}@odata.count"]))
        for name in children
    }
    hidden = {*_NEVER_SHOWN, set_page.title, set_page.state}
    fields = [name for name in type_.properties if name not in hidden]
    names, steps = names_of(type_, [record]), steps_of(type_.name, actions, record)
    placed = {name for name in groups if name in set_page.sections and groups[name].rows}
    return page(
        "record.html",
        set_page=set_page,
        record=record,
        name=set_page.name_of(record),
        key=key,
        version=record.get("@odata.etag"),
        properties=type_.properties,
        head=_filled(set_page.head, record),
        sections=[
            (translated_as(GROUP, each.title), _filled(each.properties, record))
            if isinstance(each, Group) else groups[each]
            for each in set_page.sections
            if isinstance(each, Group) or each in placed
        ],
        details=_filled(set_page.details(fields), record),
        names=names,
        related=[group for name, group in groups.items() if name not in placed],
        offered=arranged(set_page.next_steps.get(str(state)), steps),
        preset=preset,
        typed=request.form,
        problems={} if error is None else engine.problems_of(error),
        at=_input_names(steps, request.form.get("step", "")),
        may_change="update" in actions,
        may_delete="delete" in actions,
        files=files_of(record) if set_page.set_name == "Documents" else None,
        talk=talk_of(key) if set_page.set_name == "Tickets" else None,
        desk=desk_of(record, names) if set_page.set_name == "Tickets" else None,
        article=Markup(to_html(record["body"] or "", record["bodyFormat"]))  # made safe there
        if set_page.set_name == "KbArticles" else None,
        timeline=timeline_of(set_page, key, record, FIRST),
        problem=error,
        query=query_address(f"{set_page.set_name}({key})", {"expand": expand}),
    )  # fmt: skip


def _filled(names: Sequence[str], record: Mapping[str, Any]) -> list[str]:
    """Those of the properties that have a value."""
    return [name for name in names if record.get(name) not in (None, "", [], {})]


def _input_names(steps: Sequence[Step], value: str) -> list[str]:
    if value == COMMENT:
        return ["body"]
    return [each.name for step in steps if step.value == value for each in step.inputs]


def _in_words(effects: Consequences) -> dict[str, list[str]]:
    """``{"deleted": ["3 contacts"], "blocking": ["issued invoices (2)"], ...}``."""

    def phrases(counts: Mapping[str, int]) -> list[str]:
        return [f"{amount_text(count)} {_called(name, count)}" for name, count in counts.items()]

    blocking = [
        f"{translated(name)} ({amount_text(count)})" for name, count in effects.blocking.items()
    ]
    return {
        "deleted": phrases(effects.deleted), "unlinked": phrases(effects.unlinked),
        "blocking": blocking,
    }  # fmt: skip


def _called(name: str, count: int) -> str:
    record_page = page_of_type(name)
    return (
        name
        if record_page is None
        else inside(record_page.singular_label if count == 1 else record_page.label)
    )
