"""Conversations with the assistant: sessions, messages, what streams showed, proposed actions."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

from sqlalchemy import Date, Index, UniqueConstraint
from sqlalchemy.orm import Mapped

from app.db.types import Identifier, JsonText, UtcDateTime, string, text
from app.models.columns import Record, column, foreign_key

MESSAGE_STATUSES = ("in_progress", "completed", "failed", "canceled")
ACTION_STATUSES = ("pending", "executed", "rejected", "expired", "failed")


class AiSession(Record):
    """A conversation; it belongs to who began it."""

    __tablename__ = "ai_sessions"

    key: Mapped[str] = column(string(40), "Public id, ses_...", unique=True)
    principal: Mapped[str] = column(string(60), "Whose it is.")
    title: Mapped[str] = column(string(200), "The first question.")
    updated_at: Mapped[datetime] = column(UtcDateTime(), "Last message.")
    # Its row is locked by whoever writes events, so that their numbers have no gaps.
    last_sequence: Mapped[int] = column(Identifier, "Number of the last event.", default=0)

    __table_args__ = (Index("ix_ai_sessions_principal_updated_at", "principal", "updated_at"),)


class AiMessage(Record):
    """A question, or the answer to it."""

    __tablename__ = "ai_messages"

    key: Mapped[str] = column(string(40), "Public id, msg_...", unique=True)
    session_id: Mapped[int] = foreign_key("ai_sessions", "Conversation.", ondelete="CASCADE")
    role: Mapped[str] = column(string(20), "Who speaks.", allowed=("user", "assistant"))
    status: Mapped[str] = column(
        string(20), "State.", default="completed", allowed=MESSAGE_STATUSES
    )
    body: Mapped[str] = column(text(), "What is said.", default="")
    context: Mapped[Any | None] = column(JsonText(), "Record that it is about.")
    citations: Mapped[Any] = column(JsonText(), "Sources.", default=[])
    tool_calls: Mapped[Any] = column(JsonText(), "What was asked of the service.", default=[])
    standing: Mapped[Any | None] = column(
        JsonText(), "What the next question about figures goes on from."
    )
    usage: Mapped[Any | None] = column(JsonText(), "Tokens.")
    model: Mapped[str | None] = column(string(100), "Who answered.")
    provider: Mapped[Any | None] = column(JsonText(), "What became of asking the model provider.")
    # Whoever works on it says so every few seconds; a message that nobody works on has failed.
    leased_until: Mapped[datetime | None] = column(UtcDateTime(), "Being worked on until.")


class AiEvent(Record):
    """An event of a stream, kept so that a reader can come back (contract 11.3)."""

    __tablename__ = "ai_events"

    session_id: Mapped[int] = foreign_key(
        "ai_sessions", "Conversation.", ondelete="CASCADE", index=False
    )
    message_id: Mapped[int] = foreign_key("ai_messages", "Answer.", ondelete="CASCADE")
    sequence: Mapped[int] = column(Identifier, "Number in the session, from 1.")
    type: Mapped[str] = column(string(40), "Name of the event.")
    data: Mapped[Any] = column(JsonText(), "Its data.")

    __table_args__ = (UniqueConstraint("session_id", "sequence"),)


class AiAction(Record):
    """A change that the assistant proposes; nothing happens until its owner confirms it."""

    __tablename__ = "ai_actions"

    key: Mapped[str] = column(string(40), "Public id, act_...", unique=True)
    session_id: Mapped[int] = foreign_key("ai_sessions", "Conversation.", ondelete="CASCADE")
    message_id: Mapped[int] = foreign_key(
        "ai_messages", "Answer that proposes it.", ondelete="CASCADE"
    )
    principal: Mapped[str] = column(string(60), "Who may confirm it.")
    tool: Mapped[str] = column(string(40), "What would be done.")
    arguments: Mapped[Any] = column(JsonText(), "With what.")
    summary: Mapped[str] = column(string(500), "In words.")
    status: Mapped[str] = column(string(20), "State.", default="pending", allowed=ACTION_STATUSES)
    expires_at: Mapped[datetime] = column(UtcDateTime(), "No more after.")
    decided_at: Mapped[datetime | None] = column(UtcDateTime(), "When it was decided.")
    result: Mapped[Any | None] = column(JsonText(), "What came of it.")


class AiStreamTicket(Record):
    """Opens one stream once, for a reader that cannot send headers (contract 11.3)."""

    __tablename__ = "ai_stream_tickets"

    digest: Mapped[str] = column(string(64), "SHA-256 of the ticket.", unique=True)
    session_id: Mapped[int] = foreign_key("ai_sessions", "Conversation.", ondelete="CASCADE")
    principal: Mapped[str] = column(string(60), "Whose it is.")
    expires_at: Mapped[datetime] = column(UtcDateTime(), "No more after.", index=True)


class AiUsage(Record):
    """What a caller has used of the model provider in a day."""

    __tablename__ = "ai_usage"

    principal: Mapped[str] = column(string(60), "Whose it is.")
    day: Mapped[date] = column(Date(), "Day, UTC.")
    input_tokens: Mapped[int] = column(Identifier, "Tokens read by the model.")
    output_tokens: Mapped[int] = column(Identifier, "Tokens written by it.")
    exchanges: Mapped[int] = column(Identifier, "Exchanges with the provider.")

    __table_args__ = (UniqueConstraint("principal", "day"),)
