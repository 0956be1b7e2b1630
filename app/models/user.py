"""People and integrations that may sign in, the roles they have and the sessions they hold."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.db.types import Identifier, JsonText, UtcDateTime, string
from app.extensions import Model
from app.models.columns import Record, column, foreign_key

USER_STATUSES = ("active", "disabled")
# A service account stands for one API key: it owns and creates records, and cannot sign in.
USER_KINDS = ("person", "service")


class User(Record):
    """An account. ``username`` and ``email`` are compared in their folded form."""

    __tablename__ = "users"

    username: Mapped[str] = column("Name to sign in with.", string(150), format="user_name")
    username_key: Mapped[str] = column(
        "Folded username: unique without regard to case.", string(150), unique=True
    )
    email: Mapped[str | None] = column("E-mail address.", string(254), format="email")
    display_name: Mapped[str] = column("Name to show.", string(200))
    kind: Mapped[str] = column(
        "A person, or an API key's account.", default="person", allowed=USER_KINDS
    )
    status: Mapped[str] = column(
        "Whether the account may sign in.", default="active", allowed=USER_STATUSES
    )
    password_hash: Mapped[str | None] = column("argon2id; none for service accounts.", string(255))
    password_changed_at: Mapped[datetime | None] = column("Last password change.")
    language: Mapped[str] = column(
        "Language of the user.", string(10), default="en", format="language"
    )
    timezone: Mapped[str] = column("Time zone name.", string(50), default="UTC", format="time_zone")
    last_login_at: Mapped[datetime | None] = column("Last successful login.")
    updated_at: Mapped[datetime] = mapped_column(UtcDateTime())


class Role(Record):
    """A named set of permissions: six are built in, others are made by administrators."""

    __tablename__ = "roles"

    name: Mapped[str] = column("Role name.", string(50), unique=True)
    description: Mapped[str | None] = column("What the role is for.", string(500))
    is_builtin: Mapped[bool] = column("Comes with the product.", default=False)
    # {"clients:read": "own", "clients:update": "own", "leads:convert": "all"}: permission to
    # scope; empty for built-in roles, whose rights are in the code.
    permissions: Mapped[dict[str, Any]] = column("Rights of a custom role.", JsonText(), default={})


class UserRole(Model):
    """A role held by a user."""

    __tablename__ = "user_roles"

    user_id: Mapped[int] = foreign_key("users", "User.", ondelete="CASCADE", index=False)
    role_id: Mapped[int] = foreign_key("roles", "Role.")
    __table_args__ = (UniqueConstraint("user_id", "role_id"),)
    __mapper_args__ = {"primary_key": [user_id, role_id]}


class ApiKey(Record):
    """A credential of an integration: one role, scopes that only narrow it."""

    __tablename__ = "api_keys"

    name: Mapped[str] = column("What the key is for.", string(100))
    prefix: Mapped[str] = column("Public start of the key.", string(32), unique=True)
    key_hash: Mapped[str] = column("SHA-256 of the key, hex.", string(64), unique=True)
    user_id: Mapped[int] = foreign_key("users", "Service account of the key.")
    role_id: Mapped[int] = foreign_key("roles", "Role of the key.")
    scopes: Mapped[list[str]] = column(
        "Permissions it is narrowed to; empty for all of the role.", JsonText(), default=[]
    )
    created_by_id: Mapped[int | None] = foreign_key("users", "Administrator who made it.")
    expires_at: Mapped[datetime | None] = column("End of validity.")
    revoked_at: Mapped[datetime | None] = column("When it was revoked.")
    last_used_at: Mapped[datetime | None] = column("Last use, to the minute.")
    last_used_ip: Mapped[str | None] = column("Address of the last use.", string(45))


class Session(Record):
    """A sign-in: the family of refresh tokens that came from one login."""

    __tablename__ = "sessions"

    key: Mapped[str] = column("Random public identifier.", string(36), unique=True)
    user_id: Mapped[int] = foreign_key("users", "User.", ondelete="CASCADE")
    ip: Mapped[str | None] = column("Address of the login.", string(45))
    user_agent: Mapped[str | None] = column("Program of the login.", string(255))
    last_seen_at: Mapped[datetime] = column("Last refresh.")
    expires_at: Mapped[datetime] = column("End of validity.", index=True)
    revoked_at: Mapped[datetime | None] = column("When it ended.")
    revoked_reason: Mapped[str | None] = column("logout, reuse, disabled, admin ...", string(50))


class RefreshToken(Record):
    """One refresh token of a session; used once, then replaced."""

    __tablename__ = "refresh_tokens"

    session_id: Mapped[int] = foreign_key("sessions", "Session.", ondelete="CASCADE")
    token_hash: Mapped[str] = column("SHA-256, hex.", string(64), unique=True)
    expires_at: Mapped[datetime] = column("End of validity.")
    used_at: Mapped[datetime | None] = column("When it was exchanged.")
    # The pair it was exchanged for, sealed, so that a repeat within the grace time gets the same.
    successor: Mapped[str | None] = column("Sealed successor pair.", string(4000))


class LoginGuard(Model):
    """Failed logins of one name, known or not: five in 15 minutes lock it (contract 13, 15)."""

    __tablename__ = "login_guards"

    name_key: Mapped[str] = mapped_column(string(64), primary_key=True, doc="SHA-256 of the name.")
    failures: Mapped[int] = column("Failures in the window.", default=0)
    window_started_at: Mapped[datetime] = column("Start of window.")
    locked_until: Mapped[datetime | None] = column("End of the lock.", index=True)
    lock_count: Mapped[int] = column("Locks in a row.", default=0)


class SecurityEpoch(Model):
    """One row; its value grows whenever a right or a session ends, and caches are dropped."""

    __tablename__ = "security_epochs"

    id: Mapped[int] = mapped_column(Identifier, primary_key=True, autoincrement=False)
    value: Mapped[int] = column("Grows by one.", Identifier, default=0)


Index("ix_login_guards_window", LoginGuard.window_started_at)
