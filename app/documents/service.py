"""Documents: what is known of a file, its states, the trash and the way back."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, select, update

from app import audit
from app.clock import utc_now
from app.db import records
from app.db.types import AnyRow
from app.documents.files import StoredFile, add_version, look_again
from app.errors import InvalidStateError, NotFoundError
from app.events import emit, represent
from app.http.lists import Page, each, read_page
from app.http.security import Caller, current_caller
from app.models.document import Document, DocumentShare
from app.permissions import allowed, require
from app.settings.days import today
from app.writing.change import Change
from app.writing.deletion import release
from app.writing.integrity import named_refusals
from app.writing.operations import DELETE, require_operation
from app.writing.pipeline import EntityService
from app.writing.rules import EntityRules
from app.writing.states import require_right
from app.writing.transitions import DOCUMENT as DOCUMENT_STATES

DOCUMENT = EntityRules(
    model=Document,
    wire_names={"file_version": "version"},
    polymorphic=("entity_type", "entity_id"),
)

# How long a deleted document can be had back.
TRASH_DAYS = 30
SHARE_REVOKED = "document.share_revoked"


class DocumentService(EntityService[Document]):
    """Writes of documents; the files themselves are in app/documents."""

    rules = DOCUMENT
    machine = DOCUMENT_STATES

    def exists(self, record: Document) -> bool:
        """A document in the trash is there for nobody."""
        return record.status != "Deleted"

    def check(self, change: Change[Document]) -> None:
        """A retention can be lengthened by its owner; an earlier end would undo its point."""
        before = change.was("retain_until")
        if before is None or "retain_until" not in change.named:
            return
        until = change.values.get("retain_until")
        if before >= today() and (until is None or until < before):
            change.refuse("retain_until", f"must not be before {before}, to which it is retained")

    def enter(self, change: Change[Document], source: str | None, target: str) -> None:
        """Public links of a document that is put away stop."""
        if target == "Archived":
            change.values["is_shared"] = False
        elif target == "Quarantined":  # its links work again when it is released
            change.events.append("document.quarantined")

    def written(self, change: Change[Document]) -> None:
        """Revoke the links of what is put away; find by its new name what has one."""
        if change.before is not None and "name" in change.values:
            look_again(change.key)
        if change.values.get("status") == "Archived" and _revoke_shares(change.key, change.now):
            change.events.append(SHARE_REVOKED)

    # --- files --------------------------------------------------------------------------------

    def readable_document(self, key: int, caller: Caller, version: int | None = None) -> Document:
        """The document as it is, not locked: for work that takes long before anything is written.

        Raises: as ``locked``.
        """
        with records.looking() as connection:
            document = records.find(select(Document).where(Document.id == key), of=connection)
        readable = self._readable(key, document, caller)
        self._require_version(readable, version)
        return readable

    def find_writable(self, key: int, version: int | None = None) -> Document:
        """The document, where the caller may give it a file; nothing is locked.

        Raises: NotFoundError; ForbiddenError; PreconditionFailedError; InvalidStateError.
        """
        caller = current_caller()
        document = self.readable_document(key, caller, version)
        require(caller, self.rules.permissions["update"], document)
        require_operation("Document", "document", "upload", document)
        return document

    def add_file(self, key: int, file: StoredFile, version: int | None = None) -> None:
        """Make a file that lies in the store the current one of a document.

        The first makes the document ``Active``; a suspicious one ``Quarantined``.

        Raises: NotFoundError; ForbiddenError; PreconditionFailedError; InvalidStateError.
        """
        caller = current_caller()
        before = self.locked(key, caller, version)
        # Whoever has just made the document need not be somebody who may change it.
        if before.file_version or before.created_by_id != (caller.user_id or None):
            require(caller, self.rules.permissions["update"], before)
        require_operation("Document", "document", "upload", before)
        number = before.file_version + 1
        add_version(before, number, file, caller.user_id or None)
        values = {**file.properties, "file_version": number}
        if before.status == "Pending":
            self.apply(key, {**values, "status": "Active"}, "document.uploaded", by="upload")
        else:
            self.apply(key, values, "document.version_added")
        if file.suspicion is not None:
            self.apply(key, {"status": "Quarantined"}, by="scan")

    def count_download(self, key: int) -> None:
        """One more, with its event; the row version stays, because nothing was edited."""
        statement = (
            update(Document)
            .where(Document.id == key)
            .values(download_count=Document.download_count + 1)
            .returning(Document.version)
        )
        version = records.connection().execute(statement).scalar_one()
        emit("document.downloaded", "Document", key, sequence=version)

    def note_access(self, key: int) -> None:
        """Somebody used a public link of the document."""
        document = records.get(Document, key)  # a link goes with its document
        emit("document.share_accessed", "Document", key, sequence=document.version)

    def set_shared(self, key: int, is_shared: bool, event: str) -> None:
        """Whether the document has a live link, and what happened to its links."""
        row = self.stored(key)
        if row.is_shared == is_shared:
            emit(event, "Document", key, sequence=row.version)
        else:
            self.apply(key, {"is_shared": is_shared}, event)

    # --- trash --------------------------------------------------------------------------------

    def delete(self, key: int, version: int | None = None) -> None:
        """Put a document into the trash; administrators restore it within 30 days.

        Raises: NotFoundError; ForbiddenError; PreconditionFailedError; InUseError, it is retained.
        """
        caller = current_caller()
        before = self.locked(key, caller, version)
        require(caller, self.rules.permissions["delete"], before)
        require_operation("Document", "document", DELETE, before)
        self.trash(key, before)

    def trash(self, key: int, before: Document) -> None:
        """Mark a document as deleted and say so."""
        now, version = utc_now(), before.version + 1
        representation = represent(self.rules.name, key)
        changes = {
            "status": "Deleted",
            "status_before_deletion": before.status,
            "deleted_at": now,
            "is_shared": False,
            "updated_at": now,
            "updated_by_id": current_caller().user_id or None,
            "version": version,
        }
        records.update(self.rules.table, key, changes)
        names = [SHARE_REVOKED] if _revoke_shares(key, now) else []
        audit.record("document.deleted", "Document", key, before={"status": before.status})
        for name in (*names, "document.deleted"):
            emit(name, "Document", key, sequence=version, representation=representation)

    def purge(self, key: int, before: Document) -> None:
        """Remove a document of the trash for good; its deletion was told when it went there."""
        release(self.rules, key)
        with named_refusals(self.rules, deleting=True):
            records.delete(self.rules.table, key)
        lost = {
            "name": before.name,
            "file_name": before.file_name,
            "sha256": before.sha256,
            "deleted_at": before.deleted_at,
        }
        audit.record("document.purged", "Document", key, before=self.rules.reported(lost))

    def restore(self, key: int) -> None:
        """Bring a document back from the trash, in the state that it had.

        Raises: NotFoundError; ForbiddenError; InvalidStateError, it is not there or too long.
        """
        caller = current_caller()
        document = records.read(Document, key, lock=True)
        if document is None or not allowed(caller, self.rules.permissions["read"], document):
            raise NotFoundError(f"There is no document {key}.")
        step = next(known for known in DOCUMENT_STATES.transitions if "restore" in known.by)
        require_right(step, caller, document)
        if document.status != "Deleted" or document.deleted_at is None:
            raise InvalidStateError("The document is not deleted.", [("status", document.status)])
        if utc_now() - document.deleted_at > timedelta(days=TRASH_DAYS):
            raise InvalidStateError(
                f"The document was deleted more than {TRASH_DAYS} days ago.",
                [("deletedAt", "is too long ago")],
            )
        values = {
            "status": document.status_before_deletion,
            "deleted_at": None,
            "status_before_deletion": None,
        }
        self.apply(key, values, "document.restored", by="restore")


def _revoke_shares(document_id: int, now: datetime) -> int:
    """All live links end; returns how many. Their rows stay, with their log of accesses."""
    statement = (
        update(DocumentShare)
        .where(DocumentShare.document_id == document_id, is_live(now))
        .values(revoked_at=now)
    )
    return int(records.connection().execute(statement).rowcount)


def is_live(now: datetime) -> ColumnElement[bool]:
    """The condition that a link has not ended."""
    return DocumentShare.revoked_at.is_(None) & (DocumentShare.expires_at > now)


DOCUMENTS = DocumentService()


def list_trash(*, limit: int, offset: int) -> Page:
    """The documents that can be restored, the last deleted first.

    Raises: ForbiddenError.
    """
    require(current_caller(), "settings:update")
    since = utc_now() - timedelta(days=TRASH_DAYS)
    statement = (
        select(Document.__table__)
        .where(Document.status == "Deleted", Document.deleted_at >= since)
        .order_by(Document.deleted_at.desc(), Document.id.desc())
    )
    return read_page(statement, each(_describe), limit=limit, offset=offset)


def _describe(row: AnyRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "name": row.name,
        "fileName": row.file_name,
        "size": row.size,
        "category": row.category,
        "deletedAt": row.deleted_at,
        "until": row.deleted_at + timedelta(days=TRASH_DAYS),
    }
