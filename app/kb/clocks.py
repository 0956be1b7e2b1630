"""What time does to articles: one that has expired leaves the search."""

from __future__ import annotations

from sqlalchemy import select

from app.jobs.schedule import for_each_due
from app.kb.service import KB_ARTICLES
from app.models.kb_article import KbArticle
from app.settings.days import today
from app.writing.transitions import CLOCK


def archive_expired() -> int:
    """Published articles are archived on the day on which they expire."""
    expired = select(KbArticle.id).where(
        KbArticle.status == "Published", KbArticle.expires_at <= today()
    )
    return for_each_due("expired articles", expired, _archive)


def _archive(article_id: int) -> None:
    KB_ARTICLES.apply(article_id, {"status": "Archived"}, by=CLOCK)
