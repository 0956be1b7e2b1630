"""``flask reindex``: everything anew, while the search goes on."""

from __future__ import annotations

from collections.abc import Callable

from flask import Flask

from app.kb.indexing import mark_all
from tests.contract.conftest import Api
from tests.kb.test_search import ids, make, search


def test_everything_is_taken_in_anew(app: Flask, api: Api, index: Callable[[], None]) -> None:
    key = make(api, "password")
    make(api, "invoice", status="Draft")
    index()
    with app.app_context():
        assert mark_all() == 1
    assert ids(search(api, "password")) == [key]  # by what was known
    result = app.test_cli_runner().invoke(args=["reindex"])
    assert result.exit_code == 0, result.output
    assert "Texts in the search: 1," in result.output
    assert ids(search(api, "password")) == [key]
