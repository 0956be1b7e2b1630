"""Entity types Document, DocumentVersion and DocumentShare."""

from __future__ import annotations

from app.container.common import business_type, expressed, refers, servers
from app.models.document import Document, DocumentShare, DocumentVersion
from app.odata.model import edm
from app.odata.model.declare import prop, to_many

DOCUMENT = business_type(
    Document,
    [
        "name", "description", "category", "folder", "client_id", "entity_type", "entity_id",
        "expires_at", "retain_until", "file_name", "content_type", "size", "sha256",
        prop(Document.__table__.c.file_version, "version"),
        "status", "download_count", "is_shared", "deleted_at",
    ],
    [
        refers("client_id", partner="Documents", searched=True),
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
    DocumentVersion,
    [
        *servers(
            DocumentVersion, "number", "file_name", "content_type", "size", "sha256", "created_at",
            "created_by_id", "quarantine_reason",
        ),
    ],
    resource="documents",
    description="One file of a document.",
)  # fmt: skip

DOCUMENT_SHARE = business_type(
    DocumentShare,
    [
        *servers(DocumentShare, "version", "expires_at"),
        expressed(
            "has_password",
            edm.BOOLEAN,
            lambda columns, rights: columns.password_hash.is_not(None),
            "Whether a password is asked for.",
        ),
        *servers(
            DocumentShare, "max_downloads", "download_count", "recipient_email", "note",
            "created_at", "created_by_id", "revoked_at",
        ),
    ],
    resource="documents",
    description="A public link to a document.",
)  # fmt: skip
