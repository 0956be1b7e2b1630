"""How answers leave under gunicorn, where the common case costs most (docs/adr/0144).

A point read spends half of its time in the server: eight calls for each header that leaves, two
packets for head and body, and what arrives (app/web_request.py).
"""

from __future__ import annotations

import re
import time
from email.utils import formatdate
from functools import lru_cache
from typing import Any

from gunicorn import util  # type: ignore[import-untyped]
from gunicorn.http.wsgi import Response  # type: ignore[import-untyped]

from app import web_rest

# Longer bodies leave by themselves: to copy them costs more than a second packet.
MOST_JOINED_BYTES = 65_536
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")  # RFC 9110, 5.6.2

# The words of the status, as Flask and Werkzeug spell them, of answers that have a body.
_CODES = {"200 OK": 200, "201 CREATED": 201}

Headers = list[tuple[str, str]]


class JoinedResponse(Response):  # type: ignore[misc]  # the library has no types
    """An answer whose headers are checked at once, and whose short body leaves with its head."""

    headers_sent: bool
    status: str | None
    _head: str | None = None

    def __init__(self, req: Any, sock: Any, cfg: Any) -> None:
        self.__dict__.update(_blank())
        self.headers: Headers = []
        self.req, self.sock, self.cfg = req, sock, cfg

    def start_response(self, status: str, headers: Headers, exc_info: Any = None) -> Any:
        """Take status and headers; the uncommon ones are gunicorn's to judge."""
        code = _CODES.get(status)
        if code is None or exc_info or self.status is not None or self.req.method == "HEAD":
            return super().start_response(status, headers, exc_info)
        self.status, self.status_code = status, code
        self.process_headers(headers)
        self.chunked = self.is_chunked()
        return self.write

    def process_headers(self, headers: Headers) -> None:
        """Check and keep the headers; the uncommon ones are gunicorn's to judge."""
        if not _is_common(headers):
            super().process_headers(headers)
            return
        for name, value in headers:
            if name == "Content-Length":
                self.response_length = int(value)  # a ValueError, as gunicorn's
        self.headers = list(headers)
        self._head = "".join([f"{name}: {value}\r\n" for name, value in headers])

    def default_headers(self) -> list[str]:
        """What every answer begins with; what it says of the connection is what happens to it."""
        if web_rest.is_left(self.req) and not (self.should_close() or web_rest.take(self.req)):
            self.force_close()
        headers: list[str] = super().default_headers()
        return headers

    def write(self, arg: bytes) -> None:
        """Send a part of the body; the first one with the head."""
        length = self.response_length
        if (
            self._head is None
            or self.headers_sent
            or self._omits_body
            or type(arg) is not bytes
            or length is None
            or len(arg) > min(length, MOST_JOINED_BYTES)
        ):
            super().write(arg)
            return
        head = "".join(self.default_headers()) + self._head + "\r\n"
        self.headers_sent = True
        self.sent += len(arg)
        util.write(self.sock, head.encode("latin-1") + arg)


@lru_cache(maxsize=1)
def _blank() -> dict[str, Any]:
    """The attributes of an answer before anything is known of it."""
    return dict(vars(Response(None, None, None)))


def _is_common(headers: Headers) -> bool:
    """Whether all names are known to be good, and all values are printable ASCII."""
    try:
        names, values = zip(*headers, strict=True)
        text = "".join(values)
        return text.isascii() and text.isprintable() and all(map(_is_plain, names))
    except (AttributeError, TypeError, ValueError):
        return False


@lru_cache(maxsize=256)
def _is_plain(name: str) -> bool:
    """Whether this is a header that goes on to the client, spelled as ours spell it."""
    if not _TOKEN.fullmatch(name) or name.lower() in util.hop_headers:
        return False
    return name == "Content-Length" or name.lower() != "content-length"


def http_date(timestamp: float | None = None) -> str:
    """The value of ``Date`` (RFC 9110, 5.6.7), made once a second."""
    return _date(int(time.time() if timestamp is None else timestamp))


@lru_cache(maxsize=2)
def _date(second: int) -> str:
    return formatdate(second, usegmt=True)
