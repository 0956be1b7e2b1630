"""Accounts as callers outside requests: what somebody may read now whose work a job does."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, Select, or_, select

from app.auth.rights import RoleRow, rights_of_role, rights_of_roles
from app.clock import utc_now
from app.db.engines import primary_engine
from app.errors import TokenRevokedError
from app.http.security import Caller, make_caller
from app.models.user import ApiKey, Role, User, UserRole
from app.permissions import NEVER_BY_KEY, PERMISSIONS, narrow

_ROLE = (Role.name, Role.is_builtin, Role.permissions)
_PEOPLE: Select[Any] = (
    select(User.id, User.username, *_ROLE)
    .select_from(User)
    .outerjoin(UserRole, UserRole.user_id == User.id)
    .outerjoin(Role, Role.id == UserRole.role_id)
    .where(User.status == "active", User.kind == "person")
    .order_by(User.id, Role.id)
)


def callers_of(connection: Connection, user_ids: Iterable[int]) -> dict[int, Caller]:
    """The callers of these accounts, by id: a person by the roles, a service by its API key.

    Who may not sign in is left out: disabled, or the key revoked or expired.
    """
    wanted = sorted(set(user_ids))
    if not wanted:
        return {}
    roles: dict[int, list[RoleRow]] = {}
    names: dict[int, str] = {}
    for row in connection.execute(_PEOPLE.where(User.id.in_(wanted))):
        names[row.id] = row.username
        held = roles.setdefault(row.id, [])
        if row.name is not None:
            held.append(RoleRow(row.name, row.is_builtin, row.permissions))
    people = {
        user_id: make_caller(
            user_id, names[user_id], "jwt", rights_of_roles(held),
            roles=tuple(role.name for role in held),
        )
        for user_id, held in roles.items()
    }  # fmt: skip
    return people | _services(connection, wanted)


def caller_of_job(user_id: int) -> Caller:
    """The caller of a job that somebody left to the worker, with the rights of this moment.

    Raises: TokenRevokedError, the account may not sign in any more.
    """
    with primary_engine().connect() as connection:
        caller = callers_of(connection, [user_id]).get(user_id)
    if caller is None:
        raise TokenRevokedError("The account may not sign in any more.")
    return replace(caller, via="job", role_rights=caller.rights, api_key_id=None)


def is_administrator(caller: Caller) -> bool:
    """Whether ``caller`` has the role of administrators, by an API key in its whole width."""
    return "Admin" in caller.roles and all(
        permission in caller.rights for permission in PERMISSIONS if permission not in NEVER_BY_KEY
    )


def _services(connection: Connection, wanted: list[int]) -> dict[int, Caller]:
    now = utc_now()
    statement = (
        select(User.id, User.username, ApiKey.id.label("key_id"), ApiKey.scopes, *_ROLE)
        .select_from(User)
        .join(ApiKey, ApiKey.user_id == User.id)
        .join(Role, Role.id == ApiKey.role_id)
        .where(
            User.status == "active", User.id.in_(wanted), ApiKey.revoked_at.is_(None),
            or_(ApiKey.expires_at.is_(None), ApiKey.expires_at > now),
        )
    )  # fmt: skip
    callers = {}
    for row in connection.execute(statement):
        rights = rights_of_role(RoleRow(row.name, row.is_builtin, row.permissions))
        callers[row.id] = make_caller(
            row.id, row.username, "apiKey", narrow(rights, row.scopes),
            role_rights=rights, roles=(row.name,), api_key_id=row.key_id,
        )  # fmt: skip
    return callers
