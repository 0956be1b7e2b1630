"""What the pages show of each entity set, as ``pages.toml`` says it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.console.language import translated
from app.container.measures import MEASURES
from app.container.model import container, title_of
from app.errors import NotFoundError
from app.localisation.data_files import data_beside
from app.odata.model import edm

# Records that were moved in are as old as they were made, whatever their keys are.
NEWEST = "createdAt desc,id desc"
# The context of titles: a group may be called as something else is.
GROUP = "group"


@dataclass(frozen=True)
class Group:
    """Properties under a heading."""

    title: str
    properties: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class Page:
    """An entity set on a page, with the members of its table in ``pages.toml``."""

    set_name: str
    plural: str
    singular: str
    unnamed: str
    columns: Sequence[str]
    state: str | None = None
    order: str = NEWEST
    related: Sequence[str] = ()
    main: Sequence[str] = ()
    preset: Mapping[str, str] = field(default_factory=dict)
    views: Mapping[str, str] = field(default_factory=dict)
    due: str | None = None
    pending: str = "true"
    head: Sequence[str] = ()
    sections: Sequence[Group | str] = ()
    elsewhere: Sequence[str] = ()
    next_steps: Mapping[str, str] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The property that names a record."""
        return title_of(self.entity_set.type.name)

    @property
    def label(self) -> str:
        """What many of its records are called."""
        return translated(self.plural)

    @property
    def singular_label(self) -> str:
        """What one of its records is called."""
        return translated(self.singular)

    def name_of(self, record: Mapping[str, Any]) -> str:
        """What a record is called that was read with its key and title: ``Draft 7`` of an invoice
        that has no number yet."""
        title = record.get(self.title)
        return str(title or f"{translated(self.unnamed)} {record['id']}")

    @property
    def own_columns(self) -> Sequence[str]:
        """The columns that are properties of the records themselves."""
        return [name for name in self.columns if name in self.entity_set.type.properties]

    @property
    def path(self) -> str:
        """The segment of the page's address."""
        return self.set_name.lower()

    @property
    def entity_set(self) -> edm.EntitySet:
        return container().sets[self.set_name]

    @property
    def groups(self) -> list[Group]:
        return [section for section in self.sections if isinstance(section, Group)]

    def details(self, names: Sequence[str]) -> list[str]:
        """Those of the properties that have no place of their own."""
        grouped = (name for group in self.groups for name in group.properties)
        placed = {*self.head, *self.elsewhere, *grouped}
        return [name for name in names if name not in placed]


def _page(set_name: str, declared: Mapping[str, Any]) -> Page:
    conditions = {name: measure.condition for name, measure in MEASURES.items()}
    views = {name: text.format(**conditions) for name, text in declared.get("views", {}).items()}
    named = {"plural": set_name, "unnamed": declared["singular"], **declared}
    pending = declared.get("pending", "true").format(**views)
    sections = [
        each if isinstance(each, str) else Group(*next(iter(each.items())))
        for each in declared["sections"]
    ]
    return Page(
        set_name=set_name, **{**named, "views": views, "pending": pending, "sections": sections}
    )


_DECLARED = data_beside(__file__, "pages.toml")
PAGES: Mapping[str, Page] = {
    name.lower(): _page(name, declared) for name, declared in _DECLARED.items()
}


def page_of(path: str) -> Page:
    """The page of an address.

    Raises: NotFoundError.
    """
    if path not in PAGES:
        raise NotFoundError(translated("There is no such page."))
    return PAGES[path]


def page_of_type(name: str) -> Page | None:
    """The page of the records of an entity type; None for one without."""
    entity_set = container().set_of_type.get(name)
    return None if entity_set is None else PAGES.get(entity_set.name.lower())
