"""Keys of other records as people call them: each reference by its name, with its page.

What refers to a record is known from the foreign keys of the tables, and for records that name
theirs by type and key, from the pair of properties. Names are read as the caller.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from app.console import session
from app.console.sets import page_of_type
from app.container.engine import read_by_id
from app.container.model import container, referred_by, title_of
from app.http.security import current_caller
from app.odata.model import edm
from app.permissions import scope_of


class NamedRecord(NamedTuple):
    """A record that another refers to; ``address`` is empty where there is no page to go to."""

    name: str
    address: str


def named_record(type_name: str, record: Mapping[str, Any]) -> NamedRecord:
    """A record that was read with its title: what it is called, ``#7`` where it has no name."""
    if (page := page_of_type(type_name)) is not None:
        return NamedRecord(page.name_of(record), f"{session.ROOT}/{page.path}/{record['id']}")
    return NamedRecord(str(record.get(title_of(type_name)) or f"#{record['id']}"), "")


class Names:
    """The records that the references of some records stand for."""

    def __init__(self, type_: edm.EntityType, known: Mapping[tuple[str, int], NamedRecord]) -> None:
        """``known``: (type, key) -> the record."""
        self._type = type_
        self._known = known

    def of(self, name: str, record: Mapping[str, Any]) -> NamedRecord | None:
        """The record that a property of one of the records names, if it does."""
        target = _target(self._type, name, record)
        return self._known.get((target, record[name])) if target else None


def names_of(type_: edm.EntityType, records: Iterable[Mapping[str, Any]]) -> Names:
    """The records that are named by the references of all the records.

    A record that the caller may not read is not named, nor is one that is no more.
    """
    places = (
        (target, record[name])
        for record in records
        for name in record
        if (target := _target(type_, name, record))
    )
    return Names(type_, all_named(places))


def all_named(places: Iterable[tuple[str, int]]) -> dict[tuple[str, int], NamedRecord]:
    """The records of several types that the caller may read, by type and key."""
    keys: dict[str, list[int]] = defaultdict(list)
    for type_name, key in places:
        keys[type_name].append(key)
    return {
        (type_name, key): named
        for type_name, of_type in keys.items()
        for key, named in names_by_key(type_name, of_type).items()
    }


def kind_of_reference(type_: edm.EntityType, name: str) -> str:
    """``relatedType`` for ``relatedId``: where a record of any type is referred to; else empty."""
    kind = f"{name.removesuffix('Id')}Type"
    return kind if name.endswith("Id") and kind in type_.properties else ""


def _target(type_: edm.EntityType, name: str, record: Mapping[str, Any]) -> str | None:
    """The entity type that the value of a property refers to."""
    property_, value = type_.properties.get(name), record.get(name)
    if property_ is None or not isinstance(value, int) or isinstance(value, bool):
        return None
    kind = kind_of_reference(type_, name)
    return record.get(kind) if kind else referred_by(type_).get(property_.attribute)


def names_by_key(type_name: str, keys: Iterable[int]) -> Mapping[int, NamedRecord]:
    """The records of a type that the caller may read, by their keys."""
    entity_set = container().set_of_type.get(type_name)
    if entity_set is None or not is_readable(entity_set.type):
        return {}
    rows = read_by_id(entity_set.name, keys, title_of(type_name))
    return {key: named_record(type_name, row) for key, row in rows.items()}


def is_readable(type_: edm.EntityType) -> bool:
    """Whether the caller may read records of a type; parts of others go with those."""
    resource = type_.resource
    return resource is None or scope_of(current_caller(), f"{resource}:read") is not None
