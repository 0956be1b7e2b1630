"""What the operations on documents look like on the wire (contract 11.1)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from marshmallow import post_load

from app.clock import utc_now
from app.errors import refuse_any
from app.http import schema_bounds as validate, schema_fields as fields
from app.http.schema_fields import Schema
from app.http.schema_parts import CheckedSchema, Instant, PageQuerySchema, PostBodySchema
from app.models.document import DOCUMENT_CATEGORIES, DOCUMENT_STATUSES, ENTITY_TYPES

DEFAULT_DAYS = 7
MAXIMUM_DAYS = 365


@dataclass(frozen=True, kw_only=True)
class ShareTerms:
    """What a link allows, and for whom it is."""

    expires_at: datetime | None = None
    expires_in_days: int | None = None
    password: str | None = None
    max_downloads: int | None = None
    recipient_email: str | None = None
    note: str | None = None
    version: int | None = None

    @property
    def ends_at(self) -> datetime:
        """When it ends, counted from now where that is said in days."""
        days = DEFAULT_DAYS if self.expires_in_days is None else self.expires_in_days
        return self.expires_at or utc_now() + timedelta(days=days)


def check_expiry(terms: ShareTerms) -> None:
    """A link ends at an instant, or after some days.

    Raises: ValidationError, both are given, or the instant is past or too far away.
    """
    now, expires_at = utc_now(), terms.expires_at
    if expires_at is None:
        return
    problems = []
    if terms.expires_in_days is not None:
        problems.append(("expiresInDays", "is not given together with expiresAt"))
    if expires_at <= now:
        problems.append(("expiresAt", "must be in the future"))
    elif expires_at > now + timedelta(days=MAXIMUM_DAYS):
        problems.append(("expiresAt", f"must be within {MAXIMUM_DAYS} days"))
    refuse_any(problems)


_TEXT = {"type": "string"}
_KEY = {"type": "integer", "format": "int64"}
# The parts of the form (contract 11.1).
FILE_PART, EXISTING = "file", "documentId"
UPLOAD_PARTS: dict[str, dict[str, Any]] = {
    FILE_PART: {"type": "string", "format": "binary", "description": "The file."},
    "name": {**_TEXT, "description": "Name; that of the file when left out."},
    "description": _TEXT,
    "category": {**_TEXT, "enum": list(DOCUMENT_CATEGORIES)},
    "folder": _TEXT,
    "clientId": _KEY,
    "entityType": {**_TEXT, "enum": list(ENTITY_TYPES)},
    "entityId": _KEY,
    "tags": {**_TEXT, "description": "With commas between, or a JSON list."},
    EXISTING: {**_KEY, "description": "Document that gets a new version."},
}
UPLOAD_BODY: dict[str, Any] = {
    "required": True,
    "content": {
        "multipart/form-data": {
            "schema": {"type": "object", "required": [FILE_PART], "properties": UPLOAD_PARTS},
            "example": {"file": "bytes", "category": "Contract", "tags": "signed, 2026"},
        }
    },
}


class FileQuerySchema(Schema):
    """What raw bytes do not say."""

    file_name = fields.String(
        description="Name of the file; the one that it has when left out.", example="contract.pdf"
    )


class DownloadQuerySchema(Schema):
    """Which file."""

    version = fields.Integer(
        validate=validate.Range(1, 2**31 - 1),
        description="Number of the file; the current one when left out.",
    )


class UploadedSchema(Schema):
    """A document as OData shows it, and where its bytes are."""

    id = fields.Integer()
    name = fields.String(example="contract.pdf")
    description = fields.String(allow_none=True)
    category = fields.String(validate=validate.OneOf(DOCUMENT_CATEGORIES))
    folder = fields.String(allow_none=True)
    client_id = fields.Integer(allow_none=True)
    entity_type = fields.String(allow_none=True)
    entity_id = fields.Integer(allow_none=True)
    expires_at = fields.Date(allow_none=True)
    retain_until = fields.Date(allow_none=True)
    file_name = fields.String(example="contract.pdf")
    content_type = fields.String(example="application/pdf")
    size = fields.Integer(description="Bytes.")
    sha256 = fields.String(example="e3b0c44298fc1c149afbf4c8996fb924")
    version = fields.Integer(description="Number of the file.")
    status = fields.String(validate=validate.OneOf(DOCUMENT_STATUSES), example="Active")
    download_count = fields.Integer()
    is_shared = fields.Boolean()
    deleted_at = Instant(allow_none=True)
    owner_id = fields.Integer(allow_none=True)
    external_id = fields.String(allow_none=True)
    tags = fields.List(fields.String())
    custom_fields = fields.Dict()
    created_at = Instant()
    updated_at = Instant()
    created_by_id = fields.Integer(allow_none=True)
    updated_by_id = fields.Integer(allow_none=True)
    download_url = fields.String(example="/api/v1/documents/1/download")


class SearchQuerySchema(PageQuerySchema):
    """What to look for."""

    q = fields.String(
        required=True,
        validate=validate.Length(3, 200, lines=True),
        description="Words, one of three letters or more.",
        example="turbine",
    )


class FoundDocumentSchema(Schema):
    """A document that was found, with the text around the place."""

    id = fields.Integer(description="Key of the document.")
    name = fields.String(description="Name.", example="contract.pdf")
    file_name = fields.String(description="Name of the file.")
    content_type = fields.String(description="Media type.", example="application/pdf")
    category = fields.String(description="Category.", example="Contract")
    size = fields.Integer(description="Bytes of the file.")
    status = fields.String(description="Status.", example="Active")
    snippet = fields.String(
        allow_none=True,
        description="Text around the place, if there is one.",
        example="…delivers two turbines to…",
    )
    updated_at = Instant(description="When it last changed.")
    url = fields.String(description="Its address.", example="/odata/Documents(1)")


class FoundDocumentsSchema(Schema):
    """A page of documents that were found."""

    query = fields.String(description="What was looked for.", example="turbine")
    total = fields.Integer(description="Documents on all pages.")
    limit = fields.Integer(description="Most documents of a page.")
    offset = fields.Integer(description="How many were left out first.")
    items = fields.List(fields.Nested(FoundDocumentSchema), description="Documents of this page.")


class RestoredSchema(Schema):
    """A document that is back from the trash, in the state that it had."""

    id = fields.Integer()
    name = fields.String(example="contract.pdf")
    status = fields.String(example="Active")


class ShareBodySchema(CheckedSchema, PostBodySchema):
    """What a new link allows; everything may be left out."""

    def check(self, body: dict[str, Any]) -> None:
        """Refuse two ends, and one that is past or too far away."""
        check_expiry(ShareTerms(**body))

    @post_load
    def make(self, values: dict[str, Any], **_: Any) -> ShareTerms:
        """The loaded values as ``ShareTerms``."""
        return ShareTerms(**values)

    expires_at = Instant(
        metadata={"description": f"When it ends, at most {MAXIMUM_DAYS} days from now."},
    )
    expires_in_days = fields.Integer(
        strict=True,
        validate=validate.Range(1, MAXIMUM_DAYS),
        metadata={
            "description": f"Or after how many days; {DEFAULT_DAYS} when neither is given.",
            "label": "Days until it ends",
            "hint": f"{DEFAULT_DAYS}, when left out",
            "preset": DEFAULT_DAYS,
        },
    )
    password = fields.String(
        validate=validate.Length(4, 200),
        metadata={
            "description": "Asked of whoever opens the link.",
            "example": "blue harbour 12",
            "format": "password",
            "hint": "none, when left out",
        },
    )
    max_downloads = fields.Integer(
        strict=True,
        validate=validate.Range(1, 1_000_000),
        metadata={
            "description": "Downloads that it allows.",
            "label": "Downloads",
            "hint": "without limit, when left out",
        },
    )
    recipient_email = fields.Email(
        validate=validate.Length(max=254, lines=True),  # the form of an address is one line
        metadata={
            "description": "For whom it is.",
            "label": "For",
            "hint": "an e-mail address",
        },
    )
    note = fields.String(
        validate=validate.Length(max=500),
        metadata={
            "description": "For yourself; visitors do not see it.",
            "hint": "visitors do not see it",
        },
    )
    version = fields.Integer(
        strict=True,
        validate=validate.Range(1, 2**31 - 1),
        description="File it is pinned to; the current one when left out.",
    )


class ShareSchema(Schema):
    """A link; its token is not part of it."""

    id = fields.Integer(description="Key of the link.")
    document_id = fields.Integer(description="Document that it leads to.")
    version = fields.Integer(
        allow_none=True, description="File it is pinned to; null for the current one."
    )
    expires_at = Instant(description="When it ends.")
    has_password = fields.Boolean(description="Whether a password is asked for.")
    max_downloads = fields.Integer(
        allow_none=True, description="Downloads that it allows; null for any number."
    )
    download_count = fields.Integer(description="Downloads so far.")
    recipient_email = fields.String(allow_none=True, description="For whom it is.")
    note = fields.String(allow_none=True, description="Visitors do not see it.")
    created_at = Instant(description="When it was made.")
    created_by_id = fields.Integer(allow_none=True, description="User who made it.")
    revoked_at = Instant(allow_none=True, description="When it was ended.")


class MadeShareSchema(ShareSchema):
    """A new link, with its token this once; a dry run makes none, and has neither key nor token."""

    id = fields.Integer(allow_none=True, description="Key of the link.")
    token = fields.String(
        allow_none=True, description="What opens it, shown this once.", example="3mX0n6Qe1w"
    )
    url = fields.String(
        allow_none=True,
        description="Where it leads to, shown this once.",
        example="https://platform.example.com/s/3mX0n6Qe1w",
    )
