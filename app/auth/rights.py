"""The rights of a caller, computed from the roles in the database."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from app.permissions import ALL, OWN, PERMISSIONS, PUBLISHED, ROLES, Rights, merge

_SCOPES = frozenset((ALL, OWN, PUBLISHED))
_KNOWN = frozenset(PERMISSIONS)


class RoleRow(NamedTuple):
    """A role as the database has it."""

    name: str
    is_builtin: bool
    permissions: Mapping[str, Any]


def rights_of_role(role: RoleRow) -> Rights:
    """What a role may; a permission that this version does not know gives nothing."""
    if role.is_builtin:
        return ROLES.get(role.name, {})
    return {
        permission: scope
        for permission, scope in role.permissions.items()
        if permission in _KNOWN and scope in _SCOPES
    }


def rights_of_roles(roles: Iterable[RoleRow]) -> dict[str, str]:
    """What all ``roles`` together may."""
    return merge(rights_of_role(role) for role in roles)
