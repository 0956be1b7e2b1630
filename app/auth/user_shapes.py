"""Accounts as the API shows them: the user of ``auth/me``, without ``auth`` (contract 11.2)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, select

from app.auth.rights import rights_of_roles, roles_of
from app.auth.schemas import UserSchema
from app.db import records
from app.db.types import AnyRow
from app.errors import NotFoundError
from app.http.schema_parts import answer_body
from app.models.user import User


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


def _user_dict(row: AnyRow, roles: Sequence[AnyRow]) -> dict[str, Any]:
    rights = sorted(rights_of_roles(roles))
    return answer_body(UserSchema, row, roles=[role.name for role in roles], permissions=rights)
