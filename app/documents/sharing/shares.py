"""The links of a document, for whoever may share it: made, listed, revoked."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import func, select, update

from app import audit
from app.auth.passwords import passwords
from app.clock import utc_now
from app.db import records
from app.documents.schemas import ShareSchema, ShareTerms, check_expiry
from app.documents.service import DOCUMENTS, is_live
from app.documents.serving import find_version
from app.errors import NotFoundError, ValidationError, gathered
from app.http.lists import Page, each_of, read_page
from app.http.schema_parts import answer_body
from app.http.security import current_caller
from app.models.document import Document, DocumentShare, ShareAccess
from app.permissions import require
from app.writing.operations import require_operation

PERMISSION = "documents:share"


def token_hash(token: str) -> str:
    """What the database keeps of a token: SHA-256, hex; it has 256 random bits."""
    return hashlib.sha256(token.encode()).hexdigest()


def share_document(document_id: int, terms: ShareTerms) -> tuple[dict[str, Any], str]:
    """Make a public link; returns it and its token, which nobody can read again.

    Raises: NotFoundError; ForbiddenError; InvalidStateError, the document is not ``Active``;
        ValidationError, it has no such version, or the link cannot end then.
    """
    caller = current_caller()
    document = DOCUMENTS.locked(document_id, caller)
    require(caller, PERMISSION, document)
    require_operation("Document", "document", "share", document)
    gathered(lambda: check_expiry(terms), lambda: _check_version(document, terms))
    token = secrets.token_urlsafe(32)
    password = terms.password
    share_id = records.insert(
        DocumentShare,
        {
            "created_at": utc_now(),
            "document_id": document_id,
            "token_hash": token_hash(token),
            "version": terms.version,
            "expires_at": terms.ends_at,
            "password_hash": None if password is None else passwords.current.hash(password),
            "max_downloads": terms.max_downloads,
            "recipient_email": terms.recipient_email,
            "note": terms.note,
            "created_by_id": caller.user_id or None,
        },
    )
    share = describe_share(records.get(DocumentShare, share_id))
    audit.record("document.shared", "Document", document_id, after=_audited(share))
    DOCUMENTS.set_shared(document_id, True, "document.shared")
    return share, token


def list_shares(document_id: int, *, limit: int, offset: int) -> Page:
    """The links of a document, the newest first; never their tokens.

    Raises: NotFoundError; ForbiddenError.
    """
    caller = current_caller()
    require(caller, PERMISSION, DOCUMENTS.readable_document(document_id, caller))
    statement = select(DocumentShare).where(DocumentShare.document_id == document_id)
    return read_page(
        statement.order_by(DocumentShare.id.desc()),
        each_of(DocumentShare, describe_share),
        limit=limit,
        offset=offset,
    )


def list_accesses(document_id: int, share_id: int, *, limit: int, offset: int) -> Page:
    """The uses of a link, the latest first: ``viewed``, ``downloaded`` or ``denied``.

    Raises: NotFoundError; ForbiddenError.
    """
    caller = current_caller()
    require(caller, PERMISSION, DOCUMENTS.readable_document(document_id, caller))
    statement = (
        select(ShareAccess)
        .join(DocumentShare, DocumentShare.id == ShareAccess.share_id)
        .where(DocumentShare.document_id == document_id, DocumentShare.id == share_id)
        .order_by(ShareAccess.id.desc())
    )
    return read_page(statement, each_of(ShareAccess, _describe_access), limit=limit, offset=offset)


def revoke_share(document_id: int, share_id: int) -> None:
    """End a link at once; its log of accesses stays.

    Raises: NotFoundError; ForbiddenError.
    """
    caller = current_caller()
    document = DOCUMENTS.locked(document_id, caller)
    require(caller, PERMISSION, document)
    share = records.read(DocumentShare, share_id)
    if share is None or share.document_id != document_id:
        raise NotFoundError(f"Document {document_id} has no link {share_id}.")
    if share.revoked_at is not None:
        return
    now = utc_now()
    records.update(DocumentShare, share_id, {"revoked_at": now})
    audit.record("document.share_revoked", "Document", document_id, after={"shareId": share_id})
    is_shared = _has_live_links(document_id, now)
    DOCUMENTS.set_shared(document_id, is_shared, "document.share_revoked")


def unshare_expired() -> int:
    """Documents whose last link has expired are not shared any more; returns how many."""
    now = utc_now()
    live = select(DocumentShare.document_id).where(is_live(now))
    statement = (
        update(Document)
        .where(Document.is_shared, Document.id.not_in(live))
        .values(is_shared=False, updated_at=now, version=Document.version + 1)
    )
    return int(records.connection().execute(statement).rowcount)


def describe_share(row: DocumentShare) -> dict[str, Any]:
    """A link as the API shows it."""
    return answer_body(ShareSchema, row, has_password=row.password_hash is not None)


def _describe_access(row: ShareAccess) -> dict[str, Any]:
    return {"at": row.created_at, "action": row.action, "ip": row.ip, "userAgent": row.user_agent}


def _check_version(document: Document, terms: ShareTerms) -> None:
    if terms.version is not None:
        try:
            find_version(document, terms.version)
        except NotFoundError as error:
            raise ValidationError([("version", f"there is no version {terms.version}")]) from error


def _has_live_links(document_id: int, now: datetime) -> bool:
    statement = select(func.count()).where(DocumentShare.document_id == document_id, is_live(now))
    return bool(records.connection().execute(statement).scalar_one())


def _audited(share: Mapping[str, Any]) -> dict[str, Any]:
    names = ("id", "version", "expiresAt", "hasPassword", "maxDownloads", "recipientEmail")
    return {name: share[name] for name in names if share[name] is not None}
