"""From what a body gave to what a service takes, for each kind of write.

Of a collection that an entity owns (the lines of an invoice) the service takes the whole list. A
member that a body names by its key keeps what the body leaves out, so a client can send the lines
back with one of them changed.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from typing import Any

from app.errors import NotFoundError, ValidationError
from app.odata.model import edm
from app.odata.payload.reader import EntityBody, Related
from app.odata.payload.values import Problems, join_path
from app.odata.writing.rows import kept_rows, kept_values


def creation_values(body: EntityBody) -> dict[str, Any]:
    """Everything given; a derived type says which one it is."""
    values = {**body.values, **body.partial}
    if body.type.discriminator is not None:
        attribute, value = body.type.discriminator
        values[attribute] = value
    return values


def change_values(body: EntityBody, key: Any) -> dict[str, Any]:
    """What a PATCH changes: the values given, complex ones merged into what is kept.

    A dynamic property of an open type that is set to null is removed: to OData both are the same.
    Raises: NotFoundError, there is no such entity.
    """
    values = _changeable(body, body.values)
    partial = _changeable(body, body.partial)
    if partial:
        stored = kept_values(body.type, key, tuple(partial))
        if stored is None:
            raise NotFoundError(f"There is no {body.type.name} {key}.")
        for attribute, members in partial.items():
            declared = _complex_type(body.type, attribute).properties
            merged = {**(stored[attribute] or {}), **members}
            values[attribute] = {
                name: value
                for name, value in merged.items()
                if value is not None or name in declared
            }
    return values


def replacement_values(body: EntityBody, related: frozenset[str]) -> dict[str, Any]:
    """What a PUT changes: the values given, all others back to their defaults, kept ones excepted.

    What the entity is addressed by it keeps, too: its address leads to it still.

    Args:
        related: attributes that a navigation property of the body sets.
    Raises: ValidationError, a property without a default is missing.
    """
    values = _changeable(body, {**body.values, **body.partial})
    problems = Problems()
    settled = {*values, *related, *body.address}
    for prop in body.type.properties.values():
        if prop.preserved or not is_changeable(body.type, prop):
            continue
        if prop.columns is not None:
            for column in prop.columns.values():
                values.setdefault(column, None)
        elif prop.attribute not in settled:
            default = default_of(prop)
            if default is not None or prop.nullable:
                values[prop.attribute] = default
            elif prop.required:
                problems.add(join_path(body.path, prop.name), "is required")
            # Else the service made up the value at creation; it has no default to go back to.
    problems.raise_any()
    return values


def default_of(prop: edm.Property) -> Any:
    """The value of a property that nobody gave."""
    return prop.default() if callable(prop.default) else copy.copy(prop.default)


def is_changeable(type_: edm.EntityType, prop: edm.Property) -> bool:
    return not (
        prop.computed
        or prop.immutable
        or prop.expression is not None
        or prop.name in type_.key
        or prop.type == edm.STREAM
    )


def _changeable(body: EntityBody, values: dict[str, Any]) -> dict[str, Any]:
    """``values`` without those that only a creation may set."""
    fixed = _fixed(body.type)
    if fixed.isdisjoint(values):
        return dict(values)
    return {attribute: value for attribute, value in values.items() if attribute not in fixed}


@lru_cache(maxsize=256)
def _fixed(type_: edm.EntityType) -> frozenset[str]:
    return frozenset(
        prop.attribute
        for prop in type_.properties.values()
        if prop.immutable or prop.name in type_.key
    )


def _complex_type(type_: edm.EntityType, attribute: str) -> edm.ComplexType:
    kind = type_.by_attribute[attribute].type
    assert isinstance(kind, edm.ComplexType)  # only such values are partial
    return kind


def kept_items(type_: edm.EntityType, keys: Sequence[Any]) -> dict[Any, dict[str, Any]]:
    """Key -> what a client could have given for a member, as it stands."""
    attributes: list[str] = []
    for prop in type_.properties.values():
        if is_changeable(type_, prop):
            attributes += prop.columns.values() if prop.columns else [prop.attribute]
    return kept_rows(type_, keys, tuple(attributes))


def whole_list(
    type_: edm.EntityType,
    related: Related,
    before: Collection[Any],
    read_item: Callable[[EntityBody, Any], dict[str, Any]],
    *,
    replace: bool = False,
) -> list[dict[str, Any]]:
    """All members that an owned collection has after a write, as values for the owner's service.

    Args:
        type_: of the members.
        before: the keys of those that it has now, in their order.
        read_item: what a body gives for the member with a key; None for a new one.
        replace: a member keeps nothing of what its body leaves out but its place.
    Raises: ValidationError, a member is named twice; a delta names one by its URL, for here only
        keys are read, or removes one that is not there.
    """
    members: list[tuple[Any, EntityBody | None]] = []
    for item in related.items:
        key = item.given_key if item.given_key in before else None
        if related.is_delta and item.given_key is None and (item.removed or item.reference):
            raise ValidationError([(item.path, "must be named by its key")])
        if item.removed and key is None:
            raise ValidationError([(item.path, "is removed, and none of those related")])
        if key is not None and key in dict(members):
            raise ValidationError([(item.path, "is named before, too")])
        members.append((key, item))
    if related.is_delta:
        named = dict(members)
        new = [(key, item) for key, item in members if key is None]
        members = [(key, named.get(key)) for key in before] + new
    stored = kept_items(type_, [key for key, _ in members if key is not None])
    whole: list[dict[str, Any]] = []
    for key, member in members:
        if member is None or not member.removed:
            values = stored.get(key, {})
            if replace and member is not None:
                values = {name: values[name] for name in values if name == type_.ordered_by}
            whole.append(values)
        if member is not None and not member.removed:
            member.position = len(whole) - 1
            whole[-1] |= read_item(member, key)
    if related.at is not None and type_.ordered_by is not None:
        whole = _with_last_at(related.at, whole, type_.ordered_by)
        related.items[-1].position = related.at
    return whole


def _with_last_at(
    position: int, members: Sequence[dict[str, Any]], ordered_by: str
) -> list[dict[str, Any]]:
    """``members`` in the order of their numbers, but the last of them at ``position``."""
    *others, last = members
    others.sort(key=lambda member: member[ordered_by])
    others.insert(position, last)
    return [member | {ordered_by: number} for number, member in enumerate(others, start=1)]
