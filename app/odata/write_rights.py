"""Refusing a write before its body is read, where no body could make it allowed.

The service itself decides, with the record at hand; this is for callers who lack every right that
the write could need, so that what they sent is not told to be wrong before they are told to stop.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TypeGuard

from app.odata import edm
from app.odata.write_targets import Target
from app.permissions import allowed, require
from app.security import current_caller

# What a method may come to: PATCH and PUT also make an entity, or change the members of a set.
_ACTIONS: Mapping[str, tuple[str, ...]] = {
    "POST": ("create", "update"),
    "PATCH": ("update", "create", "delete"),
    "PUT": ("update", "create"),
    "DELETE": ("delete", "update"),
}


def require_some_right(method: str, target: Target) -> None:
    """Let through whoever may write anything of what ``target`` names.

    Raises: ForbiddenError or InsufficientScopeError, with the right that is most likely meant.
    """
    link, needed = target.link, ""
    for entity_set in (target.entity_set, link.entity_set) if link else (target.entity_set,):
        service = entity_set.service
        if not _is_guarded(service):
            return
        for action in _ACTIONS[method]:
            right = service.needed_right(action)
            if allowed(current_caller(), right):
                return
            needed = needed or right
    require(current_caller(), needed)


def _is_guarded(service: edm.Service | None) -> TypeGuard[edm.Guarded]:
    return service is not None and _has_rights(type(service))


@cache
def _has_rights(kind: type) -> bool:
    """Whether services of this class say which rights they need; to ask a protocol takes long."""
    return issubclass(kind, edm.Guarded)
