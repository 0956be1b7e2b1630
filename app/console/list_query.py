"""What a list is asked for: words, a view, conditions, order, columns; read from its address."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from werkzeug.datastructures import MultiDict

from app.console.choices import search_phrase
from app.console.columns import Column, column_of, columns_of, reading
from app.console.filters import WHERE, Condition, read_conditions
from app.console.sets import Page
from app.container.words import options_of
from app.http.security import current_caller
from app.odata.model import edm
from app.writing.bulk import PERSONS

LONGEST_SEARCH = 200
MOST_COLUMNS = 20


@dataclass(frozen=True)
class ListQuery:
    """What is to be listed. ``sort`` is as in the address: ``dueDate desc``, ``Client``."""

    wanted: Page
    search: str
    view: str
    state: str
    conditions: tuple[Condition, ...]
    sort: str
    columns: tuple[Column, ...]

    @property
    def filter(self) -> str | None:
        """The conditions as the engine reads them; None for none."""
        parts = [views_of(self.wanted)[self.view]] if self.view else []
        if self.state:
            parts.append(f"{self.wanted.state} eq '{self.state}'")
        parts += [condition.filter for condition in self.conditions]
        return " and ".join(f"({part})" for part in parts) or None

    @property
    def order(self) -> str:
        """As the engine reads it."""
        if self.sort == first_sort(self.wanted):
            return self.wanted.order
        path, _, direction = self.sort.partition(" ")
        column = column_of(self.wanted, path)
        if column is None or not column.order:
            return self.wanted.order
        return f"{column.order} {direction}".strip()

    @property
    def is_narrowed(self) -> bool:
        """Whether records are left out."""
        return bool(self.search or self.filter)

    def rows(self) -> dict[str, str | None]:
        """The options that say which records, in which order."""
        return {
            "filter": self.filter,
            "search": search_phrase(self.search),
            "orderby": self.order,
        }

    def options(self) -> dict[str, str | int | None]:
        """The options that read the columns of the list, too, with what marks a row."""
        return {**reading(self.wanted, self.columns), **self.rows()}

    def options_of_columns(self) -> dict[str, str | int | None]:
        """The options that read what stands in the columns, and nothing else."""
        return {**reading(self.wanted, self.columns, marked=False), **self.rows()}


def read_query(wanted: Page, args: MultiDict[str, str]) -> ListQuery:
    """The query of an address; what it does not have, or cannot have, is as at first."""
    view, state = args.get("view", ""), args.get("state", "")
    sort = args.get("sort", "")
    path, _, direction = sort.partition(" ")
    column = column_of(wanted, path)
    is_order = column is not None and column.order and direction in ("", "desc")
    sort = sort if is_order else first_sort(wanted)
    columns = columns_of(wanted, args.get("columns", "").split(",")[:MOST_COLUMNS])
    return ListQuery(
        wanted,
        args.get("q", "").strip()[:LONGEST_SEARCH],
        view if view in views_of(wanted) else "",
        state if state and state in states_of(wanted) else "",
        tuple(read_conditions(wanted, args.getlist(WHERE))),
        sort,
        tuple(columns or columns_of(wanted, wanted.columns)),
    )


def first_sort(wanted: Page) -> str:
    """The order of a list that nobody has sorted, by its first property: ``createdAt desc``."""
    return wanted.order.partition(",")[0]


def states_of(wanted: Page) -> tuple[str, ...]:
    """The states that a list can be narrowed to."""
    if wanted.state is None:
        return ()
    return options_of(wanted.entity_set.type.properties[wanted.state])


def person_of(wanted: Page) -> edm.Property | None:
    """The property that says who works on a record."""
    attributes = wanted.entity_set.type.by_attribute
    return next((attributes[name] for name in PERSONS if name in attributes), None)


def views_of(wanted: Page) -> Mapping[str, str]:
    """The views of a list that everybody has, each a filter; one's own records among them."""
    person = person_of(wanted)
    views = dict(wanted.views)
    if person is None:
        return views
    is_open = f" and {views['Open']}" if "Open" in views else ""
    views["Mine"] = f"{person.name} eq {current_caller().user_id}{is_open}"
    if person.name == "assigneeId":
        views["Unassigned"] = f"{person.name} eq null{is_open}"
    return views
