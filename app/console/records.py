"""The page of a record: what it is, what belongs to it, and what may be done with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flask import Response, request

from app.console import engine, session
from app.console.area import console, page, see_other
from app.console.documents import files_of
from app.console.sets import Page, page_of, page_of_type
from app.console.steps import preset, steps_of, take
from app.console.tickets import talk_of
from app.engine import read_by_id
from app.errors import ApiError
from app.odata import edm
from app.permissions import scope_of
from app.security import current_caller

RELATED_ROWS = 10


@dataclass(frozen=True)
class Related:
    """Records that belong to one: with their page where they have one."""

    name: str
    columns: list[str]
    properties: Any
    rows: list[dict[str, Any]]
    more: bool
    page: Page | None


@console.get("/<path>/<int:key>")
def show_record(path: str, key: int) -> Response:
    """One record."""
    return _show(page_of(path), key)


@console.post("/<path>/<int:key>")
def act_on_record(path: str, key: int) -> Response:
    """Do one of the steps that the page offered; the ETag of the page must still stand."""
    session.check_form()
    wanted = page_of(path)
    step = request.form.get("step", "")
    version = request.form.get("version")
    try:
        if step == "delete":
            engine.send("DELETE", f"{wanted.set_name}({key})", None, version)
            return see_other(f"{session.ROOT}/{path}/")
        take(wanted.set_name, key, step, version, request.form)
    except ApiError as error:
        return _show(wanted, key, error)
    return see_other(f"{session.ROOT}/{path}/{key}")


def _show(wanted: Page, key: int, error: ApiError | None = None) -> Response:
    type_ = wanted.entity_set.type
    names = [name for name in type_.properties if name != "id"]
    expand = ",".join(
        [*_parents(wanted), *(f"{each}($top={RELATED_ROWS + 1})" for each in _readable(wanted))]
    )
    found = engine.read(
        f"{wanted.set_name}({key})", select=",".join(["id", *names]), expand=expand or None
    ).body
    return page(
        "record.html",
        200 if error is None else error.status,
        wanted=wanted,
        record=found,
        key=key,
        version=found.get("@odata.etag"),
        properties=type_.properties,
        fields=[name for name in names if name not in _hidden(wanted)],
        people=_people(found),
        parents=[(name, found[name], _page_of(type_, name)) for name in _parents(wanted)],
        related=[_related(wanted, name, found[name]) for name in _readable(wanted)],
        steps=steps_of(found.get("allowedActions") or []),
        preset=preset,
        typed=request.form,
        may_change="update" in (found.get("allowedActions") or []),
        files=files_of(found) if wanted.set_name == "Documents" else None,
        talk=talk_of(key) if wanted.set_name == "Tickets" else None,
        problem=error,
        query=engine.address(f"{wanted.set_name}({key})", expand=expand or None),
    )


def _hidden(wanted: Page) -> set[str]:
    """What the page shows elsewhere, or not at all."""
    parents = {f"{_lower(name)}Id" for name in _parents(wanted)}
    return {"allowedActions", "customFields", *parents}


def _people(record: dict[str, Any]) -> dict[str, str]:
    """Property -> name of the colleague whose key it holds."""
    keys = {
        name: record[name]
        for name in ("ownerId", "createdById", "updatedById", "assigneeId", "managerId")
        if record.get(name)
    }
    if not keys or scope_of(current_caller(), "directory:read") is None:
        return {}
    found = read_by_id("Users", keys.values(), "displayName")
    return {name: found[key]["displayName"] for name, key in keys.items() if key in found}


def _readable(wanted: Page) -> list[str]:
    """The navigation properties whose records the caller may read."""
    return [name for name in wanted.related if _may_read(wanted, name)]


def _parents(wanted: Page) -> list[str]:
    return [name for name in wanted.parents if _may_read(wanted, name)]


def _may_read(wanted: Page, name: str) -> bool:
    type_ = wanted.entity_set.type
    resource = _target(type_, name).resource
    return resource is None or scope_of(current_caller(), f"{resource}:read") is not None


def _target(type_: edm.EntityType, name: str) -> edm.EntityType:
    return engine.container().target(type_.navigation[name])


def _page_of(type_: edm.EntityType, name: str) -> Page | None:
    return page_of_type(_target(type_, name).name)


def _related(wanted: Page, name: str, rows: list[dict[str, Any]]) -> Related:
    type_ = wanted.entity_set.type
    target = _target(type_, name)
    target_page = page_of_type(target.name)
    if target_page is not None:
        columns = list(target_page.columns)
    else:
        hidden = {"id", "allowedActions", "body", "customFields", f"{_lower(type_.name)}Id"}
        columns = [each for each in target.properties if each not in hidden][:7]
    return Related(
        name, columns, target.properties, rows[:RELATED_ROWS], len(rows) > RELATED_ROWS, target_page
    )


def _lower(name: str) -> str:
    return name[:1].lower() + name[1:]
