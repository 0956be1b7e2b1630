"""Answers whose headers are known: made in a few steps, where Werkzeug takes fifty.

It looks at each header, guesses the type of the body and finds the words of the status. What is
made here is the same; a test compares both (docs/adr/0144).
"""

from __future__ import annotations

from functools import lru_cache
from http import HTTPStatus

from flask import Response
from werkzeug.datastructures import Headers


def plain_response(body: bytes, status: int, headers: list[tuple[str, str]]) -> Response:
    """An answer with ``headers``, among them Content-Type, and its length.

    Args:
        headers: values of one line each, which the server checks once more.
    """
    kept = Headers()
    kept._list = [*headers, ("Content-Length", str(len(body)))]
    response = Response.__new__(Response)
    response.headers = kept
    response._status = status_line(status)
    response._status_code = status
    response.direct_passthrough = False
    response._on_close = []
    response.response = [body]
    return response


@lru_cache(maxsize=64)
def status_line(status: int) -> str:
    """``200 OK``."""
    return f"{status} {HTTPStatus(status).phrase.upper()}"
