"""How requests arrive under gunicorn, where the common case costs most (docs/adr/0144).

A client that keeps its connection sends the same headers again and again, and asks for addresses
that need no decoding. What gunicorn makes of such a head is kept with the connection; everything
uncommon is gunicorn's to read and to refuse. ``tests/test_web_request.py`` compares both.
"""

from __future__ import annotations

import re
from functools import lru_cache
from io import BytesIO
from typing import Any

from gunicorn.http import wsgi  # type: ignore[import-untyped]
from gunicorn.http.body import (  # type: ignore[import-untyped]
    Body,
    ChunkedReader,
    LengthReader,
)
from gunicorn.http.errors import (  # type: ignore[import-untyped]
    InvalidHeader,
    ParseException,
)
from gunicorn.http.message import Request  # type: ignore[import-untyped]
from gunicorn.http.parser import RequestParser  # type: ignore[import-untyped]
from gunicorn.util import unquote_to_wsgi_str  # type: ignore[import-untyped]

Headers = list[tuple[str, str]]

# RFC 9112, 3.2.1: a path that is not the beginning of a host, a query, no fragment.
_LINE = re.compile(
    rb"(GET|POST|PATCH|PUT|DELETE|HEAD) "
    rb"(/(?!/)[!-\"$->@-~]*)(?:\?([!-\"$-~]*))? HTTP/1\.1\r\n"
)
# RFC 9110, 7.2, and RFC 3986, 3.2.2: a name or an address, and perhaps a port; it may be empty.
_HOST = re.compile(r"(?:[\w.~!$&'()*+,;=%-]*|\[[0-9a-f:.]+\])(?::[0-9]{0,5})?", re.ASCII | re.I)
_create = wsgi.create


class Head:
    """What the headers of a connection's last request said; ``data`` is their text.

    ``length`` is that of the body, ``closes`` whether the connection ends with the answer,
    ``environ`` what WSGI is told of them: each is found out once.
    """

    __slots__ = ("closes", "data", "environ", "headers", "length")

    def __init__(self, data: bytes, headers: Headers) -> None:
        self.data = data
        self.headers = tuple(headers)
        self.length: int | None = None
        self.closes: bool | None = None
        self.environ: dict[str, Any] | None = None


class PlainRequest(Request):  # type: ignore[misc]  # the library has no types
    """A request whose head is read once where a connection sends the same one again.

    Whom gunicorn trusts may say things by headers that concern this request alone: those are read.
    """

    head: Head | None = None  # kept with the connection

    def __init__(self, cfg: Any, unreader: Any, peer_addr: Any, req_number: int = 1) -> None:
        self.__dict__.update(_blank(cfg))
        self.headers: Headers = []
        self.trailers: Headers = []
        self.unreader, self.req_number = unreader, req_number
        self.peer_addr = self.remote_addr = peer_addr
        rest, head = self.parse(unreader), self.head
        if head is None or head.length is None or len(rest) < head.length:
            unreader.unread(rest)
            self.set_body_reader()
            return
        self.body = WholeBody(unreader, rest[: head.length])
        if len(rest) > head.length:
            unreader.unread(rest[head.length :])

    def parse(self, unreader: Any) -> bytes:
        """Read the head; returns what follows it."""
        if self.cfg.proxy_protocol != "off" or self._use_fast:
            return bytes(super().parse(unreader))
        data = unreader.read()
        if not data:
            raise StopIteration
        line, end = _LINE.match(data), data.find(b"\r\n\r\n")
        # One without headers ends with its line; a long one gunicorn may refuse.
        if line is None or end < line.end() or line.end() > self.limit_request_line > 0:
            rest = bytes(self._parse_python(unreader, bytearray(data)))
            if not self.headers:  # gunicorn makes nothing of them
                self._check_hosts([])
            return rest
        self.method, self.uri = line[1].decode(), data[line.start(2) : line.end() - 11].decode()
        self.path, query = line[2].decode(), line[3]
        self.query = query.decode() if query else ""
        self.fragment = ""
        self.version = (1, 1)
        self.headers = self.parse_headers(data[line.end() : end])
        return bytes(data[end + 4 :])

    def _peer_is_trusted_proxy(self) -> bool:
        if not self.cfg.forwarded_allow_ips and isinstance(self.peer_addr, tuple):
            return False  # gunicorn takes its address apart to compare it with none
        return bool(super()._peer_is_trusted_proxy())

    def parse_headers(self, data: bytes, from_trailer: bool = False) -> Headers:
        """The headers of a head, names in capitals."""
        if from_trailer or self._peer_is_trusted_proxy():
            return list(super().parse_headers(data, from_trailer))
        known: Head | None = getattr(self.unreader, "last_head", None)
        if known is not None and data == known.data:
            self.head = known if self.version == (1, 1) else None
            return list(known.headers)
        found: Headers = super().parse_headers(data)
        hosts = [value for name, value in found if name == "HOST"]
        self._check_hosts(hosts)
        # What EXPECT asks for is answered as it is read; a head of HTTP/1.0 may lack its host.
        if hosts and all(name != "EXPECT" for name, _ in found):
            kept = self.unreader.last_head = Head(data, found)
            self.head = kept if self.version == (1, 1) else None
        return found

    def _check_hosts(self, hosts: list[str]) -> None:
        """Raise unless the head says whom it is for, as it must since HTTP/1.1 (RFC 9112, 3.2)."""
        if (not hosts and self.version >= (1, 1)) or not all(map(_HOST.fullmatch, hosts)):
            raise InvalidHeader("HOST")

    def set_body_reader(self) -> None:
        """Find out where the body ends."""
        super().set_body_reader()
        if type(self.body.reader) is ChunkedReader:
            self.body = ChunkedBody(self.body.reader)
        head = self.head
        if head is not None and type(self.body.reader) is LengthReader:
            head.length = self.body.reader.length

    def should_close(self) -> bool:
        """Whether the connection ends with the answer."""
        head = self.head
        if head is None or self.must_close:
            return bool(super().should_close())
        if head.closes is None:
            head.closes = bool(super().should_close())
        return head.closes


class WholeBody(Body):  # type: ignore[misc]
    """A body that has arrived with its head."""

    buf: BytesIO

    def __init__(self, unreader: Any, content: bytes) -> None:
        super().__init__(LengthReader(unreader, 0))
        self.buf.write(content)

    def read(self, size: int | None = None) -> bytes:
        """What is left, or ``size`` bytes of it."""
        if size != self.buf.tell():
            return bytes(super().read(size))
        content: bytes = self.buf.getvalue()
        self.buf = BytesIO()
        return content


class ChunksError(OSError, ParseException):  # type: ignore[misc]
    """What follows is no chunk: for whoever reads the body, the connection broke off."""


class ChunkedBody(Body):  # type: ignore[misc]
    """A body in chunks, which are read while the request is answered."""

    def _read_reader(self, size: int) -> bytes:
        try:
            return bytes(super()._read_reader(size))
        except ParseException as error:
            raise ChunksError(str(error)) from error


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
        ):
            return True  # what it still holds, nobody asks for
        return bool(super().finish_body(deadline, max_bytes))


def create(
    req: Any, sock: Any, client: Any, server: Any, cfg: Any, *more: Any, **options: Any
) -> tuple[Any, dict[str, Any]]:
    """The answer to be and the environment of a request: gunicorn's ``wsgi.create``."""
    head: Head | None = getattr(req, "head", None)
    if head is None or head.environ is None or more or options:
        made: tuple[Any, dict[str, Any]] = _create(req, sock, client, server, cfg, *more, **options)
        if head is not None and not made[1]["SCRIPT_NAME"]:
            head.environ = made[1].copy()
        return made
    response = wsgi.Response(req, sock, cfg)
    environ = head.environ.copy()
    environ["wsgi.input"] = req.body
    environ["REQUEST_METHOD"] = req.method
    environ["QUERY_STRING"] = req.query
    environ["RAW_URI"] = req.uri
    environ["PATH_INFO"] = unquote_to_wsgi_str(req.path) if "%" in req.path else req.path
    environ["wsgi.early_hints"] = wsgi._make_early_hints_callback(req, sock, response)
    return response, environ


class _Blank(Request):  # type: ignore[misc]
    """A request of which nothing has arrived."""

    def parse(self, unreader: Any) -> bytes:
        return b""

    def set_body_reader(self) -> None: ...


class _Nowhere:
    def unread(self, data: bytes) -> None: ...


@lru_cache(maxsize=4)
def _blank(cfg: Any) -> dict[str, Any]:
    """The attributes of a request before anything is read."""
    return dict(vars(_Blank(cfg, _Nowhere(), None)))
