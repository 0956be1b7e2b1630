"""The fixtures of the knowledge base: callers over HTTP, and a search that is up to date."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from flask import Flask

from app.kb.indexing import index_articles, index_tickets, tidy_index
from app.search.index_cache import index_caches
from tests.business import admin
from tests.contract.conftest import Api, sign_in

__all__ = ["Api", "admin", "sign_in"]


@pytest.fixture
def index(app: Flask) -> Iterator[Callable[[], None]]:
    """Do what the worker does until nothing is left to take in."""
    index_caches.unbind(app)  # the database was emptied since

    def take_in() -> None:
        with app.app_context():
            tidy_index()
            while index_articles() or index_tickets():
                pass

    yield take_in
    index_caches.unbind(app)


@pytest.fixture
def api(sign_in: Callable[..., Api]) -> Api:
    """A signed-in administrator."""
    return sign_in("Admin")
