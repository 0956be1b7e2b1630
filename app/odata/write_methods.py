"""Which methods an address takes, for 405 and its ``Allow`` (RFC 9110, 15.5.6)."""

from __future__ import annotations

from app.odata import edm
from app.odata.csdl_capabilities import is_insertable
from app.odata.write_targets import Target
from app.odata.write_values import is_changeable

READ = ("GET", "HEAD")


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
        has_stream = target.type.has_stream and not target.is_collection
        return ("PUT", "DELETE") if has_stream and writable else ()
    if not writable:
        return ()
    owned = target.link is not None and target.link.navigation.owned
    if target.is_collection:
        link = target.link
        if link is None:
            return _set_writes(target.entity_set)
        return ("POST",) if is_insertable(container, link.entity_set, link.navigation) else ()
    methods: tuple[str, ...] = ()
    if owned or target.entity_set.updatable:
        methods += ("PATCH", "PUT")
    if (owned or target.entity_set.deletable) and not target.is_singleton:
        methods += ("DELETE",)
    return methods


def _set_writes(entity_set: edm.EntitySet) -> tuple[str, ...]:
    """Of a whole set: a new entity, and a delta where entities may be made and changed."""
    if not entity_set.insertable:
        return ()
    return ("POST", "PATCH") if entity_set.updatable else ("POST",)


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
        return ("PUT", "DELETE")
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
    if link.navigation.foreign_key is None and link.navigation.through is None:
        return ()
    if target.is_collection:
        return ("POST", "PUT", "DELETE")
    return ("DELETE",) if link.navigation.collection else ("PUT", "DELETE")
