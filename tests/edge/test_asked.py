"""Headers and bodies that are had in one step are those that Werkzeug finds."""

from __future__ import annotations

import io
from typing import Any

import pytest
from werkzeug.datastructures import EnvironHeaders, Headers
from werkzeug.exceptions import ClientDisconnected

from app.edge.asked import AskedHeaders, AskedRequest

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


class Input(io.BytesIO):
    """A body on its way, of which the connection may lose a part."""

    def __init__(self, content: bytes, error: Exception | None = None) -> None:
        super().__init__(content)
        self._error = error

    def read(self, size: int | None = -1) -> bytes:
        if self._error is not None:
            raise self._error
        return super().read(size)


def asked(content: bytes, announced: str | None, **more: Any) -> AskedRequest:
    environ = ENVIRON | {"wsgi.input": Input(content), "CONTENT_LENGTH": announced} | more
    if announced is None:
        del environ["CONTENT_LENGTH"]
    return AskedRequest(environ)


@pytest.mark.parametrize(
    ("content", "announced", "read"),
    [(b'{"a":1}', "7", b'{"a":1}'), (b"abcdef", "3", b"abc"), (b"", "0", b""), (b"abc", None, b"")],
)
def test_a_body_is_as_long_as_announced(content: bytes, announced: str | None, read: bytes) -> None:
    request = asked(content, announced)

    assert request.get_data() == read
    assert request.get_data() == read  # kept
    assert request.get_data(as_text=True) == read.decode()


def test_a_body_without_a_length_is_read_to_its_end() -> None:
    request = asked(b"abc", None, **{"wsgi.input_terminated": True})

    assert request.get_data() == b"abc"


@pytest.mark.parametrize("error", [None, OSError("reset"), ValueError("closed")])
def test_a_caller_who_leaves_in_the_middle_is_told_apart(error: Exception | None) -> None:
    request = asked(b"", "7", **{"wsgi.input": Input(b"abc", error)})

    with pytest.raises(ClientDisconnected):
        request.get_data()


def test_a_body_may_still_be_read_as_a_stream_or_a_form() -> None:
    assert asked(b"abc", "3").stream.read() == b"abc"
    form = asked(b"a=1&b=2", "7", CONTENT_TYPE="application/x-www-form-urlencoded")
    assert form.get_data(parse_form_data=True) == b""
    assert form.form["b"] == "2"
