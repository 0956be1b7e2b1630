"""What a client can write, as the model and its services have it."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from app.odata.model import edm


@runtime_checkable
class LinkingService(Protocol):
    """What a service has besides where a many-to-many relation can be changed."""

    def link(self, key: Any, navigation: str, target: Any) -> None:
        """Relate another entity; nothing happens when it is related already."""

    def unlink(self, key: Any, navigation: str, target: Any) -> None:
        """End a relation."""


def set_of(container: edm.EntityContainer, nav: edm.NavigationProperty) -> edm.EntitySet | None:
    """The set in which related entities are written; None where they are not.

    Contained entities are in none of the container: what their navigation property has a service
    for can be added, and then stays as it is.
    """
    home = container.set_of_type.get(nav.target)
    if home is not None or nav.service is None:
        return home
    return edm.EntitySet(
        name=nav.name,
        type=container.target(nav),
        service=nav.service,
        updatable=False,
        deletable=False,
    )


def is_insertable(
    container: edm.EntityContainer, entity_set: edm.EntitySet, nav: edm.NavigationProperty
) -> bool:
    """Whether an entity can be made along a navigation property, and is then related."""
    if nav.owned:
        return entity_set.service is not None and entity_set.updatable
    target = set_of(container, nav)
    if target is None or target.service is None or not target.insertable:
        return False
    if nav.through is not None:
        return isinstance(entity_set.service, LinkingService)
    return nav.foreign_key is not None


def upsert_keys(type_: edm.EntityType) -> list[tuple[str, ...]]:
    """The keys, primary or alternate, whose values a client gives: by these it can upsert.

    Returns: the names of their properties.
    """
    return [
        names
        for names in (type_.key, *alternate_key_names(type_))
        if not any(type_.properties[name].computed for name in names)
    ]


def alternate_key_names(type_: edm.EntityType) -> list[tuple[str, ...]]:
    """The names of the properties of each alternate key."""
    return [
        tuple(type_.by_attribute[attribute].name for attribute in attributes)
        for attributes in type_.alternate_keys
    ]
