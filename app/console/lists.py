"""The list of an entity set: search, filter by view and state, sort, and page on, by the engine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta

from flask import Response, request

from app.console import engine
from app.console.area import console, page
from app.console.choices import changed_link, page_links, page_rows, search_phrase, skipped
from app.console.sets import Page, page_of
from app.odata.model import edm


@dataclass(frozen=True)
class Column:
    """A column of a list; ``link`` is the address that sorts by it."""

    name: str
    property: edm.Property | None
    sorted: str
    link: str


@console.get("/<path>/")
def list_records(path: str) -> Response:
    """Records of a set."""
    wanted = page_of(path)
    search = request.args.get("q", "").strip()[:200]
    state = request.args.get("state", "")
    view = request.args.get("view", "")
    month = request.args.get("month", "")
    order = _order(wanted, request.args.get("sort", ""))
    skip = skipped()
    options: dict[str, str | int | None] = {
        "select": ",".join(dict.fromkeys(_selected(wanted))),
        "filter": _filter(wanted, state, view, month),
        "search": search_phrase(search),
        "orderby": order,
        "top": page_rows(),
        "skip": skip or None,
    }
    result = engine.read(wanted.set_name, count="true", **options)
    total = int(result.body["@odata.count"])
    return page(
        "list.html",
        wanted=wanted,
        rows=result.rows,
        columns=_columns(wanted, order),
        states=_states(wanted),
        state=state,
        view=view,
        month=month if _days(month) else "",
        search=search,
        is_narrowed=bool(search or options["filter"] or skip),
        links=page_links(skip, total),
        query=engine.address(wanted.set_name, **options),
    )


def _selected(wanted: Page) -> Iterator[str]:
    """The properties of a row, the currency of its amounts among them."""
    yield from ("id", *wanted.columns, wanted.title)
    if "currency" in wanted.entity_set.type.properties:
        yield "currency"


def _columns(wanted: Page, order: str) -> list[Column]:
    properties = wanted.entity_set.type.properties
    first, _, _ = order.partition(",")
    field, _, direction = first.partition(" ")
    columns = []
    for name in wanted.columns:
        is_sorted = (direction or "asc") if name == field else ""
        turned = f"{name} desc" if is_sorted == "asc" else name
        columns.append(
            Column(name, properties.get(name), is_sorted, changed_link(sort=turned, skip=0))
        )
    return columns


def _states(wanted: Page) -> tuple[str, ...]:
    if wanted.state is None:
        return ()
    return wanted.entity_set.type.properties[wanted.state].allowed or ()


def _filter(wanted: Page, state: str, view: str, month: str) -> str | None:
    conditions = [wanted.views[view]] if view in wanted.views else []
    if state and state in _states(wanted):
        conditions.append(f"{wanted.state} eq '{state}'")
    if wanted.day and (days := _days(month)):
        conditions.append(f"{wanted.day} ge {days[0]} and {wanted.day} lt {days[1]}")
    return " and ".join(conditions) or None


def _days(month: str) -> tuple[date, date] | None:
    """The first day of ``2026-03`` and that of the month after; None for what is no month."""
    try:
        first = date.fromisoformat(f"{month}-01")
    except ValueError:
        return None
    return first, (first + timedelta(days=31)).replace(day=1)


def _order(wanted: Page, sort: str) -> str:
    name, _, direction = sort.partition(" ")
    if name in wanted.columns and direction in ("", "desc"):
        return sort
    return wanted.order
