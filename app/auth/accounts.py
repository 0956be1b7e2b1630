"""Accounts as callers outside requests: what somebody may read now whose work a job does."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sqlalchemy import Connection, or_, select

from app.auth.rights import SERVICES, person_caller, roles_of, service_caller
from app.clock import utc_now
from app.db.engines import primary_engine
from app.errors import TokenRevokedError
from app.http.security import Caller
from app.models.user import ApiKey, User
from app.permissions import NEVER_BY_KEY, PERMISSIONS


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
