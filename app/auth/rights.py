"""The rights of a caller, computed from the roles in the database.

A role is a row, or anything else, with its ``name``, ``is_builtin`` and ``permissions``: ``ROLE``.
A job does its work with the rights that whoever left it there has now, and ends when one is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, Select, or_, select

from app.auth.epoch import epoch_source
from app.clock import utc_now
from app.db.engines import primary_engine
from app.db.types import AnyRow
from app.errors import ForbiddenError, TokenRevokedError
from app.http.security import Caller, acting_as, make_caller
from app.models.user import ApiKey, Role, User, UserRole
from app.permissions import (
    ALL,
    NEVER_BY_KEY,
    OWN,
    PERMISSIONS,
    PUBLISHED,
    ROLES,
    Rights,
    merge,
    narrow,
)

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


def callers_of(connection: Connection, user_ids: Iterable[int]) -> dict[int, Caller]:
    """The callers of these accounts, by id: a person by the roles, a service by its API key.

    Who may not sign in is left out: disabled, or the key revoked or expired.
    """
    wanted = sorted(set(user_ids))
    if not wanted:
        return {}
    active = (User.status == "active", User.id.in_(wanted))
    roles = roles_of(connection, wanted)
    people = select(User.id, User.username).where(User.kind == "person", *active)
    callers = {
        row.id: person_caller(row.id, row.username, roles.get(row.id, ()))
        for row in connection.execute(people)
    }
    lasting = or_(ApiKey.expires_at.is_(None), ApiKey.expires_at > utc_now())
    services = SERVICES.where(ApiKey.revoked_at.is_(None), lasting, *active)
    return callers | {row.id: service_caller(row) for row in connection.execute(services)}


@contextmanager
def acting_for(user_id: int) -> Iterator[Callable[[], None]]:
    """Run a job as whoever left it, with the rights of this moment.

    Yields: what to call between two steps of the job: it raises TokenRevokedError when the account
        may not sign in any more, ForbiddenError when it has lost a right since.
    Raises: TokenRevokedError.
    """
    epochs = epoch_source.current
    known = epochs.current()
    caller = _caller_of_job(user_id)

    def look() -> None:
        nonlocal known
        if (epoch := epochs.current()) == known:
            return
        rights = _caller_of_job(user_id).rights
        if merge((rights, caller.rights)) != rights:
            raise ForbiddenError("Whoever left this work has lost a right since: it ended there.")
        known = epoch

    with acting_as(caller):
        yield look


def _caller_of_job(user_id: int) -> Caller:
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
