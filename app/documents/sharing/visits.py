"""Using a public link: nobody signs in, the token is all that is known.

What a link allows is decided by one conditional UPDATE, so a limit of downloads holds however many
come at the same time. Tries of a password are counted before the password is looked at, in a
transaction of their own, so they count whatever comes of the request.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from flask import Response, request
from sqlalchemy import case, literal, or_, select, update

from app.auth.passwords import passwords
from app.clock import utc_now
from app.db import records
from app.db.engines import primary_engine
from app.db.types import UtcDateTime
from app.documents.service import DOCUMENTS, is_live
from app.documents.serving import FileRequest, deliver, find_version, require_open
from app.documents.sharing.shares import token_hash
from app.errors import InvalidCredentialsError, NotFoundError, RateLimitedError
from app.extensions import db
from app.http.request_context import client_address
from app.http.security import acting_as, visitor
from app.models.document import Document, DocumentShare, DocumentVersion, ShareAccess

# So many wrong passwords close a link for a while, to everybody.
TRIES = 5
CLOSED_FOR = timedelta(minutes=15)
_TOKEN = re.compile(r"[A-Za-z0-9_-]{20,100}")
_USER_AGENT_LENGTH = 255


@dataclass(frozen=True, slots=True)
class Visit:
    """A link that works, and the document behind it."""

    share: DocumentShare
    document: Document

    @property
    def asks_password(self) -> bool:
        """Whether a password has to be given."""
        return self.share.password_hash is not None

    @property
    def is_limited(self) -> bool:
        """Whether every download counts."""
        return self.share.max_downloads is not None


class LinkPasswordError(InvalidCredentialsError):
    """The link asks for a password, and none or a wrong one was given."""


def open_link(token: str) -> Visit:
    """The link with this token.

    Raises: NotFoundError, there is none, or it has ended, with the reason; InvalidStateError, its
        document is quarantined.
    """
    if not _TOKEN.fullmatch(token):
        raise _nothing()
    with primary_engine().connect() as connection:
        of_token = select(DocumentShare).where(DocumentShare.token_hash == token_hash(token))
        share = records.find(of_token, of=connection)
        if share is None:
            raise _nothing()
        of_share = select(Document).where(Document.id == share.document_id)
        visit = Visit(share, *records.read_all(of_share, of=connection))
    if problem := _ended(visit, utc_now()):
        _log_denied(visit)
        raise NotFoundError(problem)
    require_open(visit.document)
    return visit


def check_password(visit: Visit, password: str | None) -> None:
    """Let those pass who know the password of the link.

    Raises: LinkPasswordError; RateLimitedError, too many were wrong.
    """
    if not visit.asks_password:
        return
    if not password:
        raise LinkPasswordError("This link asks for a password.", [("password", "is missing")])
    share_id = visit.share.id
    _count_try(share_id)
    if not passwords.current.is_right(password[:1000], visit.share.password_hash):
        _log_denied(visit)
        raise LinkPasswordError("The password is wrong.", [("password", "is wrong")])
    records.update(DocumentShare, share_id, {"password_failures": 0, "locked_until": None})
    db.session.commit()


def file_behind(visit: Visit) -> DocumentVersion:
    """The file that a link gives out: the one it is pinned to, or the current one."""
    return find_version(visit.document, visit.share.version)


def note_view(visit: Visit) -> None:
    """Write down that somebody looked at the page of the link."""
    with acting_as(visitor()):
        _log(visit, "viewed")
        DOCUMENTS.note_access(visit.document.id)


def download_link(visit: Visit, file_request: FileRequest, *, by_form: bool = False) -> Response:
    """The bytes behind a link, counted against its limit.

    Args:
        by_form: a page sent a form; a redirect to another host would be stopped by its policy.
    Raises: NotFoundError, the limit is reached, or the link has ended meanwhile; as ``deliver``.
    """
    file = file_behind(visit)
    delivery = deliver(file, file_request, whole=visit.is_limited, through_server=by_form)
    if not delivery.is_download:
        return delivery.response
    try:
        _consume(visit)
    except NotFoundError:
        delivery.response.close()
        db.session.rollback()
        _log_denied(visit)
        raise
    with acting_as(visitor()):
        _log(visit, "downloaded")
        DOCUMENTS.count_download(visit.document.id)
        DOCUMENTS.note_access(visit.document.id)
    return delivery.response


def _consume(visit: Visit) -> None:
    """Take one download from the link, if it has one left.

    Raises: NotFoundError.
    """
    now = utc_now()
    # The document first, as those do who archive it or revoke its links.
    document = records.read(Document, visit.document.id, lock=True)
    left = or_(
        DocumentShare.max_downloads.is_(None),
        DocumentShare.download_count < DocumentShare.max_downloads,
    )
    statement = (
        update(DocumentShare)
        .where(DocumentShare.id == visit.share.id, left, is_live(now))
        .values(download_count=DocumentShare.download_count + 1)
    )
    is_taken = bool(records.connection().execute(statement).rowcount)
    if not is_taken or document is None or document.status != "Active":
        raise NotFoundError("This link has been used as often as it may, or has ended.")


def _ended(visit: Visit, now: datetime) -> str | None:
    share = visit.share
    if share.revoked_at is not None or visit.document.status in ("Archived", "Deleted"):
        return "This link was withdrawn."
    if share.expires_at <= now:
        return "This link has expired."
    if share.max_downloads is not None and share.download_count >= share.max_downloads:
        return "This link has been used as often as it may."
    return None


def _count_try(share_id: int) -> None:
    """Count a try as wrong until it proves right; committed on return.

    Raises: RateLimitedError.
    """
    now = utc_now()
    was_closed = DocumentShare.locked_until.is_not(None)
    # Within an expression the type has to be said: it is the column's.
    closed_until = literal(now + CLOSED_FOR, UtcDateTime())
    failures = case((was_closed, 1), else_=DocumentShare.password_failures + 1)
    statement = (
        update(DocumentShare)
        .where(DocumentShare.id == share_id)
        .where(or_(DocumentShare.locked_until.is_(None), DocumentShare.locked_until <= now))
        .values(
            password_failures=failures,
            locked_until=case((failures >= TRIES, closed_until), else_=None),
        )
    )
    is_counted = bool(records.connection().execute(statement).rowcount)
    locked_until = records.get(DocumentShare, share_id).locked_until or now
    db.session.commit()
    if not is_counted:
        seconds = max(1, math.ceil((locked_until - now).total_seconds()))
        raise RateLimitedError(
            f"Too many wrong passwords: try again in {seconds} s.",
            headers={"Retry-After": str(seconds)},
        )


def _log_denied(visit: Visit) -> None:
    """Part of no transaction that is undone with the request."""
    _log(visit, "denied")
    db.session.commit()


def _log(visit: Visit, action: str) -> None:
    records.insert(
        ShareAccess,
        {
            "created_at": utc_now(),
            "share_id": visit.share.id,
            "action": action,
            "ip": client_address(),
            "user_agent": request.user_agent.string[:_USER_AGENT_LENGTH] or None,
        },
    )


def _nothing() -> NotFoundError:
    return NotFoundError("There is nothing behind this link.")
