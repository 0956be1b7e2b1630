"""API keys: made by administrators for integrations, shown once, narrowed by scopes.

When and from where each was last used is written to the minute, after the answer.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, NamedTuple

import structlog
from flask import Flask
from sqlalchemy import select, update
from sqlalchemy.exc import SQLAlchemyError

from app import audit, events
from app.auth.credentials import hash_api_key, new_api_key
from app.auth.epoch import bump_epoch
from app.auth.roles import find_roles, get_rights
from app.auth.schemas import ApiKeySchema
from app.auth.users import insert_account
from app.clock import utc_now
from app.db import records
from app.db.engines import transaction
from app.db.types import AnyRow, json_text
from app.errors import ValidationError, gathered, refuse_any
from app.extensions import Extension
from app.http.request_context import when_answered
from app.http.schema_parts import answer_body
from app.http.security import Caller, acting_as, current_caller
from app.models.user import ApiKey, Role, User
from app.permissions import NEVER_BY_KEY
from app.writing.rules import RowRules
from app.writing.validation import validate

API_KEY = RowRules(model=ApiKey, writable=("name",))
# Every column of the keys, and the names of their roles.
KEYS = select(*ApiKey.__table__.c, Role.name.label("role_name")).join(
    Role, Role.id == ApiKey.role_id
)


class MadeKey(NamedTuple):
    """A new key: ``key`` is known now and never again."""

    id: int
    key: str


def create_api_key(
    *, name: str, role: str, scopes: Sequence[str] = (), expires_at: datetime | None = None
) -> MadeKey:
    """Make a key with the rights of ``role``, less what ``scopes`` leave out (none: all of them).

    An account of its own stands behind it, so that what it makes has an owner.
    Raises: ValidationError, no such role, a scope that the role does not have, a time that is past.
    """
    gathered(
        lambda: refuse_any(validate(API_KEY, {"name": name}, partial=False)[1]),
        lambda: _check_scopes(role, scopes),
        lambda: check_new_key({"expires_at": expires_at}),
    )
    role_id = find_roles([role], "role")[role]
    now = utc_now()
    key = new_api_key()
    user_id = insert_account(username=key.prefix, display_name=name, kind="service")
    key_id = records.insert(
        ApiKey,
        {
            "created_at": now,
            "name": name,
            "prefix": key.prefix,
            "key_hash": hash_api_key(key.key),
            "user_id": user_id,
            "role_id": role_id,
            "scopes": sorted(set(scopes)),
            "created_by_id": current_caller().user_id or None,
            "expires_at": expires_at,
        },
    )
    audited = {"name": name, "prefix": key.prefix, "role": role, "scopes": sorted(set(scopes))}
    audit.record("api_key.created", "ApiKey", key_id, after=audited)
    _emit("api_key.created", key_id, audited)
    return MadeKey(key_id, key.key)


def revoke_api_key(key_id: int) -> None:
    """End a key, from the next request on; a second time changes nothing.

    Raises: NotFoundError.
    """
    row = records.get(ApiKey, key_id, lock=True)
    if row.revoked_at is not None:
        return
    now = utc_now()
    records.update(ApiKey, key_id, {"revoked_at": now})
    records.update(User, row.user_id, {"status": "disabled", "updated_at": now})
    bump_epoch()
    audited = {"name": row.name, "prefix": row.prefix}
    audit.record("api_key.revoked", "ApiKey", key_id, before=audited)
    _emit("api_key.revoked", key_id, audited)


def api_key_dict(row: AnyRow) -> dict[str, Any]:
    """A key as lists show it: everything but the key. ``row`` has ``role_name`` besides."""
    return answer_body(ApiKeySchema, row, role=row.role_name, status=_status(row))


def _status(row: AnyRow) -> str:
    if row.revoked_at is not None:
        return "revoked"
    return "expired" if row.expires_at and row.expires_at <= utc_now() else "active"


def check_new_key(body: Mapping[str, Any]) -> None:
    """Look at what is said of a key.

    Raises: ValidationError, with each field.
    """
    expires_at = body.get("expires_at")
    if expires_at is not None and expires_at <= utc_now():
        raise ValidationError([("expiresAt", "must be in the future")])


def _check_scopes(role: str, scopes: Sequence[str]) -> None:
    find_roles([role], "role")
    rights = get_rights(role)
    problems = []
    for index, scope in enumerate(scopes):
        if scope in NEVER_BY_KEY:
            problems.append((f"scopes[{index}]", "is a permission that no API key may have"))
        elif scope not in rights:
            problems.append((f"scopes[{index}]", f"is no permission of the role {role}"))
    refuse_any(problems)


def _emit(name: str, key_id: int, properties: dict[str, Any]) -> None:
    events.emit(name, "ApiKey", key_id, representation=json_text({"id": key_id, **properties}))


WRITE_EVERY_SECONDS = 60
# After so long a silence the next use is a new one, which the audit log shows.
NEW_USE_AFTER = timedelta(hours=1)

_log = structlog.get_logger()


class KeyUse:
    """Notes the use of keys; once a minute and key it writes, when the caller has its answer."""

    def __init__(self, app: Flask) -> None:
        self._app = app
        self._written: dict[int, float] = {}

    def note(self, caller: Caller, address: str | None) -> None:
        """The key of ``caller`` is used from ``address``."""
        assert caller.api_key_id is not None
        now = time.monotonic()
        if now - self._written.get(caller.api_key_id, -WRITE_EVERY_SECONDS) < WRITE_EVERY_SECONDS:
            return
        self._written[caller.api_key_id] = now
        when_answered(partial(self._write, caller, address))

    def _write(self, caller: Caller, address: str | None) -> None:
        try:
            with self._app.app_context(), transaction() as session, acting_as(caller):
                key = ApiKey.id == caller.api_key_id
                before = session.execute(select(ApiKey.last_used_at).where(key)).scalar()
                session.execute(
                    update(ApiKey).where(key).values(last_used_at=utc_now(), last_used_ip=address)
                )
                if before is None or before < utc_now() - NEW_USE_AFTER:
                    audit.record("api_key.used", "ApiKey", caller.api_key_id, ip=address)
        except SQLAlchemyError:
            # The answer is out; the next minute writes again.
            _log.warning("the use of an API key was not written", api_key_id=caller.api_key_id)


key_use = Extension[KeyUse]("key_use")
