"""Roles: six built in, and those that administrators make (contract section 13)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import delete, insert, select

from app import audit
from app.auth.epoch import bump_epoch
from app.auth.rights import rights_of_role
from app.auth.schemas import RoleSchema
from app.clock import utc_now
from app.db import records
from app.errors import (
    DuplicateError,
    InUseError,
    InvalidStateError,
    NotFoundError,
    ValidationError,
    refuse_any,
)
from app.extensions import db
from app.http.schema_parts import answer_body
from app.models.user import ApiKey, Role, UserRole
from app.permissions import ALL, NEVER_BY_KEY, OWN, PERMISSIONS, PUBLISHED, RESOURCES

ADMIN = "Admin"
# Rights that can be held for one's own records only.
_OWNABLE = frozenset(
    [f"{resource}:{action}" for resource in RESOURCES for action in ("read", "update", "delete")]
    + ["leads:convert", "documents:share"]
)


def role_dict(row: Role) -> dict[str, Any]:
    """A role as the API shows it."""
    rights = rights_of_role(row)
    return answer_body(RoleSchema, row, permissions=dict(sorted(rights.items())))


def show_role(role_id: int) -> dict[str, Any]:
    """One role.

    Raises: NotFoundError.
    """
    return role_dict(records.look_up(Role, role_id, f"There is no role {role_id}."))


def create_role(name: str, permissions: Mapping[str, str], description: str | None = None) -> int:
    """Make a role; returns its id.

    Args:
        permissions: permission -> ``all`` or ``own``.
    Raises: ValidationError, a permission or scope that there is not; DuplicateError.
    """
    check_permissions(permissions)
    _check_name_is_free(name)
    role_id = records.insert(
        Role,
        {
            "created_at": utc_now(),
            "name": name,
            "description": description,
            "is_builtin": False,
            "permissions": dict(permissions),
        },
    )
    audit.record("role.created", "Role", role_id, after={"name": name, "permissions": permissions})
    return role_id


def update_role(role_id: int, changes: Mapping[str, Any]) -> None:
    """Change a role of one's own making; its holders have the new rights at their next request.

    Raises: NotFoundError; InvalidStateError, it is built in; ValidationError; DuplicateError.
    """
    row = _get_custom(role_id)
    if "permissions" in changes:
        check_permissions(changes["permissions"])
    if changes.get("name", row.name) != row.name:
        _check_name_is_free(changes["name"])
    if not changes:
        return
    before = {name: getattr(row, name) for name in changes}
    records.update(Role, role_id, changes)
    bump_epoch()
    audit.record("role.updated", "Role", role_id, before=before, after=dict(changes))


def delete_role(role_id: int) -> None:
    """Remove a role that nobody has.

    Raises: NotFoundError; InvalidStateError, it is built in; InUseError.
    """
    row = _get_custom(role_id)
    user_roles = select(UserRole.role_id).where(UserRole.role_id == role_id)
    keys = select(ApiKey.id).where(ApiKey.role_id == role_id)
    if db.session.execute(user_roles.limit(1)).first() or db.session.execute(keys.limit(1)).first():
        raise InUseError("Users or API keys have this role: give them another first.")
    records.delete(Role, role_id)
    bump_epoch()
    audit.record("role.deleted", "Role", role_id, before={"name": row.name})


def find_roles(names: Iterable[str], field: str = "roles") -> dict[str, int]:
    """``{name: id}`` of the roles.

    Raises: ValidationError, on ``field``: there is no such role.
    """
    wanted = list(dict.fromkeys(names))
    statement = select(Role.name, Role.id).where(Role.name.in_(wanted))
    ids = {row.name: row.id for row in db.session.execute(statement)}
    if missing := [name for name in wanted if name not in ids]:
        raise ValidationError([(field, f"there is no role {missing[0]}")])
    return ids


def set_roles(user_id: int, names: Iterable[str]) -> None:
    """Give a user exactly these roles.

    Raises: ValidationError, there is no such role.
    """
    role_ids = find_roles(names).values()
    db.session.execute(delete(UserRole).where(UserRole.user_id == user_id))
    if role_ids:
        rows = [{"user_id": user_id, "role_id": role_id} for role_id in role_ids]
        db.session.execute(insert(UserRole), rows)


def get_rights(name: str) -> Mapping[str, str]:
    """The rights of a role.

    Raises: NotFoundError, there is none of that name.
    """
    row = records.find(select(Role).where(Role.name == name))
    if row is None:
        raise NotFoundError(f"There is no role {name}.")
    return rights_of_role(row)


def _get_custom(role_id: int) -> Role:
    row = records.get(Role, role_id, lock=True)
    if row.is_builtin:
        raise InvalidStateError("A built-in role cannot be changed: make one of your own.")
    return row


def _check_name_is_free(name: str) -> None:
    if db.session.execute(select(Role.id).where(Role.name == name)).first():
        raise DuplicateError(f"There is a role {name} already.", [("name", "is taken already")])


def check_permissions(permissions: Mapping[str, str]) -> None:
    """Refuse what is no permission that a role can have, or no scope of it.

    Raises: ValidationError, with each.
    """
    problems = []
    for permission, scope in permissions.items():
        field = f"permissions.{permission}"
        if permission not in PERMISSIONS:
            problems.append((field, "is no permission"))
        elif permission in NEVER_BY_KEY:
            # Whoever may make users may make themselves administrator.
            problems.append((field, "is a permission of the role Admin only"))
        elif scope not in scopes_of(permission):
            problems.append((field, f"must be one of {', '.join(scopes_of(permission))}"))
    refuse_any(problems)


def scopes_of(permission: str) -> tuple[str, ...]:
    """The scopes in which a role may have a permission, the widest first."""
    if permission == "kb:read":
        return (ALL, OWN, PUBLISHED)
    return (ALL, OWN) if permission in _OWNABLE else (ALL,)
