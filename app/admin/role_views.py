"""Roles."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select

from app.admin.area import area
from app.admin.schemas import NewRoleSchema, RoleChangesSchema
from app.auth import roles
from app.auth.schemas import RoleSchema
from app.db import records
from app.errors import NotFoundError
from app.http.lists import Page, each_of, read_page
from app.http.schema_parts import PageQuerySchema, page_schema
from app.http.security import requires
from app.models.user import Role


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
    return _role_shape(role_id), 201, {"Location": f"/api/v1/admin/roles/{role_id}"}


@area.get("/roles/<int:role_id>")
@area.response(200, RoleSchema)
@requires("roles:manage")
def show_role(role_id: int) -> dict[str, Any]:
    """One role."""
    return _role_shape(role_id)


@area.patch("/roles/<int:role_id>")
@area.arguments(RoleChangesSchema)
@area.response(200, RoleSchema)
@requires("roles:manage")
def update_role(changes: dict[str, Any], role_id: int) -> dict[str, Any]:
    """Change a role of your own making; its holders feel it at their next request."""
    roles.update_role(role_id, changes)
    return _role_shape(role_id)


@area.delete("/roles/<int:role_id>")
@area.response(204)
@requires("roles:manage")
def delete_role(role_id: int) -> None:
    """Remove a role that nobody has."""
    roles.delete_role(role_id)


def _role_shape(role_id: int) -> dict[str, Any]:
    with records.looking() as connection:
        role = records.find(select(Role).where(Role.id == role_id), of=connection)
    if role is None:
        raise NotFoundError(f"There is no role {role_id}.")
    return roles.role_dict(role)
