"""What waits for the caller: own tasks, tickets and deals, and tickets that nobody has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import urlencode

from markupsafe import Markup
from werkzeug.datastructures import MultiDict

from app.console import engine
from app.console.columns import Column, cells
from app.console.filters import WHERE
from app.console.language import marked, translated
from app.console.list_query import read_query
from app.console.sets import page_of
from app.http.security import current_caller
from app.permissions import allowed
from app.settings.days import today

SHOWN = 5
# Days ahead in which what is due is shown.
AHEAD = 7


@dataclass(frozen=True)
class Waiting:
    """Records that wait; ``link`` is the list of all ``total`` of them, below the console."""

    title: str
    total: int
    link: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Markup | str]]


def mine_and_due() -> Iterator[Waiting]:
    """The lists that have something for the caller, what is due first at the top."""
    until = (today() + timedelta(days=AHEAD)).isoformat()
    for path, right, title, columns, address in (
        (
            "tasks", "read", marked("My tasks that are due"), "title,dueAt",
            [("view", "Mine"), ("sort", "dueAt"), (WHERE, f"dueAt:until:{until}")],
        ),
        (
            "tickets", "read", marked("My open tickets"), "subject,resolutionDueAt",
            [("view", "Mine"), ("sort", "resolutionDueAt")],
        ),
        (
            "tickets", "update", marked("Unassigned open tickets"), "subject,resolutionDueAt",
            [("view", "Unassigned"), ("sort", "resolutionDueAt")],
        ),
        (
            "opportunities", "read", marked("My deals without a next step"), "name,amount",
            [("view", "Mine"), ("sort", "closeDate"), (WHERE, "nextStep:empty")],
        ),
    ):  # fmt: skip
        set_page = page_of(path)
        if not allowed(current_caller(), f"{set_page.entity_set.type.resource}:{right}"):
            continue
        query = read_query(set_page, MultiDict([*address, ("columns", columns)]))
        result = engine.read(set_page.set_name, count="true", top=SHOWN, **query.options())
        if result.rows:
            yield Waiting(
                translated(title),
                int(result.body["@odata.count"]),
                f"{path}/?{urlencode(address)}",
                query.columns,
                cells(set_page, query.columns, result.rows),
            )
