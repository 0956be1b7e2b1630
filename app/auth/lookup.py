"""Who stands behind a session or an API key, and with which rights: one statement each.

The epoch is read by the same statement, so rights and epoch are of one moment: what is remembered
under that epoch was true in it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Engine, Select, bindparam, select

from app.auth.rights import ROLE, SERVICES, person_caller, service_caller
from app.clock import utc_now
from app.db.types import AnyRow
from app.errors import ApiKeyInvalidError, TokenRevokedError
from app.http.security import Caller
from app.models.user import ApiKey, Role, SecurityEpoch, Session, User, UserRole

_epoch = select(SecurityEpoch.value).where(SecurityEpoch.id == 1).scalar_subquery()
_SESSION: Select[Any] = (
    select(
        _epoch.label("epoch"), User.id, User.username, User.status, Session.revoked_at,
        Session.expires_at, *ROLE,
    )
    .select_from(Session)
    .join(User, User.id == Session.user_id)
    .outerjoin(UserRole, UserRole.user_id == User.id)
    .outerjoin(Role, Role.id == UserRole.role_id)
    .where(Session.key == bindparam("key"))
    .order_by(Role.id)
)  # fmt: skip
_API_KEY = SERVICES.add_columns(_epoch.label("epoch")).where(ApiKey.key_hash == bindparam("hash"))


@dataclass(frozen=True, slots=True)
class VerifiedCaller:
    """A caller whose rights hold while the security epoch is ``epoch``, and until ``expires``.

    ``expires`` is in seconds since 1970. ``by_basic``: by the user name and password of a Basic
    header.
    """

    caller: Caller
    epoch: int
    expires: float
    by_basic: bool = False


def find_by_session(engine: Engine, user_id: int, session_key: str) -> VerifiedCaller:
    """The person of a session.

    Raises: TokenRevokedError, the session has ended or the account may not sign in.
    """
    with engine.connect() as connection:
        rows = connection.execute(_SESSION, {"key": session_key}).all()
    if not rows or rows[0].id != user_id or not _session_lives(rows[0]):
        raise TokenRevokedError("The session has ended: sign in again.")
    roles = [row for row in rows if row.name is not None]
    caller = person_caller(user_id, rows[0].username, roles, session_key)
    return VerifiedCaller(caller, rows[0].epoch, rows[0].expires_at.timestamp())


def find_by_api_key(engine: Engine, key: str) -> VerifiedCaller:
    """The account of an API key: its role's rights, narrowed by its scopes.

    Raises: ApiKeyInvalidError, unknown, expired or revoked.
    """
    with engine.connect() as connection:
        row = connection.execute(_API_KEY, {"hash": hash_api_key(key)}).first()
    if row is None or row.revoked_at is not None or row.status != "active" or _past(row.expires_at):
        raise ApiKeyInvalidError("The API key is not valid.")
    expires = row.expires_at.timestamp() if row.expires_at else float("inf")
    return VerifiedCaller(service_caller(row), row.epoch, expires)


def hash_api_key(key: str) -> str:
    """What is kept of a key: it has 256 random bits, so a quick digest is enough."""
    return hashlib.sha256(key.encode()).hexdigest()


def _session_lives(row: AnyRow) -> bool:
    return row.revoked_at is None and row.status == "active" and not _past(row.expires_at)


def _past(instant: datetime | None) -> bool:
    return instant is not None and instant <= utc_now()
