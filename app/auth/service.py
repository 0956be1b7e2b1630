"""Logging in and out, and who one is (contract 11.1)."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Row, select, update

from app import audit
from app.auth import lockout
from app.auth.passwords import passwords
from app.auth.sessions import TokenPair, end_sessions, open_session
from app.auth.users import change_password, emit_user_event, user_dicts
from app.clock import utc_now
from app.db.engines import primary_engine
from app.errors import ForbiddenError, InvalidCredentialsError, ValidationError
from app.extensions import db
from app.http.security import Caller, current_caller
from app.models.user import ApiKey, Session, User
from app.writing.formats import fold_name


def log_in(username: str, password: str) -> TokenPair:
    """Open a session.

    The attempt is counted and committed first, and nothing is locked while the hash is computed;
    an unknown name takes the same way, and the same time.
    Raises: AccountLockedError, also for the right password; InvalidCredentialsError.
    """
    row = _check_password(username, password)
    now = utc_now()
    changes: dict[str, Any] = {"last_login_at": now}
    if passwords.current.is_outdated(row.password_hash):
        changes["password_hash"] = passwords.current.hash(password)
    # Disabled, or given another password, while the hash was computed: no session then.
    same = (
        (User.id == row.id) & (User.status == "active") & (User.password_hash == row.password_hash)
    )
    changed = db.session.connection().execute(update(User).where(same).values(**changes))
    if not changed.rowcount:
        raise InvalidCredentialsError("User name or password is wrong.")
    lockout.forget_failures(username)
    pair = open_session(row.id)
    audit.record("auth.login", "User", row.id, actor_id=row.id)
    return pair


def log_out() -> None:
    """End the caller's session.

    Raises: ForbiddenError, an API key has none.
    """
    caller = _require_session()
    end_sessions(Session.key == caller.session_key, "logout")
    audit.record("auth.logout", "User", caller.user_id)


def change_own_password(current_password: str, new_password: str) -> None:
    """Set a new password; wrong tries of the current one count as failed logins.

    Raises: ForbiddenError, an API key has none; AccountLockedError; ValidationError, the current
        one is wrong, or the new one short or common.
    """
    caller = _require_session()
    try:
        _check_password(caller.username, current_password)
    except InvalidCredentialsError as error:
        raise ValidationError([("currentPassword", "is not the current password")]) from error
    lockout.forget_failures(caller.username)
    change_password(caller.user_id, new_password, keep_session=caller.session_key)


def describe_caller(credential_expires: float) -> dict[str, Any]:
    """The caller, and how they signed in.

    Args:
        credential_expires: end of the token or key, in seconds since 1970; infinite without one.
    """
    caller = current_caller()
    with primary_engine().connect() as connection:
        rows = connection.execute(select(User.__table__).where(User.id == caller.user_id)).all()
        (user,) = user_dicts(connection, rows)
        used = select(ApiKey.prefix, ApiKey.scopes).where(ApiKey.id == caller.api_key_id)
        key = connection.execute(used).first() if caller.api_key_id else None
    # An account of a key has no roles of its own, and a key has fewer rights than its role.
    user["roles"], user["permissions"] = list(caller.roles), sorted(caller.rights)
    user["auth"] = {
        "type": caller.via,
        "sessionId": caller.session_key,
        "keyPrefix": key.prefix if key else None,
        "scopes": key.scopes if key else None,
        "expiresAt": _instant(credential_expires),
    }
    return user


def _check_password(username: str, password: str) -> Row[int, str, str | None]:
    """The account that name and password fit; commits what it counts.

    Raises: AccountLockedError; InvalidCredentialsError.
    """
    lockout.count_attempt(username)
    row = _find_account(username)
    is_right = passwords.current.is_right(password, row.password_hash if row else None)
    if is_right and row is not None and row.status == "active":
        return row
    _note_failure(username, row)
    raise InvalidCredentialsError("User name or password is wrong.")


def _find_account(username: str) -> Row[int, str, str | None] | None:
    with primary_engine().connect() as connection:
        return connection.execute(
            select(User.id, User.status, User.password_hash).where(
                User.username_key == fold_name(username), User.kind == "person"
            )
        ).first()


def _note_failure(username: str, row: Row[int, str, str | None] | None) -> None:
    """Lock the name if that was the fifth failure; committed, though the request fails."""
    user_id = row.id if row else None
    audit.record("auth.login_failed", "User", user_id)
    if lockout.lock_if_due(username):
        audit.record("auth.locked", "User", user_id)
        if user_id is not None:
            emit_user_event("user.locked", user_id)
    db.session.commit()


def _instant(seconds: float) -> datetime | None:
    return None if math.isinf(seconds) else datetime.fromtimestamp(seconds, UTC)


def _require_session() -> Caller:
    caller = current_caller()
    if caller.session_key is None:
        raise ForbiddenError("An API key has no session: this is for people who logged in.")
    return caller
