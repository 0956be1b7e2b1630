"""Slugs: the names of articles in addresses, made from their titles and never changed."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from typing import Any

from slugify import slugify
from sqlalchemy import bindparam, select

from app.db import records
from app.db.transactions import advisory_lock
from app.models.kb_article import KbArticle

_LENGTH = 290  # a count still fits behind it
_COUNTS = re.compile(r"(-[0-9]+)+$")
_SAME_SLUG = select(KbArticle.slug).where(
    (KbArticle.slug == bindparam("slug")) | KbArticle.slug.like(bindparam("numbered"), escape="\\")
)


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
    if stem not in taken:
        return stem
    count = 2
    while f"{stem}-{count}" in taken:
        count += 1
    return f"{stem}-{count}"
