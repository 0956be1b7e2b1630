"""What links look like on the wire (contract 11.1)."""

from __future__ import annotations

from typing import Any

from app.documents.sharing.shares import DEFAULT_DAYS, MAXIMUM_DAYS, ShareTerms, check_expiry
from app.http import schema_bounds as validate, schema_fields as fields
from app.http.schema_parts import CheckedSchema, Instant


class ShareBodySchema(CheckedSchema):
    """What a new link allows; everything may be left out."""

    def check(self, body: dict[str, Any]) -> None:
        """When it ends."""
        check_expiry(ShareTerms(**body))

    expires_at = Instant(
        metadata={"description": f"When it ends, at most {MAXIMUM_DAYS} days from now."}
    )
    expires_in_days = fields.Integer(
        strict=True,
        validate=validate.Range(1, MAXIMUM_DAYS),
        description=f"Or after how many days; {DEFAULT_DAYS} when neither is given.",
    )
    password = fields.String(
        allow_none=True,
        validate=validate.Length(4, 200),
        description="Asked of whoever opens the link.",
        example="blue harbour 12",
    )
    max_downloads = fields.Integer(
        strict=True,
        allow_none=True,
        validate=validate.Range(1, 1_000_000),
        description="Downloads that it allows.",
    )
    recipient_email = fields.Email(
        allow_none=True, validate=validate.Length(max=254), description="For whom it is."
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
