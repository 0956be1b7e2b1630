"""Administration: roles side by side, API keys, which are shown once, and the audit log."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from flask import Response, request
from sqlalchemy import func, select

from app.auth import api_keys, roles
from app.auth.rights import ROLE, rights_of_role
from app.clock import utc_now
from app.console import session
from app.console.area import console, page, refused_on, see_other
from app.console.choices import page_rows
from app.console.language import translated
from app.console.sets import PAGES, page_of_type
from app.console.typed import key_in, typed_name, typed_note
from app.console.wording import CALLED, deleted, inside, saved
from app.db import records
from app.db.engines import primary_engine
from app.errors import ApiError, ValidationError
from app.http.page_sizes import CONSOLE_WHOLE
from app.http.security import requires
from app.models.event import AuditRecord
from app.models.user import ApiKey, Role, User, UserRole
from app.permissions import ADMINISTRATION, CRUD, NEVER_BY_KEY, OPERATIONS, PERMISSIONS, RESOURCES

ADDRESS = f"{session.ROOT}/roles"


@console.get("/roles")
@requires("roles:manage")
def show_roles() -> Response:
    with primary_engine().connect() as connection:
        stored = records.read_all(select(Role).order_by(Role.id), of=connection)
        counts = connection.execute(
            select(UserRole.role_id, func.count()).group_by(UserRole.role_id)
        )
        holders: dict[int, int] = {row[0]: row[1] for row in counts}
    return page(
        "roles.html",
        roles=[roles.role_dict(row) for row in stored],
        holders=holders,
        permissions={permission: called(permission) for permission in PERMISSIONS},
    )


@console.get("/roles/new")
@requires("roles:manage")
def new_role(problem: ApiError | None = None) -> Response:
    """The form of a role to make; ``from`` names the one to begin with."""
    begin = key_in(request.args.get("from", ""))
    return _form(None, roles.show_role(begin) if begin is not None else None, problem)


@console.post("/roles/new")
@requires("roles:manage")
@refused_on(new_role)
def make_role() -> Response:
    roles.create_role(**_typed())
    return see_other(ADDRESS, saved(translated("Role")))


@console.get("/roles/<int:role_id>")
@requires("roles:manage")
def show_role(role_id: int, problem: ApiError | None = None) -> Response:
    return _form(role_id, roles.show_role(role_id), problem)


@console.post("/roles/<int:role_id>")
@requires("roles:manage")
@refused_on(show_role)
def change_role(role_id: int) -> Response:
    if request.form.get("step") == "delete":
        roles.delete_role(role_id)
        return see_other(ADDRESS, deleted(translated("Role")))
    roles.update_role(role_id, _typed())
    return see_other(ADDRESS, saved(translated("Role")))


def _form(role_id: int | None, role: dict[str, Any] | None, problem: ApiError | None) -> Response:
    is_typed = request.method == "POST" and request.form.get("step") != "delete"
    held = role["permissions"] if role else {}
    return page(
        "role.html",
        role_id=role_id,
        known=role,
        fixed=bool(role_id and role and role["isBuiltin"]),
        name=request.form.get("name", "") if is_typed else role["name"] if role_id and role else "",
        description=request.form.get("description", "")
        if is_typed
        else (role or {}).get("description") or "",
        chosen={name: request.form.get(name, "") for name in PERMISSIONS} if is_typed else held,
        resources=RESOURCES,
        actions=CRUD,
        operations={
            name: called(name)
            for name in (*OPERATIONS, *ADMINISTRATION)
            if name not in NEVER_BY_KEY
        },
        scopes_of=roles.scopes_of,
        problem=problem,
    )


def called(permission: str) -> str:
    """``Clients: create``, ``Convert leads``: a right as people call it."""
    if words := CALLED["rights"].get(permission):
        return translated(words)
    resource, _, action = permission.partition(":")
    return f"{translated(resource.capitalize())}: {inside(translated(action.capitalize()))}"


def _typed() -> dict[str, Any]:
    """The fields of the form.

    Raises: ValidationError, it has no name.
    """
    return {
        "name": typed_name(50, translated("Give the role a name of up to 50 characters.")),
        "description": typed_note("description"),
        "permissions": {
            permission: scope
            for permission in PERMISSIONS
            if (scope := request.form.get(permission))
        },
    }


@console.get("/api-keys")
@requires("api-keys:manage")
def show_api_keys(**values: Any) -> Response:
    with primary_engine().connect() as connection:
        rows = connection.execute(
            api_keys.KEYS.order_by(ApiKey.id.desc()).limit(CONSOLE_WHOLE)
        ).all()
        held = connection.execute(select(*ROLE).order_by(Role.id)).all()
    return page(
        "api_keys.html",
        keys=[api_keys.api_key_dict(row) for row in rows],
        roles=[role.name for role in held],
        scopes={role.name: sorted(set(rights_of_role(role)) - set(NEVER_BY_KEY)) for role in held},
        chosen=request.form,
        **values,
    )


@console.post("/api-keys")
@requires("api-keys:manage")
@refused_on(show_api_keys)
def make_api_key() -> Response:
    form = request.form
    new_key = api_keys.create_api_key(
        name=typed_name(100, translated("Give the key a name of up to 100 characters.")),
        role=form.get("role", ""),
        scopes=form.getlist("scopes"),
        expires_at=_expiry(form.get("days", "")),
    )
    return show_api_keys(made=new_key.key, name=form.get("name", ""))


@console.post("/api-keys/<int:key_id>/revoke")
@requires("api-keys:manage")
def revoke_key(key_id: int) -> Response:
    api_keys.revoke_api_key(key_id)
    return see_other(f"{session.ROOT}/api-keys", translated("Key revoked."))


def _expiry(days: str) -> datetime | None:
    if not days:
        return None
    if not 0 < (number := key_in(days) or 0) <= 3650:
        raise ValidationError([("expiresAt", translated("Choose one of the offered times."))])
    return utc_now().astimezone(UTC) + timedelta(days=number)


@console.get("/audit")
@requires("audit:read")
def show_audit() -> Response:
    """The latest first; older ones below the last that was shown."""
    size = page_rows()
    arguments = request.args
    statement = (
        select(AuditRecord, User.username)
        .outerjoin(User, User.id == AuditRecord.actor_id)
        .order_by(AuditRecord.id.desc())
        .limit(size + 1)
    )
    if action := arguments.get("action", "").strip():
        statement = statement.where(AuditRecord.action.startswith(action, autoescape=True))
    if entity := arguments.get("entity", ""):
        statement = statement.where(AuditRecord.entity == entity)
    if (key := key_in(arguments.get("key", ""))) is not None:
        statement = statement.where(AuditRecord.entity_id == key)
    if (below := key_in(arguments.get("below", ""))) is not None:
        statement = statement.where(AuditRecord.id < below)
    with primary_engine().connect() as connection:
        rows = connection.execute(statement).all()
    more = rows[:size][-1].id if len(rows) > size else None
    return page(
        "audit.html",
        rows=rows[:size],
        entities=[entry.entity_set.type.name for entry in PAGES.values()],
        chosen=arguments,
        page_of_type=page_of_type,
        older=f"?{urlencode({**arguments.to_dict(), 'below': more})}" if more else None,
    )
