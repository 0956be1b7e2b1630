"""Records that belong to another, as tables on its page, and where a new one is made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from markupsafe import Markup

from app.console import session
from app.console.columns import Column, cells, columns_of, part_cells
from app.console.named_records import is_readable
from app.console.sets import Page, page_of_type
from app.container.model import container
from app.http.security import current_caller
from app.odata.model import edm
from app.permissions import scope_of

RELATED_ROWS = 10
# An invoice is read by its lines.
_MORE_ROWS = {"LineItems": 50}
# Columns of records without a page of their own; of other types, the first ones.
_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "LineItem": (
        "description", "quantity", "unitCode", "unitPrice", "discountPercent", "taxRate", "lineNet",
    ),
    "Payment": ("number", "date", "amount", "currency", "method", "reference", "status"),
    "StageChange": ("from", "to", "at", "byId", "seconds"),
    "DocumentVersion": ("number", "fileName", "size", "createdAt", "createdById"),
}  # fmt: skip
# Columns that are left out where no row has a value in them.
_SOMETIMES = ("discountPercent",)
_MOST_COLUMNS = 7
# What has a form that can begin with the record; the rest is written by the service.
_MADE_HERE = ("Contact", "Opportunity", "Invoice", "Ticket", "Task", "Project", "Document")


@dataclass(frozen=True)
class Related:
    """Records that belong to one: with their page where they have one.

    ``total`` counts them all, ``rows`` are the first, ``texts`` what stands in the columns of each.
    ``add`` is the address of the form for a new one; empty where the caller may make none.
    """

    name: str
    columns: Sequence[Column]
    rows: Sequence[Mapping[str, Any]]
    texts: Sequence[Sequence[Markup | str]]
    total: int
    page: Page | None
    add: str


def readable(set_page: Page, names: Iterable[str]) -> list[str]:
    """The navigation properties whose records the caller may read."""
    return [name for name in names if is_readable(target_of(set_page, name))]


def expanded(set_page: Page, names: Iterable[str]) -> str | None:
    """``$expand`` for the first rows behind the navigation properties, and how many there are."""
    return ",".join(f"{name}({_options(set_page, name)})" for name in names) or None


def order_of(set_page: Page, name: str) -> str | None:
    """The order of what stands behind a navigation property: that of its list, if it has one."""
    target_page = page_behind(set_page, name)
    return None if target_page is None else target_page.order


def _options(set_page: Page, name: str) -> str:
    order = order_of(set_page, name)
    top = f"$count=true;$top={_MORE_ROWS.get(name, RELATED_ROWS)}"
    return f"{top};$orderby={order}" if order else top


def page_behind(set_page: Page, name: str) -> Page | None:
    """The page of the records behind a navigation property."""
    return page_of_type(target_of(set_page, name).name)


def related(
    set_page: Page, record: Mapping[str, Any], name: str, rows: list[dict[str, Any]], total: int
) -> Related:
    """What stands behind a navigation property of a record."""
    target = target_of(set_page, name)
    target_page = page_of_type(target.name)
    if target_page is not None:
        columns = columns_of(target_page, target_page.own_columns)
        texts = cells(target_page, columns, rows)
    else:
        own = set_page.entity_set.type.name
        key = f"{own[:1].lower()}{own[1:]}Id"
        hidden = {"id", "allowedActions", "body", "customFields", key}
        names = (
            list(_COLUMNS.get(target.name, ()))
            or [each for each in target.properties if each not in hidden][:_MOST_COLUMNS]
        )
        names = [each for each in names if each not in _SOMETIMES or any(row[each] for row in rows)]
        columns = [Column(each, target.properties[each], None, "") for each in names]
        texts = part_cells(target, columns, rows, record.get("currency"))
    add = _add(set_page, record["id"], name)
    return Related(name, columns, rows, texts, total, target_page, add)


def _add(set_page: Page, key: int, name: str) -> str:
    navigation = set_page.entity_set.type.navigation[name]
    target = target_of(set_page, name)
    target_page = page_of_type(target.name)
    if target_page is None or target.name not in _MADE_HERE:
        return ""
    if scope_of(current_caller(), f"{target.resource}:create") is None:
        return ""
    if navigation.foreign_key is None or navigation.name == "CreditNotes":
        return ""
    preset = {navigation.foreign_key: key, **navigation.besides}
    preset_values = {
        target.by_attribute[attribute].name: value for attribute, value in preset.items()
    }
    return f"{session.ROOT}/{target_page.path}/new?{urlencode(preset_values)}"


def target_of(set_page: Page, name: str) -> edm.EntityType:
    """The entity type behind a navigation property."""
    return container().target(set_page.entity_set.type.navigation[name])
