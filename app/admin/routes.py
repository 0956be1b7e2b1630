"""``/api/admin``: accounts, roles, API keys, the audit log; settings have a module beside."""

from __future__ import annotations

from functools import partial
from typing import Any

from sqlalchemy import func, or_, select

from app.admin import setting_views
from app.admin.area import area
from app.admin.schemas import (
    ApiKeyQuerySchema,
    AuditQuerySchema,
    AuditRecordSchema,
    MadeApiKeySchema,
    NewApiKeySchema,
    NewRoleSchema,
    NewUserSchema,
    PasswordResetAnswerSchema,
    PasswordResetSchema,
    RoleChangesSchema,
    SessionQuerySchema,
    UserChangesSchema,
    UserQuerySchema,
)
from app.auth import api_keys, roles, users
from app.auth.schemas import ApiKeySchema, RoleSchema, SessionSchema, UserSchema
from app.auth.sessions import end_session, list_sessions
from app.auth.users import get_user_dict, user_dicts
from app.clock import utc_now
from app.db import records
from app.db.types import AnyRow
from app.errors import NotFoundError
from app.http.lists import Page, each, each_of, read_page
from app.http.schema_parts import PageQuerySchema, answer_body, page_schema
from app.http.security import requires
from app.models.event import AuditRecord
from app.models.user import ApiKey, Role, User, UserRole

# What flask-smorest finds of the area: these views, and those of the settings.
__all__ = ["area", "setting_views"]


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
    """Sign a user out of one session, at once."""
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


@area.get("/roles")
@area.arguments(PageQuerySchema, location="query")
@area.response(200, page_schema(RoleSchema))
@requires("roles:manage")
def list_roles(page: dict[str, int]) -> Page:
    """The roles, those that came with the product first."""
    return read_page(select(Role).order_by(Role.id), each_of(Role, roles.role_dict), **page)


@area.post("/roles")
@area.arguments(NewRoleSchema)
@area.response(201, RoleSchema)
@requires("roles:manage")
def create_role(role: dict[str, Any]) -> tuple[dict[str, Any], int, dict[str, str]]:
    """Make a role; it may narrow reading to one's own records."""
    role_id = roles.create_role(**role)
    return roles.show_role(role_id), 201, {"Location": f"/api/v1/admin/roles/{role_id}"}


@area.get("/roles/<int:role_id>")
@area.response(200, RoleSchema)
@requires("roles:manage")
def show_role(role_id: int) -> dict[str, Any]:
    """A role with what it permits."""
    return roles.show_role(role_id)


@area.patch("/roles/<int:role_id>")
@area.arguments(RoleChangesSchema)
@area.response(200, RoleSchema)
@requires("roles:manage")
def update_role(changes: dict[str, Any], role_id: int) -> dict[str, Any]:
    """Change a role of your own making; its holders feel it at their next request."""
    roles.update_role(role_id, changes)
    return roles.show_role(role_id)


@area.delete("/roles/<int:role_id>")
@area.response(204)
@requires("roles:manage")
def delete_role(role_id: int) -> None:
    """Remove a role that nobody has."""
    roles.delete_role(role_id)


@area.get("/api-keys")
@area.arguments(ApiKeyQuerySchema, location="query")
@area.response(200, page_schema(ApiKeySchema))
@requires("api-keys:manage")
def list_api_keys(query: dict[str, Any]) -> Page:
    """The keys, the newest first, with when and from where they were last used."""
    statement = api_keys.KEYS.order_by(ApiKey.id.desc())
    now = utc_now()
    expired = ApiKey.expires_at <= now
    match query.get("status"):
        case "revoked":
            statement = statement.where(ApiKey.revoked_at.is_not(None))
        case "expired":
            statement = statement.where(ApiKey.revoked_at.is_(None), expired)
        case "active":
            lasting = or_(ApiKey.expires_at.is_(None), ApiKey.expires_at > now)
            statement = statement.where(ApiKey.revoked_at.is_(None), lasting)
    shape = each(api_keys.api_key_dict)
    return read_page(statement, shape, limit=query["limit"], offset=query["offset"])


@area.post("/api-keys")
@area.arguments(NewApiKeySchema)
@area.response(201, MadeApiKeySchema)
@requires("api-keys:manage")
def create_api_key(wanted: dict[str, Any]) -> tuple[dict[str, Any], int, dict[str, str]]:
    """Make a key for an integration; `key` is shown this once."""
    api_key = api_keys.create_api_key(**wanted)
    body = {**_key_shape(api_key.id), "key": api_key.key}
    return body, 201, {"Location": f"/api/v1/admin/api-keys/{api_key.id}"}


@area.get("/api-keys/<int:key_id>")
@area.response(200, ApiKeySchema)
@requires("api-keys:manage")
def show_api_key(key_id: int) -> dict[str, Any]:
    """An API key with what it may do and when it was last used; never the key itself."""
    return _key_shape(key_id)


@area.delete("/api-keys/<int:key_id>")
@area.response(204)
@requires("api-keys:manage")
def revoke_api_key(key_id: int) -> None:
    """End a key, from the next request on."""
    api_keys.revoke_api_key(key_id)


def _key_shape(key_id: int) -> dict[str, Any]:
    with records.looking() as connection:
        row: AnyRow | None = connection.execute(api_keys.KEYS.where(ApiKey.id == key_id)).first()
    if row is None:
        raise NotFoundError(f"There is no API key {key_id}.")
    return api_keys.api_key_dict(row)


@area.get("/audit")
@area.arguments(AuditQuerySchema, location="query")
@area.response(200, page_schema(AuditRecordSchema))
@requires("audit:read")
def list_audit_records(query: dict[str, Any]) -> Page:
    """Who did what, the latest first."""
    statement = select(AuditRecord).order_by(AuditRecord.id.desc())
    for name in ("entity", "entity_id", "actor_id"):
        if name in query:
            statement = statement.where(getattr(AuditRecord, name) == query[name])
    action = query.get("action", "")
    if action.endswith(".*"):
        statement = statement.where(AuditRecord.action.startswith(action[:-1], autoescape=True))
    elif action:
        statement = statement.where(AuditRecord.action == action)
    if "begin" in query:
        statement = statement.where(AuditRecord.created_at >= query["begin"])
    if "end" in query:
        statement = statement.where(AuditRecord.created_at < query["end"])
    shape = each_of(AuditRecord, partial(answer_body, AuditRecordSchema))
    return read_page(statement, shape, limit=query["limit"], offset=query["offset"])
