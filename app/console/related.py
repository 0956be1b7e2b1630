"""Records that belong to another, as tables on its page, and where a new one is made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from app.console import engine, session
from app.console.sets import Page, page_of_type
from app.container.engine import read_by_id
from app.http.security import current_caller
from app.odata.model import edm
from app.permissions import scope_of

RELATED_ROWS = 10
# Columns of records without a page of their own; of other types, the first ones.
_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "LineItem": (
        "position", "description", "quantity", "unitPrice", "discountPercent", "taxRate",
        "lineNet",
    ),
    "Payment": ("number", "date", "amount", "currency", "method", "reference", "status"),
    "StageChange": ("from", "to", "at", "byId", "seconds"),
    "DocumentVersion": ("number", "fileName", "size", "createdAt", "createdById"),
}  # fmt: skip
_MOST_COLUMNS = 7
_COLLEAGUES = (
    "ownerId", "createdById", "updatedById", "assigneeId", "managerId", "byId", "publishedById",
)  # fmt: skip
# What has a form that can begin with the record; the rest is written by the service.
_MADE_HERE = ("Contact", "Opportunity", "Invoice", "Ticket", "Task", "Project", "Document")


@dataclass(frozen=True)
class Related:
    """Records that belong to one: with their page where they have one.

    ``add`` is the address of the form for a new one; empty where the caller may make none.
    """

    name: str
    columns: list[str]
    properties: Any
    rows: list[dict[str, Any]]
    more: bool
    page: Page | None
    add: str
    people: Mapping[int, str]


def readable(wanted: Page, names: Iterable[str]) -> list[str]:
    """The navigation properties whose records the caller may read."""
    return [name for name in names if _may(_target(wanted, name), "read")]


def page_behind(wanted: Page, name: str) -> Page | None:
    """The page of the records behind a navigation property."""
    return page_of_type(_target(wanted, name).name)


def related(wanted: Page, key: int, name: str, rows: list[dict[str, Any]]) -> Related:
    """What stands behind a navigation property of a record."""
    target = _target(wanted, name)
    target_page = page_of_type(target.name)
    if target_page is not None:
        columns = list(target_page.columns)
    else:
        hidden = {"id", "allowedActions", "body", "customFields", _key_of(wanted)}
        columns = list(_COLUMNS.get(target.name, ())) or [
            each for each in target.properties if each not in hidden
        ]
    shown = rows[:RELATED_ROWS]
    return Related(
        name,
        columns[:_MOST_COLUMNS] if target_page is None else columns,
        target.properties,
        shown,
        len(rows) > RELATED_ROWS,
        target_page,
        _add(wanted, key, name),
        colleagues(row.get(each) for row in shown for each in columns if each in _COLLEAGUES),
    )


def colleagues(keys: Iterable[int | None]) -> Mapping[int, str]:
    """Key -> name of those that the caller may know."""
    wanted = [key for key in keys if key]
    if not wanted or scope_of(current_caller(), "directory:read") is None:
        return {}
    found = read_by_id("Users", wanted, "displayName")
    return {key: row["displayName"] for key, row in found.items()}


def people_of(record: Mapping[str, Any]) -> dict[str, str]:
    """Property -> name of the colleague whose key it holds."""
    keys = {name: record[name] for name in _COLLEAGUES if record.get(name)}
    names = colleagues(keys.values())
    return {name: names[key] for name, key in keys.items() if key in names}


def _add(wanted: Page, key: int, name: str) -> str:
    navigation = wanted.entity_set.type.navigation[name]
    target = _target(wanted, name)
    target_page = page_of_type(target.name)
    if target_page is None or target.name not in _MADE_HERE or not _may(target, "create"):
        return ""
    if navigation.foreign_key is None or navigation.name == "CreditNotes":
        return ""
    given = {navigation.foreign_key: key, **navigation.besides}
    named = {target.by_attribute[attribute].name: value for attribute, value in given.items()}
    return f"{session.ROOT}/{target_page.path}/new?{urlencode(named)}"


def _may(target: edm.EntityType, action: str) -> bool:
    resource = target.resource
    if resource is None:
        return action == "read"
    return scope_of(current_caller(), f"{resource}:{action}") is not None


def _target(wanted: Page, name: str) -> edm.EntityType:
    return engine.container().target(wanted.entity_set.type.navigation[name])


def _key_of(wanted: Page) -> str:
    name = wanted.entity_set.type.name
    return f"{name[:1].lower()}{name[1:]}Id"
