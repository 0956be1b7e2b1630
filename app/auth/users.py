"""User accounts: making them, changing them, ending what they may do; how the API shows them."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, func, select

from app import audit, events
from app.auth.epoch import bump_epoch
from app.auth.lockout import forget_failures
from app.auth.passwords import check_new_password, passwords
from app.auth.rights import rights_of_roles, roles_of
from app.auth.roles import ADMIN, find_roles, set_roles
from app.auth.schemas import UserSchema
from app.auth.sessions import end_sessions
from app.clock import utc_now
from app.db import records
from app.db.transactions import advisory_lock
from app.db.types import AnyRow, json_text
from app.errors import (
    DuplicateError,
    InvalidStateError,
    NotFoundError,
    gathered,
    refuse_any,
)
from app.extensions import db
from app.http.schema_parts import answer_body
from app.models.user import Role, Session, User, UserRole
from app.odata.names import camel
from app.writing.formats import fold_name
from app.writing.rules import RowRules
from app.writing.validation import validate

ACCOUNT = RowRules(
    model=User,
    writable=("username", "email", "display_name", "language", "timezone", "status"),
    filled=frozenset(("display_name",)),
)


def create_user(
    *,
    username: str,
    email: str | None,
    display_name: str | None,
    password: str,
    roles: Sequence[str],
    language: str = "en",
    timezone: str = "UTC",
) -> int:
    """Make an account that may sign in; returns its id.

    Raises: ValidationError, with each field; DuplicateError, the name is taken in some spelling.
    """
    username = username.strip()
    values = {"username": username, "email": email, "language": language, "timezone": timezone}
    if display_name:
        values["display_name"] = display_name
    account, problems = validate(ACCOUNT, values, partial=False)
    gathered(
        lambda: refuse_any(problems),
        lambda: check_new_password(password, username, email, display_name),
        lambda: find_roles(roles),
    )
    user_id = insert_account(
        kind="person",
        password_hash=passwords.current.hash(password),
        password_changed_at=utc_now(),
        **{"display_name": username, **account},
    )
    set_roles(user_id, roles)
    audit.record(
        "user.created", "User", user_id, after={"username": username, "roles": list(roles)}
    )
    emit_user_event("user.created", user_id)
    return user_id


def check_account(account: Mapping[str, Any]) -> None:
    """Look at what is said of an account, as far as it can be said without a row.

    Raises: ValidationError, with each field.
    """
    values = {name: account[name] for name in ACCOUNT.writable if account.get(name) is not None}
    problems = validate(ACCOUNT, values, partial=True)[1]
    password = account.get("password")
    names = (account.get(name) for name in ("username", "email", "display_name"))
    gathered(
        lambda: refuse_any(problems),
        lambda: None if password is None else check_new_password(password, *names),
    )


def insert_account(*, username: str, **values: Any) -> int:
    """The row of an account, a person's or an API key's; returns its id.

    Raises: DuplicateError, the name is taken in some spelling.
    """
    now = utc_now()
    key = fold_name(username)
    advisory_lock(f"username {key}")  # else the column refuses it, which no body has
    if db.session.execute(select(User.id).where(User.username_key == key)).first():
        raise DuplicateError("This name is taken.", [("username", "is taken already")])
    row = {"created_at": now, "updated_at": now, "username": username, "username_key": key}
    return records.insert(User, {**row, **values})


def update_user(user_id: int, changes: Mapping[str, Any]) -> None:
    """Change an account; what it loses, it loses at its next request.

    Args:
        changes: of ``email``, ``display_name``, ``language``, ``timezone``, ``status``, ``roles``.
    Raises: NotFoundError; ValidationError; InvalidStateError, it is the last administrator.
    """
    row = _get_person(user_id, lock=True)  # roles that two give at once do not add up
    values = dict(changes)
    roles: Sequence[str] | None = values.pop("roles", None)
    columns, problems = validate(ACCOUNT, values, partial=True)
    gathered(lambda: refuse_any(problems), lambda: find_roles(roles or ()))
    before = {name: getattr(row, name) for name in columns}
    role_names = [role.name for role in roles_of(records.connection(), [user_id]).get(user_id, ())]
    if roles is not None:
        before["roles"] = role_names
        set_roles(user_id, roles)
    records.update(User, user_id, {**columns, "updated_at": utc_now()})
    if roles is not None or "status" in columns:
        # The lock of the epoch's row: two administrators cannot remove each other.
        bump_epoch()
        if ADMIN in role_names and row.status == "active":
            _require_an_administrator()
    audit.record("user.updated", "User", user_id, before=_wire(before), after=_wire(changes))
    if columns.get("status") == "disabled" and row.status != "disabled":
        end_sessions(Session.user_id == user_id, "disabled")
        emit_user_event("user.disabled", user_id)


def reset_password(user_id: int, password: str | None) -> str | None:
    """Set a password for somebody else; every session of theirs ends.

    Returns: the random password that was made, when none was given.
    Raises: NotFoundError; ValidationError.
    """
    row = _get_person(user_id)
    generated = None if password else secrets.token_urlsafe(15)
    _set_password(row, password or generated or "", "password")
    end_sessions(Session.user_id == user_id, "password reset")
    forget_failures(row.username)
    audit.record("user.password_reset", "User", user_id)
    return generated


def change_password(user_id: int, new_password: str, *, keep_session: str | None) -> None:
    """Set one's own password; one's other sessions end.

    Raises: ValidationError, the new one is short or common.
    """
    row = _get_person(user_id)
    _set_password(row, new_password, "newPassword")
    others = (Session.user_id == user_id) & (Session.key != (keep_session or ""))
    end_sessions(others, "password change")
    audit.record("user.password_changed", "User", user_id)


def unlock_user(user_id: int) -> None:
    """End the lock that failed logins brought about.

    Raises: NotFoundError.
    """
    forget_failures(_get_person(user_id).username)
    audit.record("user.unlocked", "User", user_id)


def language_of_account(user_id: int) -> str | None:
    """The language that a user has chosen, ``UNSAID`` too; None of a caller that is no user."""
    with records.looking() as connection:
        return connection.execute(select(User.language).where(User.id == user_id)).scalar()


def find_user_id(username: str) -> int | None:
    """The id of the person of this name, in whatever spelling."""
    user_id: int | None = db.session.execute(
        select(User.id).where(User.username_key == fold_name(username), User.kind == "person")
    ).scalar()
    return user_id


def emit_user_event(name: str, user_id: int) -> None:
    """Emit ``user.created`` and the like, with the account as it is now."""
    row = records.get(User, user_id)
    user = {"id": row.id, "username": row.username, "email": row.email, "status": row.status}
    events.emit(name, "User", user_id, representation=json_text(user))


def _get_person(user_id: int, *, lock: bool = False) -> User:
    row = records.read(User, user_id, lock=lock)
    if row is None or row.kind != "person":
        raise NotFoundError(f"There is no user {user_id}.")
    return row


def _set_password(row: User, password: str, field: str) -> None:
    check_new_password(password, row.username, row.email, row.display_name, field=field)
    now = utc_now()
    hashed = passwords.current.hash(password)
    records.update(
        User, row.id, {"password_hash": hashed, "password_changed_at": now, "updated_at": now}
    )


def _require_an_administrator() -> None:
    administrators = (
        select(func.count())
        .select_from(User)
        .join(UserRole, UserRole.user_id == User.id)
        .join(Role, Role.id == UserRole.role_id)
        .where(Role.name == ADMIN, User.status == "active", User.kind == "person")
    )
    if not db.session.execute(administrators).scalar():
        raise InvalidStateError("This is the last administrator: make another one first.")


def _wire(values: Mapping[str, Any]) -> dict[str, Any]:
    return {camel(name): value for name, value in values.items()}


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
