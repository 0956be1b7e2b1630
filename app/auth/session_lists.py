"""The open sessions of one user or of all, and ending one of them."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select

from app import audit
from app.auth.schemas import SessionSchema
from app.auth.sessions import end_sessions
from app.clock import utc_now
from app.db.types import AnyRow
from app.errors import NotFoundError
from app.http.lists import Page, each, read_page
from app.http.schema_parts import shown
from app.http.security import current_caller
from app.models.user import Session, User


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
    return shown(SessionSchema, row, id=row.key, current=row.key == current_caller().session_key)
