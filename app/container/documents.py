"""Entity types Document, DocumentVersion and DocumentShare."""

from __future__ import annotations

from app.container.common import business_type, common, kept, key, owner, server
from app.models.document import Document, DocumentShare, DocumentVersion
from app.odata.declare import prop, to_many, to_one
from app.odata.model import edm

_document = Document.__table__
_version = DocumentVersion.__table__
_share = DocumentShare.__table__

DOCUMENT = business_type(
    "Document",
    _document,
    [
        key(_document),
        prop(_document.c.name),
        prop(_document.c.description),
        prop(_document.c.category),
        prop(_document.c.folder),
        prop(_document.c.client_id),
        prop(_document.c.entity_type),
        prop(_document.c.entity_id),
        prop(_document.c.expires_at),
        prop(_document.c.retain_until),
        prop(_document.c.file_name),
        prop(_document.c.content_type),
        prop(_document.c.size),
        prop(_document.c.sha256),
        prop(_document.c.file_version, "version"),
        kept(_document.c.status),
        prop(_document.c.download_count),
        prop(_document.c.is_shared),
        prop(_document.c.deleted_at),
        *common(_document),
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
        owner(),
    ],
    resource="documents",
    etag="version",
    alternate_keys=(("external_id",),),
    has_stream=True,
    # What lies in the trash is found by its restore only.
    visible=lambda columns: columns.status != "Deleted",
    description="A file, and what is known about it.",
)

DOCUMENT_VERSION = business_type(
    "DocumentVersion",
    _version,
    [
        key(_version),
        server(_version.c.number),
        server(_version.c.file_name),
        server(_version.c.content_type),
        server(_version.c.size),
        server(_version.c.sha256),
        server(_version.c.created_at),
        server(_version.c.created_by_id),
        server(_version.c.quarantine_reason),
    ],
    resource="documents",
    description="One file of a document.",
)

DOCUMENT_SHARE = business_type(
    "DocumentShare",
    _share,
    [
        key(_share),
        server(_share.c.version),
        server(_share.c.expires_at),
        edm.Property(
            name="hasPassword",
            type=edm.BOOLEAN,
            attribute="has_password",
            expression=lambda columns, rights: columns.password_hash.is_not(None),
            nullable=False,
            computed=True,
            description="Whether a password is asked for.",
        ),
        server(_share.c.max_downloads),
        server(_share.c.download_count),
        server(_share.c.recipient_email),
        server(_share.c.note),
        server(_share.c.created_at),
        server(_share.c.created_by_id),
        server(_share.c.revoked_at),
    ],
    resource="documents",
    description="A public link to a document.",
)
