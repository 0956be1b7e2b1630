"""Knowledge base articles: written, reviewed, published, archived; every text is kept."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from datetime import datetime
from functools import partial
from itertools import chain, count
from typing import Any

from slugify import slugify
from sqlalchemy import bindparam, select, update

from app.db import records
from app.db.transactions import advisory_lock
from app.http.security import current_caller
from app.jobs.schedule import for_each_due
from app.models.kb_article import KbArticle, KbRevision
from app.permissions import require
from app.search.entries import forget_one
from app.settings.days import today
from app.tickets.service import TICKETS
from app.writing.change import Change, History
from app.writing.pipeline import EntityService
from app.writing.rules import EntityRules
from app.writing.transitions import CLOCK, KB_ARTICLE as ARTICLE_STATES

_LENGTH = 290  # a count still fits behind it
_COUNTS = re.compile(r"(-[0-9]+)+$")
_SAME_SLUG = select(KbArticle.slug).where(
    (KbArticle.slug == bindparam("slug")) | KbArticle.slug.like(bindparam("numbered"), escape="\\")
)
KB_ARTICLE = EntityRules(
    title="article",
    model=KbArticle,
    resource="kb",
    filled=frozenset(("slug",)),
    wire_names={"revision": "version"},
)

# What a revision keeps.
_TEXT = ("title", "body", "summary")


class KbArticleService(EntityService[KbArticle]):
    """Writes of articles."""

    rules = KB_ARTICLE
    machine = ARTICLE_STATES

    def needed_rights(
        self, action: str, values: Mapping[str, Any] | None = None
    ) -> tuple[str, ...]:
        """As of every entity; a link to a ticket is a change of the ticket."""
        if action == "link":
            return TICKETS.needed_rights(action)
        return super().needed_rights(action, values)

    def check(self, change: Change[KbArticle]) -> None:
        """What the public reads changes only with the right to publish."""
        if change.was("status") == "Published" and change.named.intersection(
            (*_TEXT, "visibility")
        ):
            require(change.caller, "kb:publish", change.before)
        change.refuse_ring(
            "translation_of_id", "must not be the article itself or a translation of it"
        )

    def enter(self, change: Change[KbArticle], source: str | None, target: str) -> None:
        """Stamp the publication and say what happened."""
        values = change.values
        if target == "Published":
            change.stamp(published_at=change.now, published_by_id=change.user_id)
            change.events.append("kb_article.published")
        elif target == "InReview":
            change.events.append("kb_article.submitted")
        elif target == "Archived":
            change.stamp(archived_at=change.now)
            change.events.append("kb_article.archived")
        elif source == "Published":
            change.events.append("kb_article.unpublished")
        if source == "Archived":
            values["archived_at"] = None
        if source == "Published":
            forget_one("KbArticle", change.key)

    def prepare(self, change: Change[KbArticle]) -> None:
        """Count words and KbRevision; the search takes in what has changed."""
        if change.is_new:
            if change.history is None:  # else see reconcile
                change.values["slug"] = free_slug(change.get("title"))
        elif change.named.intersection(_TEXT):
            change.values["revision"] = change.was("revision") + 1
        if change.changes("body"):
            change.values["word_count"] = len(change.get("body").split())
        if change.changes(*_TEXT, "status", "visibility", "category", "language"):
            change.values["indexed_at"] = None

    def reconcile(self, history: History) -> None:
        """A slug for every article, and when its present text was published."""
        articles = history.of(KbArticle).values()
        fill_slugs([article.values for article in articles])
        for article in articles:
            for revision in article.values["kb_revisions"]:
                is_present = revision.get("revision") == article.get("revision")
                if is_present and article.get("status") == "Published":
                    revision["published_at"] = (
                        revision.get("published_at") or article.values["published_at"]
                    )

    def written(self, change: Change[KbArticle]) -> None:
        """Keep the text as a revision, and when it was first to be read by everybody."""
        published_at = change.now if change.get("status") == "Published" else None
        if not change.is_new and "revision" not in change.values:
            if published_at is not None and change.was("status") != "Published":
                _publish_revision(change.key, change.get("revision"), published_at)
            return
        records.insert(
            KbRevision,
            {
                "created_at": change.now,
                "article_id": change.key,
                "revision": change.get("revision"),
                "author_id": change.user_id,
                "published_at": published_at,
                **{name: change.get(name) for name in _TEXT},
            },
        )

    def deleted(self, change: Change[KbArticle]) -> None:
        """What is gone is found no more."""
        forget_one("KbArticle", change.key)

    def link(self, key: int, navigation: str, target: int) -> None:
        """Link a ticket that the article helped with (``Tickets``, the one relation by links)."""
        self.locked(key, current_caller())
        TICKETS.link(target, "KbArticles", key)

    def unlink(self, key: int, navigation: str, target: int) -> None:
        """End the link to a ticket."""
        self.locked(key, current_caller())
        TICKETS.unlink(target, "KbArticles", key)


def _publish_revision(article_id: int, number: int, now: datetime) -> None:
    """Stamp the revision that an article is published with, unless it was published before."""
    of_article = (KbRevision.article_id == article_id, KbRevision.revision == number)
    unpublished = update(KbRevision).where(*of_article, KbRevision.published_at.is_(None))
    records.connection().execute(unpublished.values(published_at=now))


KB_ARTICLES = KbArticleService()


def free_slug(title: str) -> str:
    """``Über uns!`` -> ``uber-uns``, or ``uber-uns-2`` when that is taken.

    Whoever writes an article cannot choose its slug, so of many at once each waits for the one
    before. The lock has the name without counts: a title ``Über uns 2`` wants what the second
    ``Über uns`` gets.
    """
    stem = stem_of(title)
    advisory_lock(f"slug {_COUNTS.sub('', stem)}")
    numbered = stem.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "-%"
    slugs = records.connection().execute(_SAME_SLUG, {"slug": stem, "numbered": numbered})
    return first_free(stem, set(slugs.scalars()))


def fill_slugs(articles: Sequence[dict[str, Any]]) -> None:
    """Give a slug to every article without one, such as no other here or among them has."""
    waiting = [article for article in articles if not article.get("slug")]
    if not waiting:
        return
    taken = {article["slug"] for article in articles if article.get("slug")}
    taken.update(records.connection().execute(select(KbArticle.slug)).scalars())
    for article in waiting:
        article["slug"] = first_free(stem_of(article["title"]), taken)
        taken.add(article["slug"])


def stem_of(title: str) -> str:
    """``Über uns!`` -> ``uber-uns``; ``article`` where nothing is left of the title."""
    return slugify(title, max_length=_LENGTH) or "article"


def first_free(stem: str, taken: Set[str]) -> str:
    """``stem``, or with the least count from 2 that is free: ``stem-2``."""
    names = chain((stem,), (f"{stem}-{number}" for number in count(2)))
    return next(name for name in names if name not in taken)


def archive_expired() -> int:
    """Published articles are archived on the day on which they expire."""
    expired = select(KbArticle.id).where(
        KbArticle.status == "Published", KbArticle.expires_at <= today()
    )
    archive = partial(KB_ARTICLES.apply, values={"status": "Archived"}, by=CLOCK)
    return for_each_due("expired articles", expired, archive)
