"""Answers made in few steps are those that Flask makes."""

from __future__ import annotations

import pytest
from flask import Response

from app.plain_response import plain_response

HEADERS = [("Content-Type", "application/json;odata.metadata=minimal"), ("ETag", 'W/"3"')]


@pytest.mark.parametrize("status", [200, 201, 202, 204, 304, 404, 412, 500])
@pytest.mark.parametrize("body", [b"{}", b"", "ü".encode()])
def test_it_is_the_answer_that_flask_makes(status: int, body: bytes) -> None:
    plain, usual = plain_response(body, status, HEADERS), Response(body, status, HEADERS)

    assert vars(plain).keys() == vars(usual).keys()
    assert list(plain.headers) == list(usual.headers)
    assert (plain.status, plain.status_code) == (usual.status, usual.status_code)
    assert plain.get_data() == usual.get_data()
    assert plain.is_streamed == usual.is_streamed
    assert plain.direct_passthrough == usual.direct_passthrough


def test_it_can_be_changed_and_closed_like_any_other() -> None:
    closed: list[str] = []
    response = plain_response(b"{}", 200, HEADERS)

    response.headers["Vary"] = "Accept"
    response.status_code = 201
    response.set_data(b"{ }")
    response.call_on_close(lambda: closed.append("once"))
    response.close()

    assert response.status == "201 CREATED"
    assert response.headers["Content-Length"] == "3"
    assert closed == ["once"]
    assert plain_response(b"{}", 200, HEADERS).headers.get("Vary") is None
