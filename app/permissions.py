"""Who may do what: the matrix of contract section 13, the one permission function, the row filter.

A permission is ``resource:action``; the scope of a right is ``all`` rows, only ``own`` rows
(owner, assignee or manager is the caller) or, for reading articles, only ``published`` ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import ColumnElement, false, or_

from app.db.late_values import dynamic
from app.errors import ForbiddenError, InsufficientScopeError

ALL, OWN, PUBLISHED = "all", "own", "published"

# Columns that make a record the caller's own (contract section 13, "Own").
OWNING_COLUMNS = ("owner_id", "assignee_id", "manager_id")

CRUD = ("create", "read", "update", "delete")
RESOURCES = (
    "clients", "contacts", "leads", "opportunities", "tickets", "invoices", "kb", "documents",
    "tasks", "projects", "products",
)  # fmt: skip
OPERATIONS = (
    "leads:convert", "leads:assign", "opportunities:reopen", "pipeline:read", "tickets:merge",
    "invoices:send", "invoices:void", "invoices:credit", "invoices:uncollectible",
    "payments:create", "payments:reverse", "kb:publish", "documents:share",
    "ai:chat", "ai:act", "bi:query", "bi:export", "events:read", "directory:read",
)  # fmt: skip
ADMINISTRATION = (
    "webhooks:create", "webhooks:read", "webhooks:update", "webhooks:delete",
    "users:manage", "roles:manage", "api-keys:manage", "audit:read", "settings:read",
    "settings:update",
)  # fmt: skip
PERMISSIONS = (
    *(f"{resource}:{action}" for resource in RESOURCES for action in CRUD),
    *OPERATIONS,
    *ADMINISTRATION,
)
# What nobody but an administrator holds, and no API key ever: keys make no keys and no users.
NEVER_BY_KEY = ("users:manage", "roles:manage", "api-keys:manage")

# Letters as in the contract: C R U D, ``o`` behind them: writes own records only.
_TABLE: Mapping[str, Mapping[str, str]] = {
    "Manager": {
        "clients": "CRUD", "contacts": "CRUD", "leads": "CRUD", "opportunities": "CRUD",
        "tickets": "CRUD", "invoices": "CRUD", "kb": "CRUD", "documents": "CRUD",
        "tasks": "CRUD", "projects": "CRUD", "products": "CRUD",
    },
    "Sales": {
        "clients": "CRU", "contacts": "CRU", "leads": "CRUo", "opportunities": "CRUo",
        "tickets": "CR", "invoices": "CR", "kb": "R", "documents": "CRUo", "tasks": "CRUo",
        "projects": "CR", "products": "R",
    },
    "Accountant": {
        "clients": "CRU", "contacts": "CRU", "opportunities": "R", "tickets": "R",
        "invoices": "CRUD", "kb": "R", "documents": "CRUo", "tasks": "CRUo", "projects": "R",
        "products": "CRUD",
    },
    "Support": {
        "clients": "RU", "contacts": "RU", "leads": "R", "tickets": "CRU", "invoices": "R",
        "kb": "CRU", "documents": "CRUo", "tasks": "CRUo", "projects": "R", "products": "R",
    },
    "Viewer": {
        "clients": "R", "contacts": "R", "leads": "R", "opportunities": "R", "tickets": "R",
        "invoices": "R", "kb": "Rp", "documents": "R", "tasks": "R", "projects": "R",
        "products": "R",
    },
}  # fmt: skip
_OPERATIONS: Mapping[str, Mapping[str, str]] = {
    "Manager": dict.fromkeys(
        ("leads:convert", "leads:assign", "opportunities:reopen", "pipeline:read",
         "tickets:merge", "invoices:send", "payments:create", "kb:publish", "documents:share",
         "ai:chat", "ai:act", "bi:query", "bi:export", "events:read", "webhooks:read",
         "audit:read", "directory:read"),
        ALL,
    ),
    "Sales": {
        "leads:convert": OWN, "pipeline:read": ALL, "documents:share": ALL, "ai:chat": ALL,
        "ai:act": ALL, "bi:query": ALL, "directory:read": ALL,
    },
    "Accountant": dict.fromkeys(
        ("pipeline:read", "invoices:send", "invoices:void", "invoices:credit",
         "invoices:uncollectible", "payments:create", "payments:reverse", "ai:chat", "ai:act",
         "bi:query", "bi:export", "documents:share", "directory:read"),
        ALL,
    ),
    "Support": dict.fromkeys(
        ("tickets:merge", "ai:chat", "ai:act", "bi:query", "directory:read"), ALL
    ),
    "Viewer": dict.fromkeys(("pipeline:read", "ai:chat", "bi:query", "directory:read"), ALL),
}  # fmt: skip

Rights = Mapping[str, str]


def _expand(letters: Mapping[str, str]) -> dict[str, str]:
    """``{"leads": "CRUo"}`` -> ``{"leads:create": "all", "leads:read": "all", ...: "own"}``."""
    rights = {}
    for resource, marks in letters.items():
        for action, letter in zip(CRUD, "CRUD", strict=True):
            if letter not in marks:
                continue
            own = "o" in marks and action in ("update", "delete")
            published = "p" in marks and action == "read"
            rights[f"{resource}:{action}"] = OWN if own else PUBLISHED if published else ALL
    return rights


ROLES: Mapping[str, Rights] = {
    "Admin": dict.fromkeys(PERMISSIONS, ALL),
    **{role: _expand(_TABLE[role]) | dict(_OPERATIONS[role]) for role in _TABLE},
}


def merge(roles: Iterable[Rights]) -> dict[str, str]:
    """The rights of a caller with several roles: the widest scope of each permission."""
    order = (PUBLISHED, OWN, ALL)
    merged: dict[str, str] = {}
    for rights in roles:
        for permission, scope in rights.items():
            known = merged.get(permission)
            if known is None or order.index(scope) > order.index(known):
                merged[permission] = scope
    return merged


def narrow(rights: Rights, scopes: Iterable[str]) -> dict[str, str]:
    """The rights of an API key: its role's, less what its scopes leave out (none: all)."""
    wanted = frozenset(scopes)
    return {
        permission: scope
        for permission, scope in rights.items()
        if permission not in NEVER_BY_KEY
        and (not wanted or permission in wanted or permission == "directory:read")
    }


def scope_of(caller: Any, permission: str) -> str | None:
    """``all``, ``own``, ``published``, or None when the caller does not hold the permission."""
    scope: str | None = caller.rights.get(permission)
    return scope


def allowed(caller: Any, permission: str, record: Any = None) -> bool:
    """Whether ``caller`` may do ``permission``, to ``record`` when one is given.

    Args:
        record: an object, a row of a statement, or a mapping of column names; None asks for the
            right itself.
    Source: contract section 13.
    """
    scope = scope_of(caller, permission)
    if scope is None:
        return False
    if scope == ALL or record is None:
        return True
    if scope == PUBLISHED:
        return bool(_value(record, "status") == "Published")
    return any(_value(record, column) == caller.user_id for column in OWNING_COLUMNS)


def _value(record: Any, column: str) -> Any:
    return record.get(column) if isinstance(record, Mapping) else getattr(record, column, None)


def require(caller: Any, permission: str, record: Any = None) -> None:
    """Raise unless ``allowed``.

    Raises: InsufficientScopeError, an API key's role holds it but its scopes do not;
        ForbiddenError otherwise. Both name the permission.
    """
    if allowed(caller, permission, record):
        return
    details = [("permission", permission)]
    is_left_out = permission in caller.role_rights and permission not in caller.rights
    if caller.via == "apiKey" and is_left_out:
        raise InsufficientScopeError(f"The API key does not have the scope {permission}.", details)
    if scope_of(caller, permission) == OWN:
        message = f"Your role has {permission} for your own records only."
    else:
        message = f"Your role does not have the permission {permission}."
    raise ForbiddenError(message, details)


def row_filter(
    caller: Any, resource: str, columns: Any, *, is_contained: bool = False
) -> ColumnElement[bool] | None:
    """The condition that keeps the rows of ``resource`` that the caller may read; None: all.

    Args:
        columns: the ``.c`` of the table or alias read.
        is_contained: the rows lie in others, whose filter the caller of this adds
            (app/odata/binding/values.py): only what their own state says is left to say.
    Raises: ForbiddenError, the caller may read none.
    """
    permission = f"{resource}:read"
    require(caller, permission)
    scope = scope_of(caller, permission)
    if scope == ALL:
        return None
    if scope == PUBLISHED:
        if is_contained:
            return columns.published_at.is_not(None) if "published_at" in columns else None
        return columns.status == "Published" if "status" in columns else false()
    if is_contained:
        return None
    owning = [columns[name] for name in OWNING_COLUMNS if name in columns]
    return or_(*(column == dynamic("caller_id") for column in owning)) if owning else false()
