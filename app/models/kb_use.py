"""How the knowledge base is used: what was looked for, and what readers said of articles."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Boolean, Index, Integer, UniqueConstraint
from sqlalchemy.orm import Mapped

from app.db.types import JsonText, UtcDateTime, string
from app.models.columns import Record, column, foreign_key


class KbSearch(Record):
    """A question that was asked, and whether an article was opened for it."""

    __tablename__ = "kb_searches"

    principal: Mapped[str] = column(string(60), "Who asked.")
    question: Mapped[str] = column(string(300), "As it was asked.")
    # Without case, accents and little words: what counts as the same question.
    topic: Mapped[str] = column(string(300), "The terms of it.")
    language: Mapped[str | None] = column(string(10), "Language asked for.")
    found: Mapped[int] = column(Integer, "Articles found.")
    shown: Mapped[list[int]] = column(JsonText(), "Articles that were shown.")
    opened_id: Mapped[int | None] = foreign_key(
        "kb_articles", "Article opened.", ondelete="SET NULL"
    )
    opened_at: Mapped[datetime | None] = column(UtcDateTime(), "When it was opened.")

    __table_args__ = (
        Index("ix_kb_searches_created_at", "created_at"),
        Index("ix_kb_searches_principal_created_at", "principal", "created_at"),
    )


class KbFeedback(Record):
    """What one reader says of an article; saying it again replaces it."""

    __tablename__ = "kb_feedback"

    article_id: Mapped[int] = foreign_key(
        "kb_articles", "Article.", ondelete="CASCADE", index=False
    )
    principal: Mapped[str] = column(string(60), "Who says it.")
    is_helpful: Mapped[bool] = column(Boolean(), "Whether it helped.")
    comment: Mapped[str | None] = column(string(1000), "What was missing, in words.")
    updated_at: Mapped[datetime] = column(UtcDateTime(), "Last change.")

    __table_args__ = (UniqueConstraint("article_id", "principal"),)
