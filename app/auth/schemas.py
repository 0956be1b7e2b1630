"""What signing in looks like on the wire (contract 11.1)."""

from __future__ import annotations

from app.http import schema_bounds as validate, schema_fields as fields
from app.http.schema_fields import Schema
from app.http.schema_parts import Instant

# Longer than any password; the hash takes it whole.
_PASSWORD = validate.Length(max=10_000)


class LoginSchema(Schema):
    """Name and password."""

    username = fields.String(required=True, validate=validate.Length(max=1000), example="anna")
    password = fields.String(required=True, validate=_PASSWORD, example="three-blue-kettles")


class RefreshSchema(Schema):
    """A refresh token."""

    refresh_token = fields.String(
        required=True, data_key="refreshToken", validate=validate.Length(max=1000)
    )


class TokenPairSchema(Schema):
    """Both tokens; ``expiresIn`` is the lifetime of the access token in seconds."""

    access_token = fields.String(data_key="accessToken")
    refresh_token = fields.String(data_key="refreshToken")
    expires_in = fields.Integer(data_key="expiresIn", example=900)
    token_type = fields.String(data_key="tokenType", example="Bearer")


class UserSchema(Schema):
    """An account, its roles, and what they permit."""

    id = fields.Integer()
    username = fields.String()
    email = fields.String(allow_none=True)
    displayName = fields.String()
    status = fields.String(example="active")
    roles = fields.List(fields.String(), example=["Sales"])
    permissions = fields.List(fields.String(), example=["clients:read"])
    language = fields.String(example="en")
    timezone = fields.String(example="Europe/Berlin")
    lastLoginAt = Instant(allow_none=True)
    createdAt = Instant()


class AuthSchema(Schema):
    """How the caller signed in."""

    type = fields.String(validate=validate.OneOf(["jwt", "apiKey"]))
    sessionId = fields.String(allow_none=True)
    keyPrefix = fields.String(allow_none=True)
    scopes = fields.List(fields.String(), allow_none=True)
    expiresAt = Instant(allow_none=True)


class CallerSchema(UserSchema):
    """The caller."""

    auth = fields.Nested(AuthSchema)


class PasswordChangeSchema(Schema):
    """The present password and the one to have."""

    current_password = fields.String(
        required=True, data_key="currentPassword", validate=_PASSWORD, example="three-blue-kettles"
    )
    new_password = fields.String(
        required=True, data_key="newPassword", validate=_PASSWORD, example="seven-green-lanterns"
    )


class SessionSchema(Schema):
    """A sign-in that lasts."""

    id = fields.String()
    userId = fields.Integer()
    username = fields.String()
    ip = fields.String(allow_none=True)
    userAgent = fields.String(allow_none=True)
    createdAt = Instant()
    lastSeenAt = Instant()
    expiresAt = Instant()
    current = fields.Boolean(description="Whether it is the session of this request.")
