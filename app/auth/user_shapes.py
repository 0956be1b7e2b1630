"""Accounts as the API shows them: the user of ``auth/me``, without ``auth`` (contract 11.2)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, select

from app.auth.rights import RoleRow, rights_of_roles
from app.auth.schemas import UserSchema
from app.db import records
from app.db.types import AnyRow
from app.errors import NotFoundError
from app.http.schema_parts import answer_body
from app.models.user import Role, User, UserRole


def user_dicts(connection: Connection, rows: Iterable[AnyRow]) -> list[dict[str, Any]]:
    """Rows of ``users`` with their roles and what these permit."""
    rows = list(rows)
    roles = roles_of(connection, [row.id for row in rows])
    return [_user_dict(row, roles.get(row.id, [])) for row in rows]


def get_user_dict(user_id: int) -> dict[str, Any]:
    """One person.

    Raises: NotFoundError.
    """
    statement = select(User.__table__).where(User.id == user_id, User.kind == "person")
    with records.looking() as connection:
        users = user_dicts(connection, connection.execute(statement))
    if not users:
        raise NotFoundError(f"There is no user {user_id}.")
    return users[0]


def roles_of(connection: Connection, user_ids: Sequence[int]) -> dict[int, list[RoleRow]]:
    """``{user id: roles}``."""
    statement = (
        select(UserRole.user_id, Role.name, Role.is_builtin, Role.permissions)
        .join(Role, Role.id == UserRole.role_id)
        .where(UserRole.user_id.in_(user_ids))
        .order_by(Role.id)
    )
    roles: dict[int, list[RoleRow]] = {}
    for user_id, *role in connection.execute(statement):
        roles.setdefault(user_id, []).append(RoleRow(*role))
    return roles


def _user_dict(row: AnyRow, roles: Sequence[RoleRow]) -> dict[str, Any]:
    rights = sorted(rights_of_roles(roles))
    return answer_body(UserSchema, row, roles=[role.name for role in roles], permissions=rights)
