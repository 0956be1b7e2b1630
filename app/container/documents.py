"""Entity types Document, DocumentVersion and DocumentShare."""

from __future__ import annotations

from app.container.common import business_type, expressed, preserved, props, servers
from app.models.document import Document, DocumentShare, DocumentVersion
from app.odata.model import edm
from app.odata.model.declare import prop, to_many, to_one

_document = Document.__table__
_version = DocumentVersion.__table__
_share = DocumentShare.__table__

DOCUMENT = business_type(
    "Document",
    _document,
    [
        *props(
            _document, "name", "description", "category", "folder", "client_id", "entity_type",
            "entity_id", "expires_at", "retain_until", "file_name", "content_type", "size",
            "sha256",
        ),
        prop(_document.c.file_version, "version"),
        preserved(_document.c.status),
        *props(_document, "download_count", "is_shared", "deleted_at"),
    ],
    [
        to_one(
            "Client",
            "Client",
            "client_id",
            partner="Documents",
            searched=True,
            description="Client.",
        ),
        to_many("Versions", "DocumentVersion", "document_id", contained=True, description="Files."),
        to_many(
            "Shares", "DocumentShare", "document_id", contained=True, description="Public links."
        ),
    ],
    resource="documents",
    has_stream=True,
    # What lies in the trash is found by its restore only.
    visible=lambda columns: columns.status != "Deleted",
    description="A file, and what is known about it.",
)  # fmt: skip

DOCUMENT_VERSION = business_type(
    "DocumentVersion",
    _version,
    [
        *servers(
            _version, "number", "file_name", "content_type", "size", "sha256", "created_at",
            "created_by_id", "quarantine_reason",
        ),
    ],
    resource="documents",
    description="One file of a document.",
)  # fmt: skip

DOCUMENT_SHARE = business_type(
    "DocumentShare",
    _share,
    [
        *servers(_share, "version", "expires_at"),
        expressed(
            "has_password",
            edm.BOOLEAN,
            lambda columns, rights: columns.password_hash.is_not(None),
            "Whether a password is asked for.",
        ),
        *servers(
            _share, "max_downloads", "download_count", "recipient_email", "note", "created_at",
            "created_by_id", "revoked_at",
        ),
    ],
    resource="documents",
    description="A public link to a document.",
)  # fmt: skip
