"""Who follows a public link gets a page or the bytes."""

from __future__ import annotations

import pytest
from werkzeug.datastructures import Headers, MIMEAccept
from werkzeug.http import parse_accept_header

from app.documents.serving import FileRequest
from app.documents.sharing.routes import wants_page

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


@pytest.mark.parametrize(
    ("method", "accept", "is_page"),
    [
        ("GET", BROWSER, True), ("HEAD", BROWSER, True), ("POST", BROWSER, False),
        ("GET", "*/*", False), ("GET", "", False), ("GET", "application/json", False),
        ("GET", "text/html;q=0.5,application/octet-stream", False),
    ],
)  # fmt: skip
def test_a_browser_gets_a_page_and_a_program_the_bytes(
    method: str, accept: str, is_page: bool
) -> None:
    file_request = FileRequest(method, Headers())
    assert wants_page(file_request, parse_accept_header(accept, MIMEAccept)) is is_page
