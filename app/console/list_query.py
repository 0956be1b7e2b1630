"""What a list is asked for: words, a view, conditions, order, columns; read from its address."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from werkzeug.datastructures import MultiDict

from app.console.choices import search_phrase
from app.console.columns import Column, column_of, columns_of, reading
from app.console.filters import WHERE, Condition, read_conditions
from app.console.language import translated
from app.console.sets import Page
from app.container.bulk import PERSONS
from app.container.words import options_of
from app.errors import ValidationError
from app.http.security import current_caller
from app.odata.model import edm

LONGEST_SEARCH = 200
MOST_COLUMNS = 20


@dataclass(frozen=True)
class ListQuery:
    """What is to be listed.

    Attributes:
        sort: as in the address: ``dueDate desc``, ``Client``.
        unknown: what the address narrows by and this list does not know, such as a state that is no
            more; the list leaves it out and says so.
    """

    set_page: Page
    search: str
    view: str
    state: str
    conditions: tuple[Condition, ...]
    sort: str
    columns: tuple[Column, ...]
    unknown: tuple[str, ...] = ()

    def refuse_unknown(self) -> None:
        """Before something is done with all that match.

        Raises: ValidationError, the list has more than what was asked for.
        """
        if self.unknown:
            text = translated(
                "The list is narrowed by what is not known here: choose the filter anew."
            )
            raise ValidationError([("", text)])

    @property
    def filter(self) -> str | None:
        """The conditions as the engine reads them; None for none."""
        parts = [views_of(self.set_page)[self.view]] if self.view else []
        if self.state:
            parts.append(f"{self.set_page.state} eq '{self.state}'")
        parts += [condition.filter for condition in self.conditions]
        return " and ".join(f"({part})" for part in parts) or None

    @property
    def order(self) -> str:
        """As the engine reads it."""
        if self.sort == first_sort(self.set_page):
            return self.set_page.order
        path, _, direction = self.sort.partition(" ")
        column = column_of(self.set_page, path)
        if column is None or not column.order:
            return self.set_page.order
        return f"{column.order} {direction}".strip()

    @property
    def is_narrowed(self) -> bool:
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
        return {**reading(self.set_page, self.columns), **self.rows()}

    def options_of_columns(self) -> dict[str, str | int | None]:
        """The options that read what stands in the columns, and nothing else."""
        return {**reading(self.set_page, self.columns, marked=False), **self.rows()}


def read_query(set_page: Page, args: MultiDict[str, str]) -> ListQuery:
    """The query of an address; what it does not have, or cannot have, is as at first, so that an
    old address still opens."""
    view, state = args.get("view", ""), args.get("state", "")
    sort = args.get("sort", "")
    path, _, direction = sort.partition(" ")
    column = column_of(set_page, path)
    is_order = column is not None and column.order and direction in ("", "desc")
    sort = sort if is_order else first_sort(set_page)
    columns = columns_of(set_page, args.get("columns", "").split(",")[:MOST_COLUMNS])
    conditions = read_conditions(set_page, args.getlist(WHERE))
    is_view, is_state = view in views_of(set_page), state in states_of(set_page)
    unknown = [text for text, condition in conditions.items() if condition is None]
    unknown += [text for text, is_known in ((view, is_view), (state, is_state))
                if text and not is_known]  # fmt: skip
    return ListQuery(
        set_page,
        args.get("q", "").strip()[:LONGEST_SEARCH],
        view if is_view else "",
        state if is_state else "",
        tuple(filter(None, conditions.values())),
        sort,
        tuple(columns or columns_of(set_page, set_page.columns)),
        tuple(unknown),
    )


def first_sort(set_page: Page) -> str:
    """The order of a list that nobody has sorted, by its first property: ``createdAt desc``."""
    return set_page.order.partition(",")[0]


def states_of(set_page: Page) -> tuple[str, ...]:
    """The states that a list can be narrowed to."""
    if set_page.state is None:
        return ()
    return options_of(set_page.entity_set.type.properties[set_page.state])


def person_of(set_page: Page) -> edm.Property | None:
    """The property that says who works on a record."""
    attributes = set_page.entity_set.type.by_attribute
    return next((attributes[name] for name in PERSONS if name in attributes), None)


def views_of(set_page: Page) -> Mapping[str, str]:
    """The views of a list that everybody has, each a filter; one's own records among them."""
    person = person_of(set_page)
    views = dict(set_page.views)
    if person is None:
        return views
    is_open = f" and {views['Open']}" if "Open" in views else ""
    views["Mine"] = f"{person.name} eq {current_caller().user_id}{is_open}"
    if person.name == "assigneeId":
        views["Unassigned"] = f"{person.name} eq null{is_open}"
    return views
