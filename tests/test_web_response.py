"""Answers that leave in one piece, and what is left to gunicorn's own functions."""

from __future__ import annotations

import time
from email.utils import parsedate_to_datetime
from types import SimpleNamespace
from typing import Any

import pytest
from gunicorn import util  # type: ignore[import-untyped]
from gunicorn.config import Config  # type: ignore[import-untyped]
from gunicorn.http.errors import (  # type: ignore[import-untyped]
    InvalidResponseHeader,
    InvalidResponseHeaderName,
)
from gunicorn.http.wsgi import Response  # type: ignore[import-untyped]

from app.web_response import MOST_JOINED_BYTES, JoinedResponse, http_date

LENGTH = ("Content-Length", "2")
JSON = ("Content-Type", "application/json")


class Wire:
    """A socket that keeps what is sent, call by call."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []

    def sendall(self, content: bytes) -> None:
        self.sent.append(bytes(content))


def answer(
    kind: type[Any], status: str, headers: list[Any], parts: list[Any], method: str = "GET"
) -> list[bytes]:
    wire = Wire()
    request = SimpleNamespace(method=method, version=(1, 1), should_close=lambda: False)
    response = kind(request, wire, Config())
    response.start_response(status, headers)
    for part in parts:
        response.write(part)
    response.close()
    return wire.sent


@pytest.mark.parametrize(
    ("status", "headers", "parts", "method"),
    [
        ("200 OK", [JSON, LENGTH], [b"{}"], "GET"),
        ("201 CREATED", [LENGTH, ("Location", "http://host/a(1)"), JSON], [b"{}"], "POST"),
        ("200 OK", [JSON], [b"{", b"}"], "GET"),
        ("200 OK", [JSON, ("Content-Length", "4")], [b"{}", b"[]"], "GET"),
        ("200 OK", [JSON, LENGTH], [b"{}[]"], "GET"),
        ("200 OK", [("content-length", "2")], [b"{}"], "GET"),
        ("200 OK", [LENGTH], [b"{}"], "HEAD"),
        ("204 NO CONTENT", [LENGTH], [b"{}"], "DELETE"),
        ("304 NOT MODIFIED", [("ETag", 'W/"1"')], [], "GET"),
        ("200 OK", [LENGTH, ("Connection", "close"), ("Server", "other")], [b"{}"], "GET"),
        ("200 OK", [LENGTH, ("X-Name", " blanks ")], [b"{}"], "GET"),
        ("200 OK", [LENGTH, ("X-Name", "caf\xe9\ttab")], [b"{}"], "GET"),
        ("200 OK", [("Content-Length", str(2 * MOST_JOINED_BYTES))],
         [b"x" * (2 * MOST_JOINED_BYTES)], "GET"),
        ("200 OK", [], [b"{}"], "GET"),
        ("200 OK", [JSON, LENGTH], [b"{}"], "POST"),
        ("404 NOT FOUND", [JSON, LENGTH], [b"{}"], "GET"),
        ("201 CREATED", [JSON], [b"{}"], "POST"),
    ],
)  # fmt: skip
def test_what_arrives_is_what_gunicorn_would_send(
    status: str, headers: list[tuple[str, str]], parts: list[bytes], method: str
) -> None:
    def told(kind: type[Any]) -> bytes:
        lines = b"".join(answer(kind, status, headers, parts, method)).split(b"\r\n")
        return b"\r\n".join(line for line in lines if not line.startswith(b"Date: "))

    assert told(JoinedResponse).replace(b" blanks ", b"blanks") == told(Response)


def test_a_short_answer_is_one_packet_a_long_one_two() -> None:
    (whole,) = answer(JoinedResponse, "200 OK", [JSON, LENGTH], [b"{}"])
    assert whole.startswith(b"HTTP/1.1 200 OK\r\n")
    assert whole.endswith(b"Content-Length: 2\r\n\r\n{}")
    long = b"x" * (MOST_JOINED_BYTES + 1)
    sent = answer(JoinedResponse, "200 OK", [("Content-Length", str(len(long)))], [long])
    assert [len(part) == len(long) for part in sent] == [False, True]


@pytest.mark.parametrize("value", ["a\r\nSet-Cookie: b", "a\nb", "a\0b", "a\x7fb"])
def test_no_header_can_be_split(value: str) -> None:
    with pytest.raises(InvalidResponseHeader):
        answer(JoinedResponse, "200 OK", [LENGTH, ("X-Name", value)], [b"{}"])


@pytest.mark.parametrize("name", ["X Name", "X:Name", "", "X\r\nName"])
def test_no_name_can_be_anything(name: str) -> None:
    with pytest.raises(InvalidResponseHeaderName):
        answer(JoinedResponse, "200 OK", [LENGTH, (name, "value")], [b"{}"])


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(TypeError):
        answer(JoinedResponse, "200 OK", [("X-Number", 7)], [b""])
    with pytest.raises(TypeError):
        answer(JoinedResponse, "200 OK", [LENGTH], ["{}"])
    with pytest.raises(ValueError, match="invalid literal"):
        answer(JoinedResponse, "200 OK", [("Content-Length", "two")], [b"{}"])


def test_the_date_is_that_of_the_standard() -> None:
    assert http_date(784111777) == util.http_date(784111777) == "Sun, 06 Nov 1994 08:49:37 GMT"
    assert abs(parsedate_to_datetime(http_date()).timestamp() - time.time()) < 2
