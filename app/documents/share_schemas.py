"""What links look like on the wire (contract 11.1)."""

from __future__ import annotations

from typing import Any

from app.documents.sharing.shares import DEFAULT_DAYS, MAXIMUM_DAYS, ShareTerms, check_expiry
from app.http import schema_bounds as validate, schema_fields as fields
from app.http.schema_fields import Schema
from app.http.schema_parts import CheckedSchema, Instant


class ShareBodySchema(CheckedSchema):
    """What a new link allows; everything may be left out."""

    def check(self, body: dict[str, Any]) -> None:
        """When it ends."""
        check_expiry(ShareTerms(**body))

    expires_at = Instant(
        data_key="expiresAt",
        metadata={"description": f"When it ends, at most {MAXIMUM_DAYS} days from now."},
    )
    expires_in_days = fields.Integer(
        data_key="expiresInDays",
        strict=True,
        validate=validate.Range(1, MAXIMUM_DAYS),
        metadata={"description": f"Or after how many days; {DEFAULT_DAYS} when neither is given."},
    )
    password = fields.String(
        allow_none=True,
        validate=validate.Length(4, 200),
        description="Asked of whoever opens the link.",
        example="blue harbour 12",
    )
    max_downloads = fields.Integer(
        data_key="maxDownloads",
        strict=True,
        allow_none=True,
        validate=validate.Range(1, 1_000_000),
        description="Downloads that it allows.",
    )
    recipient_email = fields.Email(
        data_key="recipientEmail",
        allow_none=True,
        validate=validate.Length(max=254),
        description="For whom it is.",
    )
    note = fields.String(
        allow_none=True,
        validate=validate.Length(max=500),
        description="For yourself; visitors do not see it.",
    )
    version = fields.Integer(
        strict=True,
        allow_none=True,
        validate=validate.Range(1, 2**31 - 1),
        description="File it is pinned to; the current one when left out.",
    )


class ShareSchema(Schema):
    """A link; its token is not part of it."""

    id = fields.Integer()
    documentId = fields.Integer()
    version = fields.Integer(allow_none=True)
    expiresAt = Instant()
    hasPassword = fields.Boolean()
    maxDownloads = fields.Integer(allow_none=True)
    downloadCount = fields.Integer()
    recipientEmail = fields.String(allow_none=True)
    note = fields.String(allow_none=True)
    createdAt = Instant()
    createdById = fields.Integer(allow_none=True)
    revokedAt = Instant(allow_none=True)


class MadeShareSchema(ShareSchema):
    """A new link, with its token this once."""

    token = fields.String(example="3mX0n6Qe1w")
    url = fields.String(example="https://platform.example.com/s/3mX0n6Qe1w")
