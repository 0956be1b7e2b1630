"""A bulk import is soon in the search: threads share the work, in portions of a second or two."""

from __future__ import annotations

import html
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.clock import utc_now
from app.db import records
from app.db.engines import primary_engine, transaction
from app.jobs.leases import waiting
from app.kb.indexing import MOST_CHARACTERS, PORTION, THREADS, index_articles
from app.models.kb_article import KbArticle
from app.models.search import SearchEntry
from app.search.embedding import EmbeddingModel, is_installed


def publish(app: Flask, bodies: list[str]) -> None:
    now = utc_now()
    with app.app_context(), transaction():
        for number, body in enumerate(bodies):
            article = {
                "title": f"Article {number}", "body": html.escape(body), "body_format": "Html",
                "status": "Published", "visibility": "Public", "slug": f"a{number}",
                "created_at": now, "updated_at": now,
            }  # fmt: skip
            records.insert(KbArticle.__table__, article)


def left(app: Flask) -> tuple[int, Any]:
    with app.app_context(), primary_engine().connect() as connection:
        return waiting(connection, "search")


@pytest.mark.skipif(not is_installed(), reason="counts what the embedding model computes")
def test_threads_share_the_articles_and_none_is_computed_twice(
    app: Flask, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = 3 * PORTION
    publish(app, [f"About subject {number}." for number in range(count)])
    assert left(app) == (count, None)
    computed, embed = list[str](), EmbeddingModel.embed

    def counted(model: EmbeddingModel, texts: Any, before_each: Any = None) -> Any:
        computed.extend(texts)
        return embed(model, texts, before_each)

    monkeypatch.setattr(EmbeddingModel, "embed", counted)

    def work(_: int) -> int:
        with app.app_context():
            return sum(iter(index_articles, 0))

    with ThreadPoolExecutor(THREADS) as pool:
        assert sum(pool.map(work, range(THREADS))) == count
    assert len(computed) == len(set(computed)) == count
    assert session.scalar(select(func.count()).select_from(SearchEntry)) == count
    assert left(app) == (0, None)


def test_a_portion_of_long_articles_is_small(app: Flask) -> None:
    publish(app, ["word " * (MOST_CHARACTERS // 5 + 1), *["short"] * 3])
    long_alone = 0
    with app.app_context():
        while done := index_articles():
            long_alone += 1
            assert done <= PORTION
    assert 1 <= long_alone <= 4
    assert left(app) == (0, None)
