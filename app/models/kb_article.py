"""Articles of the knowledge base, their revisions, and how readers use and judge them."""

from __future__ import annotations

from datetime import date, datetime

from sqlalchemy import Boolean, Index, UniqueConstraint
from sqlalchemy.orm import Mapped

from app.db.partial_index import partial_index
from app.db.types import JsonText, string, text
from app.models.columns import Entity, Record, column, entity_args, foreign_key
from app.models.indexes import nulls_first

ARTICLE_STATUSES = ("Draft", "InReview", "Published", "Archived")
ARTICLE_VISIBILITIES = ("Internal", "Public")
BODY_FORMATS = ("Markdown", "Html")


class KbArticle(Entity):
    """An answer written once for many askers."""

    __tablename__ = "kb_articles"

    title: Mapped[str] = column("Title.", string(255), searchable=True)
    body: Mapped[str] = column("Text, at most 200,000 characters.", text(), maximum_length=200_000)
    body_format: Mapped[str] = column("Form of the text.", default="Markdown", allowed=BODY_FORMATS)
    summary: Mapped[str | None] = column("Summary.", string(500))
    status: Mapped[str] = column("State of the article.", default="Draft", allowed=ARTICLE_STATUSES)
    visibility: Mapped[str] = column(
        "Who may read it.", default="Internal", allowed=ARTICLE_VISIBILITIES
    )
    category: Mapped[str | None] = column("Category.", string(100), index=True)
    language: Mapped[str] = column("Language.", string(10), default="en", format="language")
    review_due_at: Mapped[date | None] = column("Look at it again by.")
    expires_at: Mapped[date | None] = column("Archived after this day.")
    translation_of_id: Mapped[int | None] = foreign_key(
        "kb_articles", "Article it translates.", sparse=True
    )
    source_ticket_id: Mapped[int | None] = foreign_key(
        "tickets", "Ticket it was written from.", sparse=True
    )
    slug: Mapped[str] = column("Name in addresses.", string(300), unique=True, computed=True)
    # The number of the text's revision; the row's own version is the ETag.
    revision: Mapped[int] = column("Revision of the text.", default=1, computed=True)
    published_at: Mapped[datetime | None] = column("When it was published.", computed=True)
    published_by_id: Mapped[int | None] = foreign_key(
        "users", "Who published it.", index=False, computed=True
    )
    archived_at: Mapped[datetime | None] = column("When it was archived.", computed=True)
    view_count: Mapped[int] = column("Times read.", default=0, computed=True)
    helpful_count: Mapped[int] = column("Times found helpful.", default=0, computed=True)
    not_helpful_count: Mapped[int] = column("Times found not helpful.", default=0, computed=True)
    word_count: Mapped[int] = column("Words.", default=0, computed=True)
    indexed_at: Mapped[datetime | None] = column("When the search took it in.", computed=True)

    __table_args__ = entity_args(
        Index("ix_kb_articles_status_visibility", "status", "visibility"),
        Index("ix_kb_articles_title", "title"),
        Index("ix_kb_articles_expires_at", nulls_first("expires_at")),
        # What the search has yet to take in; short at any time.
        partial_index(
            "ix_kb_articles_unindexed", "id",
            where="status = 'Published' AND indexed_at IS NULL",
        ),
    )  # fmt: skip


class KbRevision(Record):
    """The text of an article as it was."""

    __tablename__ = "kb_revisions"
    __table_args__ = (UniqueConstraint("article_id", "revision"),)

    article_id: Mapped[int] = foreign_key(
        "kb_articles", "Article.", ondelete="CASCADE", index=False
    )
    revision: Mapped[int] = column("Number of the revision, from 1.")
    title: Mapped[str] = column("Title.", string(255))
    body: Mapped[str] = column("Text.", text())
    summary: Mapped[str | None] = column("Summary.", string(500))
    author_id: Mapped[int | None] = foreign_key("users", "Who wrote it.", index=False)
    # Null for a draft: it is shown to those alone who read drafts.
    published_at: Mapped[datetime | None] = column("When it was first published.")


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
