"""The straight way out gives the same answer as the usual one."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Response

from app.edge.leaving import Leaving


def environ(method: str = "GET") -> dict[str, Any]:
    return {"REQUEST_METHOD": method, "wsgi.url_scheme": "http", "HTTP_HOST": "localhost:8000",
            "PATH_INFO": "/", "SERVER_NAME": "localhost", "SERVER_PORT": "8000"}  # fmt: skip


def sent(answer: Any, method: str) -> tuple[str, list[tuple[str, str]], bytes]:
    started: list[Any] = []
    body = answer(environ(method), lambda status, headers: started.append((status, headers)))
    whole = b"".join(body)
    body.close()
    ((status, headers),) = started
    return status, sorted(headers), whole


def streamed() -> Response:
    return Response(iter([b"a", b"b"]), headers={"Content-Length": "2"})


MADE = {
    "JSON": lambda: Response(b'{"id":1}', 200, content_type="application/json"),
    "created": lambda: Response(
        b"{}", 201, {"Location": "http://localhost:8000/odata/Clients(1)", "ETag": 'W/"1"'}
    ),
    "an address with letters of its own": lambda: Response(
        b"{}", 201, {"Location": "http://localhost:8000/odata/Settings('größe x')"}
    ),
    "nothing": lambda: Response(status=204),
    "not changed": lambda: Response(status=304, headers={"ETag": '"1"'}),
    "a stream": streamed,
    "parts of text": lambda: Response(["a", "ü"]),
    "an empty body": lambda: Response(b""),
    "a refusal": lambda: Response(b"no", 404),
}


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
@pytest.mark.parametrize("made", MADE.values(), ids=MADE.keys())
def test_status_headers_and_body_are_the_same(made: Any, method: str) -> None:
    assert sent(Leaving(made()), method) == sent(made(), method)


def test_what_is_to_be_done_at_the_end_is_done_when_the_body_was_sent() -> None:
    done: list[str] = []
    response = Response(b"x")
    response.call_on_close(lambda: done.append("closed"))
    body = Leaving(response)(environ(), lambda status, headers: done.append("started"))
    assert done == ["started"]
    body.close()  # type: ignore[attr-defined]
    assert done == ["started", "closed"]
