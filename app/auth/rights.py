"""The rights of a caller, computed from the roles in the database.

A role is a row, or anything else, with its ``name``, ``is_builtin`` and ``permissions``: ``ROLE``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, Select, select

from app.db.types import AnyRow
from app.http.security import Caller, make_caller
from app.models.user import ApiKey, Role, User, UserRole
from app.permissions import ALL, OWN, PERMISSIONS, PUBLISHED, ROLES, Rights, merge, narrow

ROLE = (Role.name, Role.is_builtin, Role.permissions)
# The accounts of API keys, as ``service_caller`` reads them.
SERVICES: Select[Any] = (
    select(
        User.id, User.username, User.status, ApiKey.id.label("key_id"), ApiKey.scopes,
        ApiKey.expires_at, ApiKey.revoked_at, *ROLE,
    )
    .select_from(ApiKey)
    .join(User, User.id == ApiKey.user_id)
    .join(Role, Role.id == ApiKey.role_id)
)  # fmt: skip
_SCOPES = frozenset((ALL, OWN, PUBLISHED))
_KNOWN = frozenset(PERMISSIONS)


def rights_of_role(role: Role | AnyRow) -> Rights:
    """What a role may; a permission that this version does not know gives nothing."""
    if role.is_builtin:
        return ROLES.get(role.name, {})
    return {
        permission: scope
        for permission, scope in role.permissions.items()
        if permission in _KNOWN and scope in _SCOPES
    }


def rights_of_roles(roles: Iterable[AnyRow]) -> dict[str, str]:
    """What all ``roles`` together may."""
    return merge(rights_of_role(role) for role in roles)


def roles_of(connection: Connection, user_ids: Sequence[int]) -> dict[int, list[AnyRow]]:
    """``{user id: roles}``."""
    statement = (
        select(UserRole.user_id, *ROLE)
        .join(Role, Role.id == UserRole.role_id)
        .where(UserRole.user_id.in_(user_ids))
        .order_by(Role.id)
    )
    roles: dict[int, list[AnyRow]] = {}
    for row in connection.execute(statement):
        roles.setdefault(row.user_id, []).append(row)
    return roles


def person_caller(
    user_id: int, username: str, roles: Sequence[AnyRow], session_key: str | None = None
) -> Caller:
    """A person, with the rights of the roles."""
    return make_caller(
        user_id, username, "jwt", rights_of_roles(roles),
        roles=tuple(role.name for role in roles), session_key=session_key,
    )  # fmt: skip


def service_caller(row: AnyRow) -> Caller:
    """The account of an API key: the rights of its role, narrowed by its scopes."""
    rights = rights_of_role(row)
    return make_caller(
        row.id, row.username, "apiKey", narrow(rights, row.scopes),
        role_rights=rights, roles=(row.name,), api_key_id=row.key_id,
    )  # fmt: skip
