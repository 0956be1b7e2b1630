"""Conversations in the database: sessions, messages and the events that streams show."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import delete, func, select, update

from app.ai.schemas import ConversationSchema
from app.bi.answers import SessionState
from app.clock import utc_now
from app.db import records
from app.db.engines import primary_engine
from app.errors import NotFoundError
from app.http.lists import Page, each, read_page
from app.http.schema_parts import answer_body
from app.http.security import Caller
from app.models.assistant import AiAction, AiEvent, AiMessage, AiSession

_TITLE_LENGTH = 200


def new_session(caller: Caller, title: str) -> dict[str, Any]:
    now = utc_now()
    row = {
        "key": f"ses_{secrets.token_urlsafe(18)}",
        "principal": caller.principal,
        "title": " ".join(title.split())[:_TITLE_LENGTH],
        "created_at": now,
        "updated_at": now,
    }
    return row | {"id": records.insert(AiSession, row), "last_sequence": 0}


def get_session(caller: Caller, key: str) -> dict[str, Any]:
    """A conversation of the caller; reading it begins no transaction.

    Raises: NotFoundError, also for one of somebody else.
    """
    statement = select(AiSession).where(
        AiSession.key == key, AiSession.principal == caller.principal
    )
    with records.looking() as connection:
        row = connection.execute(statement).mappings().first()
    if row is None:
        raise NotFoundError(f"There is no session {key[:40]}.")
    return dict(row)


def delete_session(caller: Caller, key: str) -> None:
    """Remove a conversation with everything in it.

    Raises: NotFoundError.
    """
    session = get_session(caller, key)
    records.connection().execute(delete(AiSession).where(AiSession.id == session["id"]))


def add_message(session_id: int, role: str, body: str, **more: Any) -> dict[str, Any]:
    now = utc_now()
    row = {
        "key": f"msg_{secrets.token_urlsafe(18)}", "session_id": session_id, "role": role,
        "body": body, "created_at": now, **more,
    }  # fmt: skip
    key = records.insert(AiMessage, row)
    touched = update(AiSession).where(AiSession.id == session_id).values(updated_at=now)
    records.connection().execute(touched)
    return row | {"id": key}


def get_message(caller: Caller, key: str) -> dict[str, Any]:
    """A message of one of the caller's conversations, locked.

    Raises: NotFoundError.
    """
    statement = (
        select(AiMessage)
        .join(AiSession, AiSession.id == AiMessage.session_id)
        .where(AiMessage.key == key, AiSession.principal == caller.principal)
        .with_for_update(of=AiMessage)
    )
    row = records.connection().execute(statement).mappings().first()
    if row is None:
        raise NotFoundError(f"There is no message {key[:40]}.")
    return dict(row)


def change_message(
    message_id: int, values: Mapping[str, Any], *, status: str | None = None
) -> bool:
    """Write ``values``; only while the message has ``status``, when one is given.

    Returns: whether it was written.
    """
    change = update(AiMessage).where(AiMessage.id == message_id).values(**values)
    if status is not None:
        change = change.where(AiMessage.status == status)
    return bool(records.connection().execute(change).rowcount)


def add_events(
    session_id: int, message_id: int, events: Iterable[tuple[str, Mapping[str, Any]]]
) -> None:
    """Append events to the stream of a session."""
    added = list(events)
    connection = records.connection()
    last = connection.execute(
        update(AiSession)
        .where(AiSession.id == session_id)
        .values(last_sequence=AiSession.last_sequence + len(added))
        .returning(AiSession.last_sequence)
    ).scalar_one()
    now = utc_now()
    records.insert_all(
        AiEvent,
        [
            {
                "created_at": now, "session_id": session_id, "message_id": message_id,
                "sequence": last - len(added) + index, "type": kind, "data": dict(data),
            }
            for index, (kind, data) in enumerate(added, 1)
        ],
    )  # fmt: skip


def list_sessions(caller: Caller, limit: int, offset: int) -> Page:
    """The caller's conversations, the latest first."""
    count = select(func.count()).where(AiMessage.session_id == AiSession.id).scalar_subquery()
    statement = (
        select(AiSession, count.label("messages"))
        .where(AiSession.principal == caller.principal)
        .order_by(AiSession.updated_at.desc(), AiSession.id.desc())
    )
    shape = each(lambda row: answer_body(ConversationSchema, row, session_id=row.key))
    return read_page(statement, shape, limit=limit, offset=offset)


def messages_of(session_id: int) -> list[dict[str, Any]]:
    """The messages of a conversation, oldest first."""
    statement = select(AiMessage).where(AiMessage.session_id == session_id).order_by(AiMessage.id)
    return [dict(row) for row in records.connection().execute(statement).mappings()]


def dialogue_of(session_id: int) -> tuple[list[tuple[str, str]], dict[str, Any] | None]:
    """Who said what last in a conversation, oldest first, and the context of the last message.

    Read outside of any transaction.
    """
    statement = (
        select(AiMessage.role, AiMessage.body, AiMessage.context)
        .where(AiMessage.session_id == session_id)
        .order_by(AiMessage.id.desc())
        .limit(20)
    )
    with primary_engine().connect() as connection:
        rows = connection.execute(statement).all()
    return [(row.role, row.body) for row in reversed(rows)], rows[0].context if rows else None


def kept_of(session_id: int, context: Mapping[str, Any] | None) -> SessionState | None:
    """What the last question about figures meant, read outside of any transaction.

    Args:
        context: the record that the message is about; what was asked beside another is over.
    """
    statement = (
        select(AiMessage.standing, AiMessage.context)
        .where(AiMessage.session_id == session_id, AiMessage.standing.is_not(None))
        .order_by(AiMessage.id.desc())
        .limit(1)
    )
    with primary_engine().connect() as connection:
        row = connection.execute(statement).first()
    if row is None or _record_in(row.context) != _record_in(context):
        return None
    return SessionState(row.standing)


def _record_in(context: Mapping[str, Any] | None) -> tuple[str, int] | None:
    """The module and key of the record that a message was about; None where it was about none."""
    if context is None or context["entityId"] is None:
        return None
    return context["module"], context["entityId"]


def actions_of(message_ids: Iterable[int]) -> list[dict[str, Any]]:
    """The proposals of answers, oldest first."""
    of_messages = AiAction.message_id.in_(list(message_ids))
    statement = select(AiAction).where(of_messages).order_by(AiAction.id)
    return [dict(row) for row in records.connection().execute(statement).mappings()]
