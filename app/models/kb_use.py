"""How the knowledge base is used: what was looked for, and what readers said of articles."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Boolean, Index, UniqueConstraint
from sqlalchemy.orm import Mapped

from app.db.types import JsonText, string
from app.models.columns import Record, column, foreign_key


class KbSearch(Record):
    """A question that was asked, and whether an article was opened for it."""

    __tablename__ = "kb_searches"

    principal: Mapped[str] = column("Who asked.", string(60))
    question: Mapped[str] = column("As it was asked.", string(300))
    # Without case, accents and little words: what counts as the same question.
    topic: Mapped[str] = column("The terms of it.", string(300))
    language: Mapped[str | None] = column("Language asked for.", string(10))
    found: Mapped[int] = column("Articles found.")
    shown: Mapped[list[int]] = column("Articles that were shown.", JsonText())
    opened_id: Mapped[int | None] = foreign_key(
        "kb_articles", "Article opened.", ondelete="SET NULL"
    )
    opened_at: Mapped[datetime | None] = column("When it was opened.")

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
    principal: Mapped[str] = column("Who says it.", string(60))
    is_helpful: Mapped[bool] = column("Whether it helped.", Boolean())
    comment: Mapped[str | None] = column("What was missing, in words.", string(1000))
    updated_at: Mapped[datetime] = column("Last change.")

    __table_args__ = (UniqueConstraint("article_id", "principal"),)
