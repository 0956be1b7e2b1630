"""Headers that are found in one step are those that Werkzeug finds."""

from __future__ import annotations

from typing import Any

import pytest
from werkzeug.datastructures import EnvironHeaders, Headers

from app.edge.asked import AskedHeaders

ENVIRON: dict[str, Any] = {
    "REQUEST_METHOD": "GET",
    "CONTENT_TYPE": "application/json",
    "CONTENT_LENGTH": "12",
    "HTTP_HOST": "localhost",
    "HTTP_IF_MATCH": 'W/"1"',
    "HTTP_PREFER": "return=minimal,maxpagesize=3",
    "HTTP_X_COUNT": "7",
    "wsgi.url_scheme": "http",
}
NAMES = [
    "Content-Type", "content-length", "Host", "If-Match", "IF-MATCH", "Prefer", "X-Count",
    "If-None-Match", "Request-Method", "wsgi.url_scheme", "",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_each_way_of_asking_has_werkzeugs_answer(name: str) -> None:
    ours, usual = AskedHeaders(ENVIRON), EnvironHeaders(ENVIRON)

    assert ours.get(name) == usual.get(name)
    assert ours.get(name, "none") == usual.get(name, "none")
    assert ours.get(name, type=int) == usual.get(name, type=int)
    assert ours.getlist(name) == usual.getlist(name)
    assert ours.getlist(name, type=int) == usual.getlist(name, type=int)
    assert (name in ours) == (name in usual)


def test_a_missing_header_is_a_key_error_and_all_of_them_can_be_copied() -> None:
    ours = AskedHeaders(ENVIRON)

    with pytest.raises(KeyError):
        ours["If-None-Match"]
    assert ours["if-match"] == 'W/"1"'
    assert list(Headers(ours)) == list(Headers(EnvironHeaders(ENVIRON)))
    assert 7 not in ours
