"""How messages leave and arrive under gunicorn, where the common case costs most (docs/adr/0144).

A point read spends half of its time in the server: eight calls for each header that leaves, two
packets for head and body, a look for the rest of a body that was never announced, and reading the
same headers anew with each request of a connection.
"""

from __future__ import annotations

import re
import time
from email.utils import formatdate
from functools import lru_cache
from typing import Any

from gunicorn import util  # type: ignore[import-untyped]
from gunicorn.http.body import LengthReader  # type: ignore[import-untyped]
from gunicorn.http.message import Request  # type: ignore[import-untyped]
from gunicorn.http.parser import RequestParser  # type: ignore[import-untyped]
from gunicorn.http.wsgi import Response  # type: ignore[import-untyped]

# Longer bodies leave by themselves: to copy them costs more than a second packet.
MOST_JOINED_BYTES = 65_536
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")  # RFC 9110, 5.6.2

Headers = list[tuple[str, str]]


class JoinedResponse(Response):  # type: ignore[misc]  # the library has no types
    """An answer whose headers are checked at once, and whose short body leaves with its head."""

    headers_sent: bool
    _head: str | None = None

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


class PlainRequest(Request):  # type: ignore[misc]
    """A request whose headers are read once where a connection sends the same ones again.

    Whom gunicorn trusts may say things by them that concern this request alone: those are read.
    """

    headers: Headers

    def _peer_is_trusted_proxy(self) -> bool:
        if not self.cfg.forwarded_allow_ips and isinstance(self.peer_addr, tuple):
            return False  # gunicorn takes its address apart to compare it with none
        return bool(super()._peer_is_trusted_proxy())

    def parse_headers(self, data: bytes, from_trailer: bool = False) -> Headers:
        """The headers of a head, names in capitals."""
        if from_trailer or self._peer_is_trusted_proxy():
            return list(super().parse_headers(data, from_trailer))
        before, known = getattr(self.unreader, "last_head", (None, ()))
        if data == before:
            return list(known)
        found: Headers = super().parse_headers(data)
        if all(name != "EXPECT" for name, _ in found):  # answered as it is read
            self.unreader.last_head = (data, tuple(found))
        return found


class PlainParser(RequestParser):  # type: ignore[misc]
    """A parser that knows at once that a body has been read to its end, or never was."""

    mesg_class = PlainRequest

    def finish_body(self, deadline: Any = None, max_bytes: Any = None) -> bool:
        """Whether nothing of the body of the last request is left unread."""
        body = self.mesg.body if self.mesg else None
        if (
            body is not None
            and type(body.reader) is LengthReader
            and body.reader.length == 0
            and not body.failed
            and not body.buf.tell()
        ):
            return True
        return bool(super().finish_body(deadline, max_bytes))


def http_date(timestamp: float | None = None) -> str:
    """The value of ``Date`` (RFC 9110, 5.6.7), made once a second."""
    return _date(int(time.time() if timestamp is None else timestamp))


@lru_cache(maxsize=2)
def _date(second: int) -> str:
    return formatdate(second, usegmt=True)
