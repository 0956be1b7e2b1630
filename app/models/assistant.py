"""Conversations with the assistant: sessions, messages, what streams showed, proposed actions."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

from sqlalchemy import Index, UniqueConstraint
from sqlalchemy.orm import Mapped

from app.db.types import Identifier, JsonText, string, text
from app.models.columns import Record, column, foreign_key

MESSAGE_STATUSES = ("in_progress", "completed", "failed", "canceled")
ACTION_STATUSES = ("pending", "executed", "rejected", "expired", "failed")


class AiSession(Record):
    """A conversation; it belongs to who began it."""

    __tablename__ = "ai_sessions"

    key: Mapped[str] = column("Public id, ses_...", string(40), unique=True)
    principal: Mapped[str] = column("Whose it is.", string(60))
    title: Mapped[str] = column("The first question.", string(200))
    updated_at: Mapped[datetime] = column("Last message.")
    # Its row is locked by whoever writes events, so that their numbers have no gaps.
    last_sequence: Mapped[int] = column("Number of the last event.", Identifier, default=0)

    __table_args__ = (Index("ix_ai_sessions_principal_updated_at", "principal", "updated_at"),)


class AiMessage(Record):
    """A question, or the answer to it."""

    __tablename__ = "ai_messages"

    key: Mapped[str] = column("Public id, msg_...", string(40), unique=True)
    session_id: Mapped[int] = foreign_key("ai_sessions", "Conversation.", ondelete="CASCADE")
    role: Mapped[str] = column("Who speaks.", allowed=("user", "assistant"))
    status: Mapped[str] = column("State.", default="completed", allowed=MESSAGE_STATUSES)
    body: Mapped[str] = column("What is said.", text(), default="")
    context: Mapped[Any | None] = column("Record that it is about.", JsonText())
    citations: Mapped[Any] = column("Sources.", JsonText(), default=[])
    tool_calls: Mapped[Any] = column("What was asked of the service.", JsonText(), default=[])
    standing: Mapped[Any | None] = column(
        "What the next question about figures goes on from.", JsonText()
    )
    usage: Mapped[Any | None] = column("Tokens.", JsonText())
    model: Mapped[str | None] = column("Who answered.", string(100))
    provider: Mapped[Any | None] = column("What became of asking the model provider.", JsonText())
    # Whoever works on it says so every few seconds; a message that nobody works on has failed.
    leased_until: Mapped[datetime | None] = column("Being worked on until.")


class AiEvent(Record):
    """An event of a stream, kept so that a reader can come back (contract 11.3)."""

    __tablename__ = "ai_events"

    session_id: Mapped[int] = foreign_key(
        "ai_sessions", "Conversation.", ondelete="CASCADE", index=False
    )
    message_id: Mapped[int] = foreign_key("ai_messages", "Answer.", ondelete="CASCADE")
    sequence: Mapped[int] = column("Number in the session, from 1.", Identifier)
    type: Mapped[str] = column("Name of the event.", string(40))
    data: Mapped[Any] = column("Its data.", JsonText())

    __table_args__ = (UniqueConstraint("session_id", "sequence"),)


class AiAction(Record):
    """A change that the assistant proposes; nothing happens until its owner confirms it."""

    __tablename__ = "ai_actions"

    key: Mapped[str] = column("Public id, act_...", string(40), unique=True)
    session_id: Mapped[int] = foreign_key("ai_sessions", "Conversation.", ondelete="CASCADE")
    message_id: Mapped[int] = foreign_key(
        "ai_messages", "Answer that proposes it.", ondelete="CASCADE"
    )
    principal: Mapped[str] = column("Who may confirm it.", string(60))
    tool: Mapped[str] = column("What would be done.", string(40))
    arguments: Mapped[Any] = column("With what.", JsonText())
    summary: Mapped[str] = column("In words.", string(500))
    status: Mapped[str] = column("State.", default="pending", allowed=ACTION_STATUSES)
    expires_at: Mapped[datetime] = column("No more after.")
    decided_at: Mapped[datetime | None] = column("When it was decided.")
    result: Mapped[Any | None] = column("What came of it.", JsonText())


class AiStreamTicket(Record):
    """Opens one stream once, for a reader that cannot send headers (contract 11.3)."""

    __tablename__ = "ai_stream_tickets"

    digest: Mapped[str] = column("SHA-256 of the ticket.", string(64), unique=True)
    session_id: Mapped[int] = foreign_key("ai_sessions", "Conversation.", ondelete="CASCADE")
    principal: Mapped[str] = column("Whose it is.", string(60))
    expires_at: Mapped[datetime] = column("No more after.", index=True)


class AiUsage(Record):
    """What a caller has used of the model provider in a day."""

    __tablename__ = "ai_usage"

    principal: Mapped[str] = column("Whose it is.", string(60))
    day: Mapped[date] = column("Day, UTC.")
    input_tokens: Mapped[int] = column("Tokens read by the model.", Identifier)
    output_tokens: Mapped[int] = column("Tokens written by it.", Identifier)
    exchanges: Mapped[int] = column("Exchanges with the provider.", Identifier)

    __table_args__ = (UniqueConstraint("principal", "day"),)
