"""What the administration looks like on the wire (contract 11.2)."""

from __future__ import annotations

from typing import Any

from app.auth.api_keys import API_KEY, check_new_key
from app.auth.roles import check_permissions
from app.auth.schemas import PERMISSIONS_EXAMPLE
from app.auth.users import check_account
from app.http import schema_bounds as validate, schema_fields as fields
from app.http.schema_fields import Schema
from app.http.schema_parts import CheckedSchema, Instant, PageQuerySchema, PostBodySchema
from app.models.user import USER_STATUSES

# The service tells of the rest, together with what it has to look up.
_EMAIL, _DISPLAY_NAME = validate.Length(max=254), validate.Length(1, 200)
_PASSWORD = validate.Length(max=10_000)
_PERMISSIONS = {
    "description": "Permission to `all`, `own` records or, for articles, `published`.",
    "additionalProperties": {"type": "string", "enum": ["all", "own", "published"]},
    "example": PERMISSIONS_EXAMPLE,
}


class UserQuerySchema(PageQuerySchema):
    """Which accounts."""

    q = fields.String(
        validate=validate.Length(1, 200, lines=True),
        description="Part of the user name, display name or e-mail address.",
    )
    status = fields.String(validate=validate.OneOf(USER_STATUSES))
    role = fields.String(validate=validate.Length(1, 50))


class NewUserSchema(CheckedSchema, PostBodySchema):
    """An account to make."""

    checked_by = check_account

    username = fields.String(required=True, example="anna")
    email = fields.String(required=True, validate=_EMAIL, example="anna@example.com")
    display_name = fields.String(load_default=None, validate=_DISPLAY_NAME)
    password = fields.String(required=True, validate=_PASSWORD, example="three-blue-kettles")
    roles = fields.List(
        fields.String(), required=True, validate=validate.Length(1, 20), example=["Sales"]
    )
    language = fields.String(load_default="en")
    timezone = fields.String(load_default="UTC")


class UserChangesSchema(CheckedSchema):
    """What to change of an account; what is left out stays."""

    checked_by = check_account

    email = fields.String(validate=_EMAIL, example="anna@example.com")
    display_name = fields.String(validate=_DISPLAY_NAME, example="Anna Berg")
    status = fields.String(validate=validate.OneOf(USER_STATUSES))
    roles = fields.List(fields.String(), validate=validate.Length(1, 20), example=["Sales"])
    language = fields.String(example="de")
    timezone = fields.String(example="Europe/Berlin")


class PasswordResetSchema(CheckedSchema, PostBodySchema):
    """The password to set; without one a random one is made and shown once."""

    checked_by = check_account

    password = fields.String(validate=_PASSWORD, example="three-blue-kettles")


class PasswordResetAnswerSchema(Schema):
    """Whose password was set; ``password`` only when it was made here."""

    id = fields.Integer()
    password = fields.String(allow_none=True)


class _RoleSchema(CheckedSchema):
    def check(self, body: dict[str, Any]) -> None:
        """As the permissions of a role are checked."""
        check_permissions(body.get("permissions", {}))


class NewRoleSchema(_RoleSchema, PostBodySchema):
    """A role to make."""

    name = fields.String(required=True, validate=validate.Length(1, 50), example="Field sales")
    description = fields.String(load_default=None, validate=validate.Length(max=500))
    permissions = fields.Dict(fields.String(), required=True, metadata=_PERMISSIONS)


class RoleChangesSchema(_RoleSchema):
    """What to change of a role; what is left out stays."""

    name = fields.String(validate=validate.Length(1, 50), example="Field sales, west")
    description = fields.String(
        allow_none=True,
        validate=validate.Length(max=500),
        example="Reads clients, changes its own.",
    )
    permissions = fields.Dict(fields.String(), metadata=_PERMISSIONS)


class ApiKeyQuerySchema(PageQuerySchema):
    """In which state, and which part of the list."""

    status = fields.String(validate=validate.OneOf(("active", "expired", "revoked")))


class NewApiKeySchema(CheckedSchema, PostBodySchema):
    """An API key to make."""

    checked_by = check_new_key

    name = API_KEY.field("name", example="ERP")
    role = fields.String(required=True, example="Viewer")
    scopes = fields.List(
        fields.String(),
        load_default=list,
        validate=validate.Length(max=200),
        description="Permissions it is narrowed to; empty: all that the role has.",
        example=["clients:read"],
    )
    expires_at = Instant(load_default=None)


class MadeApiKeySchema(Schema):
    """The new key; ``key`` is shown this once."""

    id = fields.Integer()
    name = fields.String(example="ERP")
    key = fields.String(example="bpk_live_4fJ2kQ9x_…")
    prefix = fields.String(example="bpk_live_4fJ2kQ9x")
    role = fields.String()
    scopes = fields.List(fields.String())
    expires_at = Instant(allow_none=True)
    created_at = Instant()


class AuditQuerySchema(PageQuerySchema):
    """Which lines of the audit log."""

    action = fields.String(
        validate=validate.Length(1, 60),
        description="`auth.login`, or all of a kind: `auth.*`.",
        example="auth.*",
    )
    entity = fields.String(validate=validate.Length(1, 20))
    entity_id = fields.Integer(validate=validate.Range(0, 2**63 - 1))
    actor_id = fields.Integer(validate=validate.Range(0, 2**63 - 1))
    begin = Instant(data_key="from", description="From this instant on.")
    end = Instant(data_key="to", description="Before this instant.")


class AuditRecordSchema(Schema):
    """Who did what, with the values before and after."""

    id = fields.Integer()
    created_at = Instant()
    actor_id = fields.Integer(allow_none=True)
    via = fields.String(example="jwt")
    action = fields.String(example="client.updated")
    entity = fields.String(allow_none=True)
    entity_id = fields.Integer(allow_none=True)
    before = fields.Dict(allow_none=True)
    after = fields.Dict(allow_none=True)
    ip = fields.String(allow_none=True)
    request_id = fields.String(allow_none=True)


class SessionQuerySchema(PageQuerySchema):
    """Whose sessions."""

    user_id = fields.Integer(load_default=None, validate=validate.RECORD_KEY)
