"""Writing an entity with all that its body says of related ones, in one transaction.

Single-valued navigation first, because the entity holds its key; then the entity, with the
collections that it owns; then the other collections, whose members hold the entity's key.
Source: Protocol 11.4.2.1 and 11.4.2.2 (binding, deep insert), 11.4.3.1 (deep update).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any

from app.errors import (
    MethodNotAllowedError,
    NotImplementedInServiceError,
    ValidationError,
    refuse_any,
)
from app.odata.model import edm
from app.odata.names import snake
from app.odata.payload.reader import EntityBody, Related
from app.odata.payload.values import join_path
from app.odata.writing.problems import as_bad_reference, at_place
from app.odata.writing.rows import lock_owner, related_keys, version_of_tag
from app.odata.writing.targets import Link, Target
from app.odata.writing.values import change_values, creation_values, replacement_values, whole_list

# The URL of an entity -> it, as a target that has a key.
# Raises: NotFoundError, no such entity; InvalidQueryError, no URL of an entity.
Resolve = Callable[[str], Target]


class DeepWriter:
    """Writes entities and their relations through the services of their sets.

    A relation is held by a foreign key, which the service of the entity that has it changes, or by
    a link table, which the service of the navigation's source changes. Both ends stay what they
    are.
    """

    def __init__(self, container: edm.EntityContainer, resolve: Resolve) -> None:
        self._container = container
        self._resolve = resolve

    def create(self, entity_set: edm.EntitySet, body: EntityBody, **more: Any) -> Any:
        """Make an entity and what its body holds; returns its key.

        Args:
            more: values that the place of the request gives, by attribute.
        """
        service = service_of(entity_set, insert=True)
        _refuse_deltas(body)
        _refuse_strange(body, more)
        single = self.single_values(body)
        _refuse_other_place(body, more, single)
        values = {**creation_values(body), **single, **more, **self._owned_values(body)}
        with at_place(body):
            key = service.create(values)
        for related in self._collections(body):
            for item in related.items:
                link = Link(entity_set, key, related.navigation)
                self._add(link, item, self.referred_key(related.navigation, item))
        return key

    def update(
        self,
        entity_set: edm.EntitySet,
        key: Any,
        body: EntityBody,
        *,
        replace: bool = False,
        version: int | None = None,
        **more: Any,
    ) -> None:
        """Change an entity and what its body holds.

        Args:
            replace: what the body leaves out goes back to its default (PUT), of nested entities
                too, unless they are mere references (Protocol 11.4.3.1).
            version: the row version that must still stand.
            more: values that the place of the request gives, by attribute.
        """
        service = service_of(entity_set, update=True)
        if replace:
            _refuse_deltas(body)
        _refuse_strange(body, more)
        single = self.single_values(body, changing=True, replace=replace)
        _refuse_other_place(body, more, single)
        if replace:
            values = replacement_values(body, frozenset((*single, *more)))
        else:
            values = change_values(body, key)
        values |= {**single, **more, **self._owned_values(body, None if replace else key)}
        with at_place(body):
            service.update(key, values, version)
        for related in self._collections(body):
            self.change_collection(Link(entity_set, key, related.navigation), related, replace)

    # --- single-valued navigation -------------------------------------------------------------

    def single_values(self, body: EntityBody, **how: bool) -> dict[str, Any]:
        """The foreign keys that the single-valued navigation of a body gives.

        Args:
            how: ``changing``, the entity is there: a key alone names who is related already; and
                ``replace`` as in ``update``.
        """
        return {
            foreign_key(related.navigation): self._single_key(related, **how)
            for related in body.related
            if not related.navigation.collection and self.can_change(related.navigation)
        }

    def _single_key(
        self, related: Related, *, changing: bool = False, replace: bool = False
    ) -> Any:
        if not related.items:
            return None
        (item,) = related.items
        target_set = self.target_set(related.navigation)
        key = self.referred_key(related.navigation, item)
        if key is None and changing:
            key = item.given_key
        if key is None:
            return self._create_related(target_set, item)
        version = version_of_tag(self._container, item, key)  # of what is only referred to, too
        if _changes(target_set, item, replace):
            with as_bad_reference(item.path):
                self.update(target_set, key, item, replace=replace, version=version)
        return key

    def _create_related(self, entity_set: edm.EntitySet, item: EntityBody, **more: Any) -> Any:
        with as_bad_reference(item.path):
            service_of(entity_set, insert=True)
        return self.create(entity_set, item, **more)

    def referred_key(self, nav: edm.NavigationProperty, item: EntityBody) -> Any | None:
        """The key of the entity whose URL an item gives; None when it gives none."""
        if item.reference is None:
            return None
        with as_bad_reference(item.path):
            target = self._resolve(item.reference)
        if target.entity_set.type.name != nav.target:
            name = self.target_set(nav).name
            raise ValidationError([(item.path, f"must point at one of {name}")])
        if item.given_key not in (None, target.key):
            raise ValidationError([(item.path, "has the key of another entity than its @id")])
        item.address = target.alternate
        return target.key

    # --- collections --------------------------------------------------------------------------

    def _collections(self, body: EntityBody) -> list[Related]:
        """What a body says of collections whose members have a set of their own.

        What cannot be changed is ignored like a read-only property: a client may send back what
        it read.
        """
        return [
            related
            for related in body.related
            if related.navigation.collection
            and not related.navigation.owned
            and self.can_change(related.navigation)
        ]

    def _owned_values(self, body: EntityBody, key: Any = None) -> dict[str, Any]:
        """The collections that the entity owns, as lists of values for its service.

        Args:
            key: of the entity whose members keep what the body leaves out.
        """
        return {
            snake(related.navigation.name): self._owned_items(body.type, key, related)
            for related in body.related
            if related.navigation.owned
        }

    def write_member(
        self, link: Link, member: EntityBody, *, replace: bool = False, at: int | None = None
    ) -> Any:
        """Change a collection that an entity owns by a delta of one member; returns its key then.

        Args:
            replace: what is left out goes back to its default.
            at: the place of a new one where it is not the last.
        """
        service, type_ = service_of(link.entity_set, update=True), link.entity_set.type
        related = Related(link.navigation, "", [member], is_delta=True, at=at)
        items = self._owned_items(type_, link.key, related, replace=replace)
        with at_place(EntityBody(type_, related=[related])):
            service.update(link.key, {snake(link.navigation.name): items})
        return None if member.position is None else link.related(self._container)[member.position]

    def _owned_items(
        self, type_: edm.EntityType, key: Any, related: Related, *, replace: bool = False
    ) -> list[dict[str, Any]]:
        before: list[Any] = []
        if key is not None and (related.is_delta or any(item.key for item in related.items)):
            lock_owner(type_, key)
            before = related_keys(self._container, type_, key, related.navigation)
        return whole_list(
            self._container.target(related.navigation),
            related,
            before,
            partial(self._member_values, replace=replace),
            replace=replace,
        )

    def _member_values(self, item: EntityBody, key: Any, *, replace: bool) -> dict[str, Any]:
        """What a body gives for a member of an owned collection; ``key`` is None for a new one."""
        values = self.single_values(item) | self._owned_values(item)
        if key is None:
            return creation_values(item) | values
        if replace:
            return replacement_values(item, frozenset(values)) | values
        return change_values(item, key) | values

    def change_collection(self, link: Link, related: Related, replace: bool = False) -> None:
        """Make a collection what the body says: all of it, or by the changes of a delta."""
        nav = related.navigation
        remaining: list[Any] = []
        before = link.related(self._container)
        for item in related.items:
            target = self.referred_key(nav, item)
            if target is None:
                target = _key_within(item, nav, link.key)
            if not item.removed:
                remaining.append(self._add(link, item, target, [*before, *remaining], replace))
            elif target in before:
                self._remove(link, item, target)
            else:
                raise ValidationError([(item.path, "is removed, and none of those related")])
        if not related.is_delta:
            for target in before:
                if target not in remaining:
                    with at_place(EntityBody(self._container.target(nav), related.path)):
                        self.unrelate(link, target)

    def _remove(self, link: Link, item: EntityBody, target: Any) -> None:
        """End a relation; delete the entity, too, where its item says so (Protocol 11.4.3.1)."""
        version = version_of_tag(self._container, item, target)
        is_deleted = item.removed == "deleted"
        if link.navigation.through is not None or not is_deleted:
            self.unrelate(link, target)
        if is_deleted:
            target_set = self.target_set(link.navigation)
            with as_bad_reference(item.path):
                service_of(target_set, delete=True).delete(target, version)

    def _add(
        self, link: Link, item: EntityBody, target: Any | None, before: Collection[Any] = (),
        replace: bool = False,
    ) -> Any:  # fmt: skip
        """Relate one item: make it, or change and link what exists; returns its key.

        Args:
            target: the key of the entity that the item names; None for a new one.
            before: the keys of those that are related already.
            replace: as in ``update``.
        """
        nav = link.navigation
        target_set = self.target_set(nav)
        more = held_values(nav, link.key)
        is_new = target not in before
        if target is None or (is_new and _gives_own_key(item)):
            target = self._create_related(target_set, item, **more)
        else:
            version = version_of_tag(self._container, item, target)
            with as_bad_reference(item.path):
                if _changes(target_set, item, replace):
                    self.update(target_set, target, item, replace=replace, version=version, **more)
                elif more and is_new:
                    self.relate(link, target)
        if nav.through is not None and target not in before:
            with as_bad_reference(item.path):
                self.relate(link, target)
        return target

    # --- relations

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


def _key_within(item: EntityBody, nav: edm.NavigationProperty, owner: Any) -> Any | None:
    """The key that an item gives, with what the owner of its collection gives of it."""
    if len(item.type.key) < 2 or nav.through is not None:
        return item.given_key
    held = held_values(nav, owner)
    parts = []
    for name in item.type.key:
        part = item.key.get(name)
        parts.append(held.get(item.type.properties[name].attribute) if part is None else part)
    return None if None in parts else tuple(parts)


def _refuse_deltas(body: EntityBody) -> None:
    """Raise ValidationError where a delta stands in what makes or replaces an entity."""
    refuse_any(
        (related.path, "can be a delta only in a PATCH")
        for related in body.related
        if related.is_delta and not related.is_bound
    )


def _refuse_strange(body: EntityBody, overruled: Collection[str]) -> None:
    """Raise ValidationError where the place overrules a value that the property cannot have.

    Args:
        overruled: the attributes that the place gives; no service sees what the body has for them.
    """
    properties = body.type.by_attribute
    refuse_any(
        (join_path(body.path, prop.name), f"must be one of {', '.join(prop.allowed)}")
        for attribute in overruled
        if (prop := properties.get(attribute)) and prop.allowed
        if (value := body.values.get(attribute)) and value not in prop.allowed
    )


def _refuse_other_place(
    body: EntityBody, values: Mapping[str, Any], single: Mapping[str, Any]
) -> None:
    """Raise ValidationError where the body relates the entity to another than its place does.

    Args:
        values: the attributes that the place gives.
        single: those that the single-valued navigation of the body gives.
    """
    refuse_any(
        (
            join_path(body.path, related.navigation.name),
            "is another one than that in whose collection the entity stands",
        )
        for related in body.related
        if not related.navigation.collection
        if (attribute := related.navigation.foreign_key) is not None
        if attribute in values and attribute in single
        if values[attribute] != single[attribute]
    )


def _gives_own_key(body: EntityBody) -> bool:
    """Whether clients give the keys of this type: an unknown key then means a new entity."""
    is_reference = body.reference is not None
    return not is_reference and not any(
        body.type.properties[name].computed for name in body.type.key
    )


def _changes(entity_set: edm.EntitySet, body: EntityBody, replace: bool) -> bool:
    """Whether a body changes the entity that it names, and the set takes changes.

    A PUT changes all that it does not only refer to; else a body with nothing but the key changes
    nothing. Of a set that takes no changes, a body that was read and is sent back still says which
    entity it is.
    """
    keys = {body.type.properties[name].attribute for name in body.type.key}
    has_more = bool(body.values.keys() - keys or body.partial or body.related)
    if not (has_more or (replace and not body.is_reference)):
        return False
    return entity_set.service is not None and entity_set.updatable


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
    """What an entity of a collection holds of its relation to the entity with this key; nothing
    where a link table has it.
    """
    if nav.through is not None:
        return {}
    return {foreign_key(nav): key, **nav.besides}


def foreign_key(nav: edm.NavigationProperty) -> str:
    """The attribute that holds a relation.

    Raises: NotImplementedInServiceError, none does: the relation follows from something else.
    """
    if nav.foreign_key is None:
        raise NotImplementedInServiceError(f"{nav.name} cannot be changed.")
    return nav.foreign_key
