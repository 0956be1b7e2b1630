"""Sessions: a login's family of refresh tokens, each good for one exchange.

A refresh token is random, kept as its SHA-256 and exchanged once. The one just exchanged answers
with the same new pair for ten seconds more, because clients repeat what they got no answer to;
an older one was stolen or copied, and ends the session (RFC 9700, 4.14.2).
"""

from __future__ import annotations

import hashlib
import json
import secrets
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from flask import request
from sqlalchemy import ColumnElement, insert, select, update

from app import audit
from app.auth.epoch import bump_epoch
from app.auth.schemas import SessionSchema
from app.auth.tokens import make_access_token
from app.clock import utc_now
from app.db import records
from app.db.types import AnyRow
from app.errors import (
    InvalidCredentialsError,
    NotFoundError,
    TokenExpiredError,
    TokenReusedError,
    TokenRevokedError,
)
from app.extensions import db
from app.http.lists import Page, each, read_page
from app.http.request_context import client_address
from app.http.schema_parts import answer_body
from app.http.security import current_caller
from app.models.user import RefreshToken, Session, User
from app.sealing import UnsealError, seal, unseal

# Unused for so long a session ends; however it is used, it ends after the longest time.
IDLE_LIFETIME = timedelta(days=30)
LONGEST_LIFETIME = timedelta(days=90)
GRACE = timedelta(seconds=10)


@dataclass(frozen=True, slots=True)
class TokenPair:
    """What a login and a refresh give."""

    access_token: str
    refresh_token: str


def open_session(user_id: int) -> TokenPair:
    """Begin a session of ``user_id`` in the running transaction."""
    now = utc_now()
    key = secrets.token_urlsafe(16)
    session_id = records.insert(
        Session,
        {
            "created_at": now,
            "key": key,
            "user_id": user_id,
            "ip": client_address(),
            "user_agent": (request.headers.get("User-Agent") or "")[:255] or None,
            "last_seen_at": now,
            "expires_at": now + IDLE_LIFETIME,
        },
    )
    return _new_pair(user_id, key, session_id, now + IDLE_LIFETIME)


def refresh_session(token: str) -> TokenPair:
    """Exchange a refresh token for a new pair.

    Raises: InvalidCredentialsError, no such token; TokenExpiredError; TokenRevokedError, its
        session has ended; TokenReusedError, it was exchanged before: the session ends, committed.
    """
    now = utc_now()
    digest = _digest(token)
    # Of several requests at the same time one gets the row, whatever the database.
    taken = db.session.execute(
        update(RefreshToken)
        .where(RefreshToken.token_hash == digest, RefreshToken.used_at.is_(None))
        .values(used_at=now)
        .returning(RefreshToken.id)
    ).scalar_one_or_none()
    row = _token_with_session(digest)
    if row is None:
        raise InvalidCredentialsError("The refresh token is not valid.")
    if row.revoked_at is not None or row.status != "active":
        raise TokenRevokedError("The session has ended: sign in again.")
    if taken is None:
        return _repeat_or_end(row, now)
    if row.expires_at <= now:
        raise TokenExpiredError("The session has expired: sign in again.")
    expires = min(now + IDLE_LIFETIME, row.session_created_at + LONGEST_LIFETIME)
    pair = _new_pair(row.user_id, row.key, row.session_id, expires)
    records.update(RefreshToken, row.id, {"successor": seal(json.dumps(asdict(pair)).encode())})
    records.update(Session, row.session_id, {"last_seen_at": now, "expires_at": expires})
    return pair


def _repeat_or_end(row: AnyRow, now: datetime) -> TokenPair:
    if row.used_at > now - GRACE and row.successor is not None:
        try:
            pair = TokenPair(**json.loads(unseal(row.successor)))
        except UnsealError as error:
            raise TokenRevokedError("The session has ended: sign in again.") from error
        if _is_unused(pair.refresh_token):
            return pair
    end_sessions(Session.id == row.session_id, "reuse")
    audit.record("auth.token_reused", "User", row.user_id, actor_id=row.user_id)
    db.session.commit()
    raise TokenReusedError("The refresh token was used before: the session has ended.")


def end_sessions(condition: ColumnElement[bool], reason: str) -> int:
    """End the open sessions that fit, with all their tokens, at the commit of the transaction.

    Returns: how many there were.
    """
    result = db.session.connection().execute(
        update(Session)
        .where(condition, Session.revoked_at.is_(None))
        .values(revoked_at=utc_now(), revoked_reason=reason)
    )
    if result.rowcount:
        bump_epoch()
    return result.rowcount


def _token_with_session(digest: str) -> AnyRow | None:
    return db.session.execute(
        select(
            RefreshToken.id, RefreshToken.used_at, RefreshToken.successor, RefreshToken.expires_at,
            Session.id.label("session_id"), Session.key, Session.revoked_at,
            Session.created_at.label("session_created_at"), Session.user_id, User.status,
        )
        .join(Session, Session.id == RefreshToken.session_id)
        .join(User, User.id == Session.user_id)
        .where(RefreshToken.token_hash == digest)
    ).first()  # fmt: skip


def _is_unused(token: str) -> bool:
    statement = select(RefreshToken.used_at).where(RefreshToken.token_hash == _digest(token))
    row = db.session.execute(statement).first()
    return row is not None and row.used_at is None


def _new_pair(user_id: int, key: str, session_id: int, expires: datetime) -> TokenPair:
    refresh_token = "bpr_" + secrets.token_urlsafe(32)
    db.session.execute(
        insert(RefreshToken).values(
            created_at=utc_now(),
            session_id=session_id,
            token_hash=_digest(refresh_token),
            expires_at=expires,
        )
    )
    return TokenPair(make_access_token(user_id, key), refresh_token)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def list_sessions(user_id: int | None, *, limit: int, offset: int) -> Page:
    """Open sessions, the one used last first; of everybody when ``user_id`` is None."""
    statement = (
        select(Session.__table__, User.username)
        .join(User, User.id == Session.user_id)
        .where(Session.revoked_at.is_(None), Session.expires_at > utc_now())
        .order_by(Session.last_seen_at.desc(), Session.id.desc())
    )
    if user_id is not None:
        statement = statement.where(Session.user_id == user_id)
    return read_page(statement, each(_session_dict), limit=limit, offset=offset)


def end_session(key: str, reason: str, *, user_id: int | None = None) -> None:
    """End the session of this public key; only one of ``user_id`` when that is given.

    Raises: NotFoundError, there is no such open session.
    """
    condition = Session.key == key
    if user_id is not None:
        condition &= Session.user_id == user_id
    if not end_sessions(condition, reason):
        raise NotFoundError("There is no such session.")
    audit.record("auth.session_ended", "User", user_id, after={"reason": reason})


def _session_dict(row: AnyRow) -> dict[str, Any]:
    return answer_body(
        SessionSchema, row, id=row.key, current=row.key == current_caller().session_key
    )
