"""API keys."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Select, or_, select

from app.admin.area import area
from app.admin.schemas import ApiKeyQuerySchema, MadeApiKeySchema, NewApiKeySchema
from app.auth import api_keys
from app.auth.schemas import ApiKeySchema
from app.clock import utc_now
from app.db import records
from app.db.types import AnyRow
from app.errors import NotFoundError
from app.http.lists import Page, each, read_page
from app.http.schema_parts import page_schema
from app.http.security import requires
from app.models.user import ApiKey, Role


@area.get("/api-keys")
@area.arguments(ApiKeyQuerySchema, location="query")
@area.response(200, page_schema(ApiKeySchema))
@requires("api-keys:manage")
def list_api_keys(query: dict[str, Any]) -> Page:
    """The keys, the newest first, with when and from where they were last used."""
    statement = _statement().order_by(ApiKey.id.desc())
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
    """One key."""
    return _key_shape(key_id)


@area.delete("/api-keys/<int:key_id>")
@area.response(204)
@requires("api-keys:manage")
def revoke_api_key(key_id: int) -> None:
    """End a key, from the next request on."""
    api_keys.revoke_api_key(key_id)


def _key_shape(key_id: int) -> dict[str, Any]:
    with records.looking() as connection:
        row: AnyRow | None = connection.execute(_statement().where(ApiKey.id == key_id)).first()
    if row is None:
        raise NotFoundError(f"There is no API key {key_id}.")
    return api_keys.api_key_dict(row)


def _statement() -> Select[Any]:
    return select(ApiKey.__table__, Role.name.label("role_name")).join(
        Role, Role.id == ApiKey.role_id
    )
