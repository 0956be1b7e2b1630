"""Keys of other records as people call them: each reference by its name, with its page.

What refers to a record is known from the foreign keys of the tables, and for records that name
theirs by type and key, from the pair of properties. Names are read as the caller.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from app.console import engine, session
from app.console.references import KINDS, referred_by
from app.console.sets import page_of_type
from app.container.engine import read_by_id
from app.http.security import current_caller
from app.odata.model import edm
from app.permissions import scope_of

# Properties that name a record together: its type, its key.
_PAIRS = {"entityId": "entityType", "relatedId": "relatedType"}


class NamedRecord(NamedTuple):
    """A record that another refers to; ``address`` is empty where there is no page to go to."""

    name: str
    address: str


def title_of(type_name: str) -> str | None:
    """The property that names a record of a type; None for types that are not named."""
    if (page := page_of_type(type_name)) is not None:
        return page.title
    kind = KINDS.get(type_name)
    return kind.title if kind else None


def named_record(type_name: str, record: Mapping[str, Any]) -> NamedRecord:
    """A record that was read with its title: what it is called, ``#7`` where it has no name."""
    if (page := page_of_type(type_name)) is not None:
        return NamedRecord(page.name_of(record), f"{session.ROOT}/{page.path}/{record['id']}")
    title = title_of(type_name)
    return NamedRecord(str((title and record.get(title)) or f"#{record['id']}"), "")


class Names:
    """The records that the references of some records stand for."""

    def __init__(self, records: Mapping[tuple[str, int], NamedRecord]) -> None:
        """``known``: (property, key) -> the record."""
        self._known = records

    def of(self, name: str, value: Any) -> NamedRecord | None:
        """The record that a value of a property names, if it does."""
        return self._known.get((name, value)) if isinstance(value, int) else None


def names_of(type_: edm.EntityType, records: Iterable[Mapping[str, Any]]) -> Names:
    """The records that are named by the references of all the records.

    A record that the caller may not read is not named, nor is one that is no more.
    """
    places: dict[str, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
    for record in records:
        for name, value in record.items():
            if isinstance(value, int) and not isinstance(value, bool):
                target = _target(type_, name, record)
                if target is not None:
                    places[target][value].add(name)
    known: dict[tuple[str, int], NamedRecord] = {}
    for target, keys in places.items():
        for key, named in names_by_key(target, keys).items():
            known.update({(attribute, key): named for attribute in keys[key]})
    return Names(known)


def _target(type_: edm.EntityType, name: str, record: Mapping[str, Any]) -> str | None:
    """The entity type that a property refers to."""
    if name in _PAIRS:
        return record.get(_PAIRS[name])
    property_ = type_.properties.get(name)
    return None if property_ is None else referred_by(type_).get(property_.attribute)


def names_by_key(type_name: str, keys: Iterable[int]) -> Mapping[int, NamedRecord]:
    """The records of a type that the caller may read, by their keys."""
    entity_set = next(
        (each for each in engine.container().sets.values() if each.type.name == type_name), None
    )
    title = title_of(type_name)
    if entity_set is None or title is None or not is_readable(entity_set.type):
        return {}
    rows = read_by_id(entity_set.name, keys, title)
    return {key: named_record(type_name, row) for key, row in rows.items()}


def is_readable(type_: edm.EntityType) -> bool:
    """Whether the caller may read records of a type; parts of others go with those."""
    resource = type_.resource
    return resource is None or scope_of(current_caller(), f"{resource}:read") is not None
