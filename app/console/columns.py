"""Columns of lists: properties, and records that are referred to, by their titles and linked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from typing import Any

from markupsafe import Markup, escape

from app.clock import utc_now
from app.console import wording
from app.console.language import translated
from app.console.named_records import (
    NamedRecord,
    Names,
    is_readable,
    kind_of_reference,
    named_record,
    names_of,
)
from app.console.property_kinds import is_number
from app.console.sets import Page
from app.container.model import container, title_of
from app.odata.model import edm
from app.settings.days import day_of, today

# A property computed for each row: whether the day of ``Page.due`` still counts.
_PENDING = "isPending"
_UNSHOWN = ("id", "allowedActions", "customFields", "body", "currency")


@dataclass(frozen=True)
class Column:
    """A column of a list.

    ``path`` is a property, a single-valued navigation property, a path of them
    (``Project/Client``), or a property ``xId`` that has the type of its record beside it in
    ``xType``. ``target`` is the type of the records that the column names, ``order`` what sorts
    by it; empty for nothing.
    """

    path: str
    declared: edm.Property | None
    target: edm.EntityType | None
    order: str

    @cached_property
    def label(self) -> str:
        """The head of the column, in the language of the page that it is made for."""
        return wording.head_of(self.path.rpartition("/")[2])

    @cached_property
    def is_number(self) -> bool:
        """Whether the column is set to the right."""
        return is_number(self.declared)


def columns_of(set_page: Page, paths: Iterable[str]) -> list[Column]:
    """The columns of these paths; a path that the caller may not read, or that is none, is not."""
    columns = (column_of(set_page, path) for path in dict.fromkeys(paths))
    return [column for column in columns if column is not None]


def choosable(set_page: Page) -> list[Column]:
    """Every column that the set can have: those of its list first."""
    type_ = set_page.entity_set.type
    names = [*set_page.columns, *type_.properties, *type_.navigation]
    keys = {
        key
        for navigation in type_.navigation.values()
        if not navigation.collection and (key := key_of(type_, navigation))
    }
    return columns_of(set_page, [name for name in names if name not in (*_UNSHOWN, *keys)])


def column_of(set_page: Page, path: str) -> Column | None:
    """The column of a path; None where there is none for the caller."""
    type_ = set_page.entity_set.type
    if (property_ := type_.properties.get(path)) is not None:
        is_plain = isinstance(property_.type, edm.PrimitiveType | edm.EnumType)
        is_list = isinstance(property_.type, edm.CollectionType) and not isinstance(
            property_.type.element, edm.ComplexType
        )
        if path in _UNSHOWN or not (is_plain or is_list):
            return None
        return Column(
            path, property_, None, path if is_plain and not kind_of_reference(type_, path) else ""
        )
    target = _target(type_, path)
    title = target and title_of(target.name)
    return Column(path, None, target, f"{path}/{title}") if title else None


def key_of(type_: edm.EntityType, navigation: edm.NavigationProperty) -> str | None:
    """The property that holds the key of the record: ``clientId`` for ``Client``."""
    key = type_.by_attribute.get(navigation.foreign_key or "")
    return key.name if key else None


def reading(set_page: Page, columns: Sequence[Column], *, marked: bool = True) -> dict[str, str]:
    """The query options that read these columns: ``select``, ``expand``, ``compute``.

    Args:
        marked: whether what is late, or due today, is to be marked.
    """
    type_ = set_page.entity_set.type
    names = ["id", set_page.title]
    for column in columns:
        if column.declared is not None:
            names += [column.path, kind_of_reference(type_, column.path)]
    if "currency" in type_.properties:
        names.append("currency")
    options = {}
    if marked and set_page.due in [column.path for column in columns]:
        names.append(_PENDING)
        options["compute"] = f"({set_page.pending}) as {_PENDING}"
    tree = _tree(column for column in columns if column.target is not None)
    if tree:
        options["expand"] = _expand(tree)
    return {"select": ",".join(filter(None, dict.fromkeys(names))), **options}


def cells(
    set_page: Page, columns: Sequence[Column], rows: Sequence[Mapping[str, Any]]
) -> list[list[Markup | str]]:
    """What stands in each column of each row."""
    names = names_of(set_page.entity_set.type, rows)
    return [
        [_cell(set_page, column, row, names, is_first=not at) for at, column in enumerate(columns)]
        for row in rows
    ]


def part_cells(
    type_: edm.EntityType,
    columns: Sequence[Column],
    rows: Sequence[Mapping[str, Any]],
    currency: str | None,
) -> list[list[Markup | str]]:
    """What stands in each column of records that have no page of their own.

    Args:
        currency: of the record that they belong to.
    """
    names = names_of(type_, rows)
    return [
        [
            _link(named)
            if (named := names.of(column.path, row))
            else wording.display_value(
                row.get(column.path), column.declared, row.get("currency") or currency
            )
            for column in columns
        ]
        for row in rows
    ]


def _cell(
    set_page: Page,
    column: Column,
    row: Mapping[str, Any],
    names: Names,
    *,
    is_first: bool,
) -> Markup | str:
    if column.target is not None:
        return _reference(column, row)
    value = row.get(column.path)
    if kind_of_reference(set_page.entity_set.type, column.path):
        return _link(names.of(column.path, row))
    if is_first or (value and column.path in (set_page.title, "number", "code")):
        named = named_record(set_page.entity_set.type.name, row)
        return _link(named._replace(name=value) if isinstance(value, str) and value else named)
    if column.declared is not None and column.declared.currency_property and value is not None:
        return wording.priced(value, row.get(column.declared.currency_property))
    text = wording.display_value(value, column.declared)
    if column.path == set_page.due and row.get(_PENDING) and (flag := _flag(value)):
        return Markup("{} {}").format(text, flag)
    return text


def _reference(column: Column, row: Mapping[str, Any]) -> Markup | str:
    record: Any = row
    for step in column.path.split("/"):
        record = record.get(step) if record else None
    if not record or column.target is None:
        return wording.display_value(None)
    return _link(named_record(column.target.name, record))


def _link(record: NamedRecord | None) -> Markup | str:
    if record is None:
        return wording.display_value(None)
    if not record.address:
        return escape(record.name)
    return Markup('<a href="%s" dir="auto">%s</a>') % (record.address, record.name)


def _flag(value: Any) -> Markup | None:
    """What a day that still counts says: that it is over, or that it is today."""
    if not isinstance(value, str):
        return None
    if len(value) > len("2026-01-01"):
        moment = datetime.fromisoformat(value)
        is_over, day = moment < utc_now(), day_of(moment)
    else:
        day = date.fromisoformat(value)
        is_over = day < today()
    if is_over:
        return wording.badge_as("bad", translated("Overdue"))
    return wording.badge_as("waiting", translated("Due today")) if day == today() else None


# --- records behind columns


def _target(type_: edm.EntityType, path: str) -> edm.EntityType | None:
    """The type at the end of a path of single-valued navigation that the caller may read."""
    for step in path.split("/"):
        navigation = type_.navigation.get(step)
        if navigation is None or navigation.collection:
            return None
        type_ = container().target(navigation)
        if not is_readable(type_):
            return None
    return type_


def _tree(columns: Iterable[Column]) -> dict[str, Any]:
    """``Client``, ``Project/Client`` -> ``{"Client": {"": title}, "Project": {"Client": ...}}``."""
    tree: dict[str, Any] = {}
    for column in columns:
        assert column.target is not None
        branch = tree
        for step in column.path.split("/"):
            branch = branch.setdefault(step, {})
        branch[""] = title_of(column.target.name)
    return tree


def _expand(tree: Mapping[str, Any]) -> str:
    parts = []
    for name, branch in tree.items():
        title, deeper = branch.get(""), {step: each for step, each in branch.items() if step}
        options = [f"$select=id,{title}" if title else "$select=id"]
        options += [f"$expand={_expand(deeper)}"] if deeper else []
        parts.append(f"{name}({';'.join(options)})")
    return ",".join(parts)
