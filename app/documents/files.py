"""Files of documents: from a stream into the store, and from there into a row of a version."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import Any

from sqlalchemy import update

from app.blobs import Blob, blobs, new_key
from app.clock import utc_now
from app.db import records
from app.documents.media_types import (
    HEAD_BYTES,
    TAIL_BYTES,
    clean_file_name,
    media_type_of,
    suspicion,
)
from app.errors import ServiceUnavailableError, ValidationError
from app.http.dispositions import content_disposition
from app.models.document import Document, DocumentContent, DocumentVersion
from app.models.searched import search_text

AREA = "documents"


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file whose bytes lie in the store, and that no row names yet."""

    name: str
    content_type: str
    blob: Blob
    suspicion: str | None

    @property
    def properties(self) -> dict[str, Any]:
        """The columns that a version has, and its document too."""
        return {
            "file_name": self.name,
            "content_type": self.content_type,
            "size": self.blob.size,
            "sha256": self.blob.sha256,
        }


def store_file(chunks: Iterable[bytes], name: str | None, maximum: int) -> StoredFile:
    """Write a file into the store as it comes in.

    Args:
        maximum: bytes.
    Raises: ValidationError, its name is none or it is empty; UnsupportedMediaTypeError, before
        anything is stored; TooLargeError; ServiceUnavailableError, the store is away.
    """
    file_name = clean_file_name(name)
    incoming = iter(chunks)
    head = _take_head(incoming)
    if not head:
        raise ValidationError([("file", "is empty")])
    content_type = media_type_of(head[:HEAD_BYTES], file_name)
    tail = _Tail()
    blob = blobs.current.put(
        new_key(AREA),
        tail.watch(chain((head,), incoming)),
        maximum=maximum,
        headers={
            "Content-Type": content_type,
            "Content-Disposition": content_disposition("attachment", file_name),
        },
    )
    doubt = suspicion(content_type, head[:HEAD_BYTES], tail.content)
    return StoredFile(file_name, content_type, blob, doubt)


@contextmanager
def discarded_on_error(file: StoredFile) -> Iterator[None]:
    """Remove the bytes when what was to name them fails; what this misses is swept up later."""
    try:
        yield
    except Exception:
        discard(file)
        raise


def discard(file: StoredFile) -> None:
    """Remove the bytes of a file that no row names."""
    try:
        blobs.current.delete(file.blob.key)
    except ServiceUnavailableError:
        return


def add_version(document: Document, number: int, file: StoredFile, user_id: int | None) -> None:
    """Write the row that names the file, and the one that lets the worker look into it."""
    now, document_id = utc_now(), document.id
    version_id = records.insert(
        DocumentVersion,
        {
            "created_at": now,
            "document_id": document_id,
            "number": number,
            "blob_key": file.blob.key,
            "created_by_id": user_id,
            "quarantine_reason": file.suspicion,
            **file.properties,
        },
    )
    records.insert(
        DocumentContent,
        {
            "created_at": now,
            "document_id": document_id,
            "version_id": version_id,
            # Until the worker has looked into the file it is found by its name.
            "folded": search_text(document.name),
        },
    )


def look_again(document_id: int) -> None:
    """Let the worker look again, because the document has another name; part of the change."""
    statement = (
        update(DocumentContent)
        .where(DocumentContent.document_id == document_id)
        .values(state="Waiting", attempts=0)
    )
    records.connection().execute(statement)


def _take_head(incoming: Iterator[bytes]) -> bytes:
    head = b""
    for chunk in incoming:
        head += chunk
        if len(head) >= HEAD_BYTES:
            break
    return head


class _Tail:
    """Remembers the last bytes of what passes."""

    def __init__(self) -> None:
        self.content = b""

    def watch(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """Hand ``chunks`` on unchanged."""
        for chunk in chunks:
            self.content = (self.content + chunk)[-TAIL_BYTES:]
            yield chunk
