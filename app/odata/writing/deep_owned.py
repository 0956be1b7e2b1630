"""Collections that an entity owns (the lines of an invoice): values for the owner's service.

The service takes the whole list. A member that a body names by its key keeps what the body leaves
out, so a client can send the lines back with one of them changed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from app.errors import ValidationError
from app.odata.model import edm
from app.odata.payload.reader import EntityBody, Related
from app.odata.writing.rows import kept_values
from app.odata.writing.values import is_changeable


def kept_item(type_: edm.EntityType, key: Any) -> dict[str, Any]:
    """What a client could have given for a member, as it stands; empty when it is gone."""
    attributes: list[str] = []
    for prop in type_.properties.values():
        if is_changeable(type_, prop):
            attributes += prop.columns.values() if prop.columns else [prop.attribute]
    return dict(kept_values(type_, key, tuple(attributes)) or {})


def whole_list(
    type_: edm.EntityType,
    related: Related,
    before: Collection[Any],
    read_item: Callable[[EntityBody], dict[str, Any]],
) -> list[dict[str, Any]]:
    """All members that an owned collection has after a write, as values for the owner's service.

    Args:
        type_: of the members.
        before: the keys of those that it has now, in their order.
        read_item: what a body gives for one member.
    Raises: ValidationError, a delta names a member by its URL, for here only keys are read; or
        removes one that is not there.
    """
    if not related.is_delta:
        return [
            (kept_item(type_, item.given_key) if item.given_key in before else {}) | read_item(item)
            for item in related.items
        ]
    for item in related.items:
        if item.given_key is None and (item.removed or item.reference is not None):
            raise ValidationError([(item.path, "must be named by its key")])
        if item.removed and item.given_key not in before:
            raise ValidationError([(item.path, "is removed, and none of those related")])
    named = {item.given_key: item for item in related.items}
    items = []
    for key in before:
        change = named.get(key)
        if change is None:
            items.append(kept_item(type_, key))
        elif not change.removed:
            items.append(kept_item(type_, key) | read_item(change))
    new = [item for item in related.items if item.given_key not in before and not item.removed]
    return [*items, *(read_item(item) for item in new)]
