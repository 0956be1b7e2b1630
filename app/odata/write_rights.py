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
    service, link = target.entity_set.service, target.link
    actions = _ACTIONS[method]
    if link is None and _is_guarded(service) and _may(service, actions[0]):
        return
    sets = [target.entity_set, *([link.entity_set] if link else [])]
    needed: list[str] = []
    for entity_set in sets:
        service = entity_set.service
        if not _is_guarded(service):
            return
        needed += [service.needed_right(action) for action in actions]
    caller = current_caller()
    if not any(allowed(caller, right) for right in needed):
        require(caller, needed[0])


def _may(service: edm.Guarded, action: str) -> bool:
    """Whether the caller has the right that ``action`` needs."""
    return allowed(current_caller(), service.needed_right(action))


def _is_guarded(service: edm.Service | None) -> TypeGuard[edm.Guarded]:
    return service is not None and _has_rights(type(service))


@cache
def _has_rights(kind: type) -> bool:
    """Whether services of this class say which rights they need; to ask a protocol takes long."""
    return issubclass(kind, edm.Guarded)
