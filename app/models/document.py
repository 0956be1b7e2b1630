"""Documents: files with versions, and the public links to them."""

from __future__ import annotations

from datetime import date, datetime

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Index,
    UniqueConstraint,
)
from sqlalchemy.orm import Mapped

from app.db.partial_index import partial_index
from app.db.types import Identifier, string, text
from app.models.columns import Entity, Record, column, entity_args, foreign_key
from app.models.indexes import nulls_first

DOCUMENT_CATEGORIES = (
    "Contract", "Invoice", "Quote", "Report", "Correspondence", "Identity", "Other",
)  # fmt: skip
DOCUMENT_STATUSES = ("Pending", "Active", "Archived", "Quarantined", "Deleted")
CONTENT_STATES = ("Waiting", "Done", "Failed")
ENTITY_TYPES = (
    "Client", "Contact", "Lead", "Opportunity", "Ticket", "Invoice", "KbArticle", "Document",
    "Task", "Project",
)  # fmt: skip


class Document(Entity):
    """A file, and what is known about it; the bytes lie in the blob store."""

    __tablename__ = "documents"

    name: Mapped[str] = column("Name.", string(255), format="file_name", searchable=True)
    description: Mapped[str | None] = column("Description.", string(2000))
    category: Mapped[str] = column("Category.", default="Other", allowed=DOCUMENT_CATEGORIES)
    folder: Mapped[str | None] = column("Folder.", string(255), index=True)
    client_id: Mapped[int | None] = foreign_key("clients", "Client it concerns.")
    entity_type: Mapped[str | None] = column(
        "Type of the record it belongs to.", allowed=ENTITY_TYPES
    )
    entity_id: Mapped[int | None] = column("Record it belongs to.", Identifier)
    expires_at: Mapped[date | None] = column("Day it loses its validity.")
    retain_until: Mapped[date | None] = column("Not to be deleted before.")
    file_name: Mapped[str | None] = column("Name of the file.", string(255), computed=True)
    content_type: Mapped[str | None] = column(
        "Media type, found in the content.", string(127), computed=True
    )
    size: Mapped[int | None] = column("Bytes.", BigInteger, minimum=0, computed=True)
    sha256: Mapped[str | None] = column("SHA-256 of the content, hex.", string(64), computed=True)
    # The number of the current file; the row's own version is the ETag.
    file_version: Mapped[int] = column("Number of the file.", default=0, computed=True)
    status: Mapped[str] = column(
        "State of the document.", default="Pending", allowed=DOCUMENT_STATUSES
    )
    download_count: Mapped[int] = column("Downloads.", default=0, computed=True)
    is_shared: Mapped[bool] = column("Has a live public link.", default=False, computed=True)
    deleted_at: Mapped[datetime | None] = column("When it was deleted.", computed=True)
    # The state that a restore returns to.
    status_before_deletion: Mapped[str | None] = column(
        "State before deletion.", allowed=DOCUMENT_STATUSES, computed=True
    )

    __table_args__ = entity_args(
        CheckConstraint("(entity_type IS NULL) = (entity_id IS NULL)", name="entity_whole"),
        Index("ix_documents_entity_type_entity_id", "entity_type", "entity_id"),
        Index("ix_documents_status_created_at", "status", "created_at"),
        Index("ix_documents_name", "name"),
        Index("ix_documents_expires_at", nulls_first("expires_at")),
        Index("ix_documents_deleted_at", nulls_first("deleted_at")),
    )


class DocumentVersion(Record):
    """One file of a document; ``blob_key`` names the bytes in the store."""

    __tablename__ = "document_versions"
    __table_args__ = (UniqueConstraint("document_id", "number"),)

    document_id: Mapped[int] = foreign_key(
        "documents", "Document.", ondelete="CASCADE", index=False
    )
    number: Mapped[int] = column("Number, from 1.")
    file_name: Mapped[str] = column("Name of the file.", string(255))
    content_type: Mapped[str] = column("Media type.", string(127))
    size: Mapped[int] = column("Bytes.", BigInteger, minimum=0)
    sha256: Mapped[str] = column("SHA-256, hex.", string(64))
    blob_key: Mapped[str] = column("Key in the store.", string(100), unique=True)
    created_by_id: Mapped[int | None] = foreign_key("users", "Who uploaded it.", index=False)
    quarantine_reason: Mapped[str | None] = column("Why it was quarantined.", string(200))


class DocumentContent(Record):
    """What the worker finds in a file: its text, to be searched, and a picture of its first page.

    The row is made with the version and waits; so it is the queue of the worker as well.
    """

    __tablename__ = "document_contents"

    document_id: Mapped[int] = foreign_key("documents", "Document.", ondelete="CASCADE")
    version_id: Mapped[int] = foreign_key(
        "document_versions", "File.", ondelete="CASCADE", index=False
    )
    state: Mapped[str] = column(
        "What became of it.", string(10), default="Waiting", allowed=CONTENT_STATES
    )
    attempts: Mapped[int] = column("How often it was tried.", default=0)
    leased_until: Mapped[datetime | None] = column("A worker has it until then.")
    preview_key: Mapped[str | None] = column("Key of the picture.", string(100), unique=True)
    body: Mapped[str | None] = column("Text of the file, its beginning.", text())
    # Lower case, without accents: what a search compares with.
    folded: Mapped[str | None] = column("The text as it is searched.", text(), searchable=True)

    __table_args__ = (
        UniqueConstraint("version_id"),
        partial_index(
            "ix_document_contents_waiting", "id",
            where="state = 'Waiting'",
        ),
    )  # fmt: skip


class OrphanBlob(Record):
    """A blob that no row named when the store was looked through; the next look decides."""

    __tablename__ = "orphan_blobs"

    blob_key: Mapped[str] = column("Key in the store.", string(100), unique=True)


class DocumentShare(Record):
    """A public link to a document; the token is kept only as its hash."""

    __tablename__ = "document_shares"

    document_id: Mapped[int] = foreign_key("documents", "Document.", ondelete="CASCADE")
    token_hash: Mapped[str] = column("SHA-256, hex.", string(64), unique=True)
    version: Mapped[int | None] = column("File it is pinned to; the latest when none.")
    expires_at: Mapped[datetime] = column("End of validity.", index=True)
    password_hash: Mapped[str | None] = column("argon2id.", string(255))
    password_failures: Mapped[int] = column("Wrong passwords.", default=0)
    locked_until: Mapped[datetime | None] = column("No passwords before.")
    max_downloads: Mapped[int | None] = column("Limit of downloads.", minimum=1)
    download_count: Mapped[int] = column("Downloads.", default=0)
    recipient_email: Mapped[str | None] = column("For whom.", string(254), format="email")
    note: Mapped[str | None] = column("Note.", string(500))
    created_by_id: Mapped[int | None] = foreign_key("users", "Who made it.", index=False)
    revoked_at: Mapped[datetime | None] = column("When it was revoked.")


class ShareAccess(Record):
    """One use of a public link."""

    __tablename__ = "share_accesses"

    share_id: Mapped[int] = foreign_key("document_shares", "Link.", ondelete="CASCADE")
    action: Mapped[str] = column("viewed, downloaded, denied.", string(20))
    ip: Mapped[str | None] = column("Address.", string(45))
    user_agent: Mapped[str | None] = column("Program.", string(255))
