"""Accounts of people."""

from __future__ import annotations

from typing import Any

from sqlalchemy import func, or_, select

from app.admin.area import area
from app.admin.schemas import (
    NewUserSchema,
    PasswordResetAnswerSchema,
    PasswordResetSchema,
    SessionQuerySchema,
    UserChangesSchema,
    UserQuerySchema,
)
from app.auth import users
from app.auth.schemas import SessionSchema, UserSchema
from app.auth.sessions import end_session, list_sessions
from app.auth.user_shapes import get_user_dict, user_dicts
from app.http.lists import Page, read_page
from app.http.schema_parts import PageQuerySchema, page_schema
from app.http.security import requires
from app.models.user import Role, User, UserRole


@area.get("/users")
@area.arguments(UserQuerySchema, location="query")
@area.response(200, page_schema(UserSchema))
@requires("users:manage")
def list_users(query: dict[str, Any]) -> Page:
    """The accounts, by user name."""
    limit, offset = query.pop("limit"), query.pop("offset")
    statement = (
        select(User.__table__).where(User.kind == "person").order_by(User.username_key, User.id)
    )
    if text := query.get("q"):
        columns = (User.username, User.display_name, User.email)
        statement = statement.where(
            or_(*(func.lower(column).contains(text.lower(), autoescape=True) for column in columns))
        )
    if status := query.get("status"):
        statement = statement.where(User.status == status)
    if role := query.get("role"):
        holders = select(UserRole.user_id).join(Role, Role.id == UserRole.role_id)
        statement = statement.where(User.id.in_(holders.where(Role.name == role)))
    return read_page(statement, user_dicts, limit=limit, offset=offset)


@area.post("/users")
@area.arguments(NewUserSchema)
@area.response(201, UserSchema)
@requires("users:manage")
def create_user(account: dict[str, Any]) -> tuple[dict[str, Any], int, dict[str, str]]:
    """Make an account; its password has 12 characters or more and is no common one."""
    user_id = users.create_user(**account)
    location = {"Location": f"/api/v1/admin/users/{user_id}"}
    return get_user_dict(user_id), 201, location


@area.get("/users/<int:user_id>")
@area.response(200, UserSchema)
@requires("users:manage")
def show_user(user_id: int) -> dict[str, Any]:
    """One account."""
    return get_user_dict(user_id)


@area.patch("/users/<int:user_id>")
@area.arguments(UserChangesSchema)
@area.response(200, UserSchema)
@requires("users:manage")
def update_user(changes: dict[str, Any], user_id: int) -> dict[str, Any]:
    """Change an account; `status: disabled` ends its sessions at once."""
    users.update_user(user_id, changes)
    return get_user_dict(user_id)


@area.post("/users/<int:user_id>/unlock")
@area.response(200, UserSchema)
@requires("users:manage")
def unlock_user(user_id: int) -> dict[str, Any]:
    """End the lock that failed logins brought about."""
    users.unlock_user(user_id)
    return get_user_dict(user_id)


@area.post("/users/<int:user_id>/reset-password")
@area.arguments(PasswordResetSchema)
@area.response(200, PasswordResetAnswerSchema)
@requires("users:manage")
def reset_password(body: dict[str, str], user_id: int) -> dict[str, Any]:
    """Set a password for somebody else; all their sessions end."""
    return {"id": user_id, "password": users.reset_password(user_id, body.get("password"))}


@area.get("/users/<int:user_id>/sessions")
@area.arguments(PageQuerySchema, location="query")
@area.response(200, page_schema(SessionSchema))
@requires("users:manage")
def list_user_sessions(page: dict[str, int], user_id: int) -> Page:
    """The open sessions of one user."""
    show_user(user_id)  # or there is none
    return list_sessions(user_id, **page)


@area.delete("/users/<int:user_id>/sessions/<session_id>")
@area.response(204)
@requires("users:manage")
def end_user_session(user_id: int, session_id: str) -> None:
    """End a session of a user."""
    end_session(session_id, "ended by an administrator", user_id=user_id)


@area.get("/sessions")
@area.arguments(SessionQuerySchema, location="query")
@area.response(200, page_schema(SessionSchema))
@requires("users:manage")
def list_all_sessions(query: dict[str, Any]) -> Page:
    """The open sessions, the one used last first."""
    return list_sessions(**query)


@area.delete("/sessions/<session_id>")
@area.response(204)
@requires("users:manage")
def end_any_session(session_id: str) -> None:
    """End a session at once."""
    end_session(session_id, "ended by an administrator")
