"""Refusing a write before its body is read, where no body could make it allowed.

The service itself decides, with the record at hand; this is for callers who lack every right that
the write could need, so that what they sent is not told to be wrong before they are told to stop.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, TypeGuard

from app.http.security import current_caller
from app.odata.model import edm
from app.odata.writing.targets import Target
from app.permissions import allowed, require


def require_some_right(method: str, target: Target) -> None:
    """Let through whoever may write anything of what ``target`` names.

    Raises: ForbiddenError, with the right that is most likely meant.
    """
    needed = ""
    for entity_set, action in _possible(method, target):
        service = entity_set.service
        if not _is_guarded(service):
            return
        right = service.needed_rights(action)[0]
        if allowed(current_caller(), right):
            return
        needed = needed or right
    require(current_caller(), needed)


def require_right(
    entity_set: edm.EntitySet, action: str, values: Mapping[str, Any] | None = None
) -> None:
    """Let through whoever may do this to entities of a set: ``create``, ``update``, ``delete``,
    ``link``.

    Args:
        values: by attribute, what the address says of a new entity.
    Raises: ForbiddenError.
    """
    service = entity_set.service
    if _is_guarded(service):
        for right in service.needed_rights(action, values):
            require(current_caller(), right)


def _possible(method: str, target: Target) -> Iterator[tuple[edm.EntitySet, str]]:
    """What the write can come to; the caller must have the right to something of it."""
    written, link = target.entity_set, target.link
    if link is not None and link.navigation.owned:
        yield link.entity_set, "update"  # which has it in its body
    elif target.ending == "$ref":
        yield _holder(target)
    elif target.prop is not None:
        yield written, "update"
    elif target.ending == "$value":
        yield written, "update"
        if method == "DELETE":
            yield written, "delete"
    elif method == "POST":
        yield written, "create"
    elif method == "DELETE":
        yield written, "delete"
    else:  # an entity that is not there is made, and a delta may do all of it
        yield written, "update"
        yield written, "create"
        if target.is_collection:
            yield written, "delete"


def _holder(target: Target) -> tuple[edm.EntitySet, str]:
    """Where a relation is kept (deep.py)."""
    link = target.link
    assert link is not None  # a path cannot end in $ref otherwise
    if link.navigation.through is not None:
        return link.entity_set, "link"
    return (target.entity_set if link.navigation.collection else link.entity_set), "update"


def _is_guarded(service: edm.Service | None) -> TypeGuard[edm.Guarded]:
    return service is not None and _has_rights(type(service))


@cache
def _has_rights(kind: type) -> bool:
    """Whether services of this class say which rights they need; to ask a protocol takes long."""
    return issubclass(kind, edm.Guarded)
