"""Roles: who may do what, side by side; roles of one's own are made, changed and deleted."""

from __future__ import annotations

from typing import Any

from flask import Response, request
from sqlalchemy import func, select

from app.auth import roles
from app.console import session
from app.console.area import console, page, refused_on, see_other
from app.console.language import translated
from app.console.typed import key_in, typed_name, typed_note
from app.console.wording import deleted, saved
from app.db import records
from app.db.engines import primary_engine
from app.errors import ApiError
from app.http.security import requires
from app.models.user import Role, UserRole
from app.permissions import ADMINISTRATION, CRUD, NEVER_BY_KEY, OPERATIONS, PERMISSIONS, RESOURCES

ADDRESS = f"{session.ROOT}/roles"


@console.get("/roles")
@requires("roles:manage")
def show_roles() -> Response:
    """All roles beside each other."""
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
        permissions=PERMISSIONS,
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
    """Make a role."""
    roles.create_role(**_typed())
    return see_other(ADDRESS, saved(translated("Role")))


@console.get("/roles/<int:role_id>")
@requires("roles:manage")
def show_role(role_id: int, problem: ApiError | None = None) -> Response:
    """A role; one of one's own can be changed."""
    return _form(role_id, roles.show_role(role_id), problem)


@console.post("/roles/<int:role_id>")
@requires("roles:manage")
@refused_on(show_role)
def change_role(role_id: int) -> Response:
    """Change or delete a role."""
    if request.form.get("step") == "delete":
        roles.delete_role(role_id)
        return see_other(ADDRESS, deleted(translated("Role")))
    roles.update_role(role_id, _typed())
    return see_other(ADDRESS, saved(translated("Role")))


def _form(role_id: int | None, known: dict[str, Any] | None, problem: ApiError | None) -> Response:
    is_typed = request.method == "POST" and request.form.get("step") != "delete"
    held = known["permissions"] if known else {}
    return page(
        "role.html",
        role_id=role_id,
        known=known,
        fixed=bool(role_id and known and known["isBuiltin"]),
        name=request.form.get("name", "")
        if is_typed
        else known["name"]
        if role_id and known
        else "",
        description=request.form.get("description", "")
        if is_typed
        else (known or {}).get("description") or "",
        chosen={name: request.form.get(name, "") for name in PERMISSIONS} if is_typed else held,
        resources=RESOURCES,
        actions=CRUD,
        operations=[*OPERATIONS, *(name for name in ADMINISTRATION if name not in NEVER_BY_KEY)],
        scopes_of=roles.scopes_of,
        problem=problem,
    )


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
