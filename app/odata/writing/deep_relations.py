"""Relating entities that exist, and ending a relation: both ends stay what they are.

A relation is held by a foreign key, which the service of the entity that has it changes, or by a
link table, which the service of the navigation's source changes.
"""

from __future__ import annotations

from typing import Any

from app.errors import MethodNotAllowedError, NotImplementedInServiceError, ValidationError
from app.odata.model import edm
from app.odata.writing.targets import Link


class Relations:
    """Changes relations through the services of a model."""

    def __init__(self, container: edm.EntityContainer) -> None:
        self._container = container

    def relate(self, link: Link, target: Any) -> None:
        """Relate an entity; a single-valued navigation leads to it from now on.

        Raises: NotFoundError, one of the two is not there.
        """
        nav = link.navigation
        if nav.through is not None:
            self._linking(link).link(link.key, nav.name, target)
        elif nav.collection:
            holder = service_of(self.target_set(nav), update=True)
            holder.update(target, held_values(nav, link.key))
        else:
            changes = {foreign_key(nav): target}
            service_of(link.entity_set, update=True).update(link.key, changes)

    def unrelate(self, link: Link, target: Any) -> None:
        """End a relation.

        Args:
            target: of a collection, the entity that is related no more.
        Raises: ValidationError, the entity that holds the relation cannot be without it.
        """
        nav = link.navigation
        if nav.through is not None:
            self._linking(link).unlink(link.key, nav.name, target)
            return
        holder = self.target_set(nav) if nav.collection else link.entity_set
        attribute = foreign_key(nav)
        prop = holder.type.by_attribute.get(attribute)
        if prop is not None and not prop.nullable:
            raise ValidationError(
                [(prop.name, f"is required: no {holder.type.name} is without it")]
            )
        values = dict.fromkeys((attribute, *nav.besides))
        service_of(holder, update=True).update(target if nav.collection else link.key, values)

    def can_change(self, nav: edm.NavigationProperty) -> bool:
        """Whether a navigation property can be written at all."""
        held = nav.foreign_key is not None or nav.through is not None
        return held and self._container.set_of(nav) is not None

    def target_set(self, nav: edm.NavigationProperty) -> edm.EntitySet:
        """The set that holds the entities that a navigation property leads to.

        Raises: NotImplementedInServiceError, they lie in none.
        """
        entity_set = self._container.set_of(nav)
        if entity_set is None:
            raise NotImplementedInServiceError(f"{nav.name} cannot be written on its own.")
        return entity_set

    def _linking(self, link: Link) -> edm.LinkingService:
        service = service_of(link.entity_set, update=True)
        if not isinstance(service, edm.LinkingService):
            raise NotImplementedInServiceError(f"{link.navigation.name} cannot be changed.")
        return service


def service_of(
    entity_set: edm.EntitySet, *, insert: bool = False, update: bool = False, delete: bool = False
) -> edm.Service:
    """The service of a set that may be written in this way.

    Raises: MethodNotAllowedError, it may not.
    """
    refused = (
        (insert and not entity_set.insertable)
        or (update and not entity_set.updatable)
        or (delete and not entity_set.deletable)
    )
    if entity_set.service is None or refused:
        raise MethodNotAllowedError(f"{entity_set.name} cannot be written in this way.")
    return entity_set.service


def held_values(nav: edm.NavigationProperty, key: Any) -> dict[str, Any]:
    """What an entity of a collection holds of its relation to the entity with this key."""
    return {foreign_key(nav): key, **nav.besides}


def foreign_key(nav: edm.NavigationProperty) -> str:
    """The attribute that holds a relation.

    Raises: NotImplementedInServiceError, none does: the relation follows from something else.
    """
    if nav.foreign_key is None:
        raise NotImplementedInServiceError(f"{nav.name} cannot be changed.")
    return nav.foreign_key
