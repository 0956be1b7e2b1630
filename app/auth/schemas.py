"""What signing in, accounts, roles and keys look like on the wire (contract 11.1, 11.2)."""

from __future__ import annotations

from app.http import schema_bounds as validate, schema_fields as fields
from app.http.schema_fields import Schema
from app.http.schema_parts import Instant

# Longer than any password; the hash takes it whole.
_PASSWORD = validate.Length(max=10_000)
PERMISSIONS_EXAMPLE = {"clients:read": "all", "clients:update": "own"}


class LoginSchema(Schema):
    """Name and password."""

    username = fields.String(required=True, validate=validate.Length(max=1000), example="anna")
    password = fields.String(required=True, validate=_PASSWORD, example="three-blue-kettles")


class RefreshSchema(Schema):
    """A refresh token."""

    refresh_token = fields.String(required=True, validate=validate.Length(max=1000))


class TokenPairSchema(Schema):
    """Both tokens; ``expiresIn`` is the lifetime of the access token in seconds."""

    access_token = fields.String()
    refresh_token = fields.String()
    expires_in = fields.Integer(example=900)
    token_type = fields.String(example="Bearer")


class UserSchema(Schema):
    """An account, its roles, and what they permit."""

    id = fields.Integer()
    username = fields.String()
    email = fields.String(allow_none=True)
    display_name = fields.String()
    status = fields.String(example="active")
    roles = fields.List(fields.String(), example=["Sales"])
    permissions = fields.List(fields.String(), example=["clients:read"])
    language = fields.String(example="en")
    timezone = fields.String(example="Europe/Berlin")
    last_login_at = Instant(allow_none=True)
    created_at = Instant()


class RoleSchema(Schema):
    """A role and its rights."""

    id = fields.Integer()
    name = fields.String(example="Field sales")
    description = fields.String(allow_none=True)
    is_builtin = fields.Boolean()
    permissions = fields.Dict(fields.String(), fields.String(), example=PERMISSIONS_EXAMPLE)
    created_at = Instant()


class ApiKeySchema(Schema):
    """A key as it is listed."""

    id = fields.Integer()
    name = fields.String(example="ERP")
    prefix = fields.String()
    role = fields.String()
    scopes = fields.List(fields.String())
    status = fields.String(validate=validate.OneOf(("active", "expired", "revoked")))
    expires_at = Instant(allow_none=True)
    created_at = Instant()
    last_used_at = Instant(allow_none=True)
    last_used_ip = fields.String(allow_none=True)
    revoked_at = Instant(allow_none=True)


class AuthSchema(Schema):
    """How the caller signed in."""

    type = fields.String(validate=validate.OneOf(["jwt", "apiKey"]))
    session_id = fields.String(allow_none=True)
    key_prefix = fields.String(allow_none=True)
    scopes = fields.List(fields.String(), allow_none=True)
    expires_at = Instant(allow_none=True)


class CallerSchema(UserSchema):
    """Who calls, and how they signed in."""

    auth = fields.Nested(AuthSchema)


class PasswordChangeSchema(Schema):
    """The present password and the one to have."""

    current_password = fields.String(
        required=True, validate=_PASSWORD, example="three-blue-kettles"
    )
    new_password = fields.String(required=True, validate=_PASSWORD, example="seven-green-lanterns")


class SessionSchema(Schema):
    """A sign-in that lasts."""

    id = fields.String()
    user_id = fields.Integer()
    username = fields.String()
    ip = fields.String(allow_none=True)
    user_agent = fields.String(allow_none=True)
    created_at = Instant()
    last_seen_at = Instant()
    expires_at = Instant()
    current = fields.Boolean(description="Whether it is the session of this request.")
