"""A view of a document is counted when a person looks."""

from __future__ import annotations

import pytest
from werkzeug.test import EnvironBuilder
from werkzeug.wrappers import Request

from app.invoices.public.routes import is_reader

BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"


@pytest.mark.parametrize(
    ("method", "headers", "is_person"),
    [
        ("GET", {}, True),
        ("HEAD", {}, False),
        ("GET", {"Authorization": "Bearer a"}, False),
        ("GET", {"X-API-Key": "a"}, False),
        ("GET", {"Sec-Purpose": "prefetch;prerender"}, False),
        ("GET", {"X-Moz": "prefetch"}, False),
        ("GET", {"User-Agent": ""}, False),
        ("GET", {"User-Agent": "WhatsApp/2.23"}, False),
        ("GET", {"User-Agent": "Mozilla/5.0 (compatible; Googlebot/2.1)"}, False),
    ],
)
def test_a_person_looks_with_a_browser_and_without_credentials(
    method: str, headers: dict[str, str], is_person: bool
) -> None:
    environ = EnvironBuilder(method=method, headers={"User-Agent": BROWSER, **headers})
    assert is_reader(Request(environ.get_environ())) is is_person
