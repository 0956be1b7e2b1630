"""Names in addresses for imported articles that have none: unique, as those of written ones are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, select

from app.importing.reading import Entry
from app.kb.slugs import first_free, stem_of
from app.models.kb_article import KbArticle

_ARTICLES: Any = KbArticle.__table__


def fill_slugs(connection: Connection, records: Sequence[Entry]) -> None:
    """Give a slug to every article without one, such as no other here or in the file has."""
    waiting = [entry.row for entry in records if not entry.row.get("slug")]
    if not waiting:
        return
    taken = {entry.row["slug"] for entry in records if entry.row.get("slug")}
    taken.update(connection.execute(select(_ARTICLES.c.slug)).scalars())
    for row in waiting:
        row["slug"] = first_free(stem_of(row.get("title") or ""), taken)
        taken.add(row["slug"])
