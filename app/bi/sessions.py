"""Sessions of questions: what was meant before, so that "and last month?" has a meaning."""

from __future__ import annotations

import secrets

from sqlalchemy import select

from app.bi.answering import address_of, reply_to
from app.bi.answers import Answer, SessionState
from app.bi.proposing import proposed
from app.clock import utc_now
from app.db import records
from app.db.engines import primary_engine
from app.errors import NotFoundError
from app.http.security import current_caller
from app.models.report import QuestionSession


def ask(question: str, session_id: str | None, limit: int) -> Answer:
    """Answer a question in a session; without one a new session begins.

    Raises: ValidationError; NotFoundError, the session is unknown or somebody else's.
    """
    session = None if session_id is None else _session(session_id)
    before = None if session is None else SessionState(session.standing)
    reply = reply_to(question, before, limit=limit)
    answer = reply.answer
    if answer["status"] == "unsupported" and not reply.is_final:
        address = "" if before is None else address_of(before)
        answer |= proposed(answer["question"], address, limit) or {}
    # Of what was sent back the readable part is gone on from; and nothing goes on over it unsaid.
    if not reply.is_final:
        session_id = _remember(session, reply.state)
    return answer | {"sessionId": session_id}


def _session(key: str) -> QuestionSession:
    statement = select(QuestionSession).where(
        QuestionSession.key == key, QuestionSession.user_id == current_caller().user_id
    )
    # Not in the transaction of the request: a model may take its time, and others write meanwhile.
    with primary_engine().connect() as connection:
        session = records.find(statement, of=connection)
    if session is None:
        raise NotFoundError("There is no such session.", [("sessionId", "is none of yours")])
    return session


def _remember(session: QuestionSession | None, state: SessionState) -> str:
    now = utc_now()
    if session is not None:
        records.update(QuestionSession, session.id, {"standing": state.value, "updated_at": now})
        return session.key
    key = f"bis_{secrets.token_hex(16)}"
    row = {
        "created_at": now,
        "key": key,
        "user_id": current_caller().user_id,
        "questions": [],
        "standing": state.value,
        "updated_at": now,
    }
    records.insert(QuestionSession, row)
    return key
