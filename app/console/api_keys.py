"""API keys: made for an integration, shown once, ended from the next request on."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from flask import Response, request
from sqlalchemy import select

from app.auth import api_keys
from app.auth.rights import ROLE, rights_of_role
from app.clock import utc_now
from app.console import session
from app.console.area import console, page, refused_on, see_other
from app.console.language import translated
from app.console.typed import key_in, typed_name
from app.db.engines import primary_engine
from app.errors import ValidationError
from app.http.page_sizes import CONSOLE_WHOLE
from app.http.security import requires
from app.models.user import ApiKey, Role
from app.permissions import NEVER_BY_KEY

_ROLES = select(*ROLE).order_by(Role.id)


@console.get("/api-keys")
@requires("api-keys:manage")
def show_api_keys(**values: Any) -> Response:
    """All keys, the newest first."""
    with primary_engine().connect() as connection:
        rows = connection.execute(
            api_keys.KEYS.order_by(ApiKey.id.desc()).limit(CONSOLE_WHOLE)
        ).all()
        roles = connection.execute(_ROLES).all()
    return page(
        "api_keys.html",
        keys=[api_keys.api_key_dict(row) for row in rows],
        roles=[role.name for role in roles],
        scopes={role.name: sorted(set(rights_of_role(role)) - set(NEVER_BY_KEY)) for role in roles},
        chosen=request.form,
        **values,
    )


@console.post("/api-keys")
@requires("api-keys:manage")
@refused_on(show_api_keys)
def make_api_key() -> Response:
    """Make a key and show it, this once."""
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
    """End a key."""
    api_keys.revoke_api_key(key_id)
    return see_other(f"{session.ROOT}/api-keys", translated("Key revoked."))


def _expiry(days: str) -> datetime | None:
    if not days:
        return None
    if not 0 < (number := key_in(days) or 0) <= 3650:
        raise ValidationError([("expiresAt", translated("Choose one of the offered times."))])
    return utc_now().astimezone(UTC) + timedelta(days=number)
