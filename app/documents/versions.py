"""Which file of a document is meant, and whether it may be given out."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select

from app.db import records
from app.errors import InvalidStateError, NotFoundError
from app.models.document import Document, DocumentVersion


@dataclass(frozen=True, slots=True)
class FileVersion:
    """One file of a document, as it is given out."""

    id: int
    document_id: int
    number: int
    name: str
    content_type: str
    size: int
    sha256: str
    blob_key: str
    uploaded_at: datetime


def find_version(document: Document, number: int | None = None) -> FileVersion:
    """The current file of a document, or an earlier one; whoever asks.

    Raises: NotFoundError, there is no such version; InvalidStateError, the document waits for its
        file, or is quarantined.
    """
    require_open(document)
    version_number = document.file_version if number is None else number
    statement = select(DocumentVersion.__table__).where(
        DocumentVersion.document_id == document.id, DocumentVersion.number == version_number
    )
    with records.looking() as connection:
        row = connection.execute(statement).first()
    if row is None:
        raise NotFoundError(
            f"Document {document.id} has no version {version_number}.",
            [("version", "is not there")],
        )
    return FileVersion(
        row.id, row.document_id, row.number, row.file_name, row.content_type, row.size,
        row.sha256, row.blob_key, row.created_at,
    )  # fmt: skip


def require_open(document: Document) -> None:
    """Refuse a document whose bytes are not given out.

    Raises: InvalidStateError.
    """
    status = document.status
    if status == "Quarantined":
        raise InvalidStateError(
            "The document is quarantined: an administrator has to release it first.",
            [("status", "is Quarantined")],
        )
    if document.file_version == 0:
        raise InvalidStateError("The document has no file yet.", [("status", f"is {status}")])
