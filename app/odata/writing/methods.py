"""The methods that an address takes, for OPTIONS and for 405 with its ``Allow``; and who may use
them, asked before a body is read that could not make it allowed.

The service itself decides, with the record at hand. Here those are stopped who lack every right
that the write could need, so that what they sent is not told to be wrong before that.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, TypeGuard

from app.http.security import current_caller
from app.odata.model import edm
from app.odata.protocol.request import READ
from app.odata.writing.targets import Link, Target
from app.odata.writing.values import is_changeable
from app.permissions import allowed, require


def allowed_methods(container: edm.EntityContainer, target: Target) -> tuple[str, ...]:
    """The methods of the address that ``target`` was made of."""
    return (*READ, *_writes(container, target))


def _writes(container: edm.EntityContainer, target: Target) -> tuple[str, ...]:
    if target.ending == "$ref":
        return _reference_writes(target)
    if target.prop is not None:
        return _property_writes(target, target.prop)
    writable = _is_writable(target)
    if target.ending == "$value":
        return _media_writes(target) if writable else ()
    if not writable:
        return ()
    owned = target.link is not None and target.link.navigation.owned
    if target.is_collection:
        link = target.link
        if link is None:
            return _set_writes(target.entity_set)
        return ("POST",) if container.is_insertable(link.entity_set, link.navigation) else ()
    methods: tuple[str, ...] = ()
    if owned or target.entity_set.updatable:
        methods += ("PATCH", "PUT")
    if (owned or target.entity_set.deletable) and not target.is_singleton:
        methods += ("DELETE",)
    return methods


def each_methods(entity_set: edm.EntitySet) -> tuple[str, ...]:
    if entity_set.service is None:
        return ()
    changed = ("PATCH",) if entity_set.updatable else ()
    return (*changed, "DELETE") if entity_set.deletable else changed


def _media_writes(target: Target) -> tuple[str, ...]:
    """Of the bytes of a media entity; of no other entity, and of no collection."""
    service: Any = target.entity_set.service
    if target.is_collection or not isinstance(service, edm.MediaService):
        return ()
    return ("PUT", "DELETE") if isinstance(service, edm.ErasableMediaService) else ("PUT",)


def _set_writes(entity_set: edm.EntitySet) -> tuple[str, ...]:
    """Of a whole set: a new entity, and a delta where entities may be made and changed."""
    if not entity_set.insertable:
        return ()
    return ("POST", "PATCH") if entity_set.updatable and entity_set.takes_deltas else ("POST",)


def _is_writable(target: Target) -> bool:
    """Whether there is a service: of the set, or of the owner of owned entities."""
    link = target.link
    if link is not None and link.navigation.owned:
        return link.entity_set.service is not None and link.entity_set.updatable
    return target.entity_set.service is not None


def _property_writes(target: Target, prop: edm.Property) -> tuple[str, ...]:
    if not _is_writable(target) or not target.entity_set.updatable:
        return ()
    if prop.type == edm.STREAM:
        is_written = isinstance(target.entity_set.service, edm.StreamService)
        return ("PUT", "DELETE") if is_written else ()
    if not is_changeable(target.type, prop):
        return ()
    nullable = (target.member or prop).nullable
    methods = ("PUT",) if target.ending == "$value" else ("PUT", "PATCH")
    if isinstance(prop.type, edm.CollectionType):
        methods = ("POST", *methods)
    return (*methods, "DELETE") if nullable else methods


def _reference_writes(target: Target) -> tuple[str, ...]:
    link = target.link
    assert link is not None  # a path cannot end in $ref otherwise
    if not _is_relation_writable(target.entity_set, link):
        return ()
    if target.is_collection:
        return ("POST", "PUT", "DELETE")
    return ("DELETE",) if link.navigation.collection else ("PUT", "DELETE")


def _is_relation_writable(related: edm.EntitySet, link: Link) -> bool:
    """Whether the entity that holds a relation can be given another (deep.py).

    Where the service sets the foreign key, a change would be answered and not be made.

    Args:
        related: the set of the entities that the navigation leads to.
    """
    navigation = link.navigation
    if navigation.through is not None:
        return link.entity_set.updatable and isinstance(link.entity_set.service, edm.LinkingService)
    if navigation.foreign_key is None:
        return False
    holder = related if navigation.collection else link.entity_set
    prop = holder.type.by_attribute.get(navigation.foreign_key)
    is_given = prop is None or is_changeable(holder.type, prop)
    return is_given and holder.updatable and holder.service is not None


# --- rights


def require_right(
    entity_set: edm.EntitySet, *actions: str, values: Mapping[str, Any] | None = None
) -> None:
    """Let through whoever may do one of these to entities of a set: ``create``, ``update``,
    ``delete``, ``link``.

    Args:
        values: by attribute, what the address says of a new entity.
    Raises: ForbiddenError, with a right that the first of them needs.
    """
    service = entity_set.service
    if not _is_guarded(service):
        return
    caller = current_caller()
    lacking = []
    for action in actions:
        needed = service.needed_rights(action, values)
        lacking.append([right for right in needed if not allowed(caller, right)])
        if not lacking[-1]:
            return
    require(caller, lacking[0][0])


def _is_guarded(service: edm.Service | None) -> TypeGuard[edm.Guarded]:
    return service is not None and _has_rights(type(service))


@cache
def _has_rights(kind: type) -> bool:
    """Whether services of this class say which rights they need; to ask a protocol takes long."""
    return issubclass(kind, edm.Guarded)
