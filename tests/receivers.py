"""Receivers on loopback that behave well and badly, as the path says."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import orjson

# The slow ones give up when their receiver is closed.
HANG_SECONDS = 60.0


@dataclass
class Taken:
    """A request that arrived."""

    path: str
    headers: dict[str, str]
    body: bytes
    at: float

    @property
    def message_id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def json(self) -> Any:
        return orjson.loads(self.body)


@dataclass
class Receiver:
    """A server that remembers what it got; ``answers[path]`` overrides what a path does."""

    port: int = 0
    taken: list[Taken] = field(default_factory=list)
    answers: dict[str, Callable[[BaseHTTPRequestHandler], None]] = field(default_factory=dict)
    connections: int = 0
    closing: threading.Event = field(default_factory=threading.Event)

    def url(self, path: str = "/ok") -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def at(self, path: str) -> list[Taken]:
        return [taken for taken in self.taken if taken.path == path]


@contextmanager
def receiver() -> Iterator[Receiver]:
    """A receiver on a free port of loopback."""
    made = Receiver()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            made.connections += 1
            super().setup()

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            made.taken.append(Taken(self.path, headers, body, time.monotonic()))
            answer = made.answers.get(self.path) or ANSWERS.get(self.path.partition("?")[0], ok)
            try:
                answer(self)
            except OSError:
                self.close_connection = True

        do_GET = do_POST

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.closing = made.closing  # type: ignore[attr-defined]
    made.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield made
    finally:
        made.closing.set()
        server.shutdown()
        server.server_close()


def status(
    code: int, body: bytes = b"", **headers: str
) -> Callable[[BaseHTTPRequestHandler], None]:
    """An answer with a status."""

    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(code)
        for name, value in headers.items():
            request.send_header(name.replace("_", "-"), value)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    return answer


ok = status(200, b"thanks")


def hang(request: BaseHTTPRequestHandler) -> None:
    """Takes the request and says nothing."""
    request.server.closing.wait(HANG_SECONDS)  # type: ignore[attr-defined]
    request.close_connection = True


def trickle_headers(request: BaseHTTPRequestHandler) -> None:
    """A byte every tenth of a second, and never a whole header."""
    request.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    _drip(request, b"a")


def trickle_body(request: BaseHTTPRequestHandler) -> None:
    """The status at once, and a body that does not end."""
    request.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    _drip(request, b"b")


def endless(request: BaseHTTPRequestHandler) -> None:
    """A body without an end, as fast as it is read."""
    request.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
    while not request.server.closing.is_set():  # type: ignore[attr-defined]
        request.wfile.write(b"c" * 65_536)
    request.close_connection = True


def chunked(request: BaseHTTPRequestHandler) -> None:
    """A body in chunks."""
    request.wfile.write(
        b"HTTP/1.1 202 Accepted\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
    )


def garbage(request: BaseHTTPRequestHandler) -> None:
    """No HTTP at all."""
    request.wfile.write(b"SSH-2.0-OpenSSH_9.6\r\n")
    request.close_connection = True


def cut(request: BaseHTTPRequestHandler) -> None:
    """The connection ends without an answer."""
    request.close_connection = True


def close_after(request: BaseHTTPRequestHandler) -> None:
    """An answer, and then the end of the connection, unannounced."""
    ok(request)
    request.close_connection = True


def _drip(request: BaseHTTPRequestHandler, byte: bytes) -> None:
    while not request.server.closing.wait(0.1):  # type: ignore[attr-defined]
        request.wfile.write(byte)
        request.wfile.flush()
    request.close_connection = True


ANSWERS: dict[str, Callable[[BaseHTTPRequestHandler], None]] = {
    "/fail": status(500, b"broken"),
    "/gone": status(410, b"gone"),
    "/redirect": status(302, Location="/ok"),
    "/busy": status(503, Retry_After="120"),
    "/hang": hang,
    "/trickle-headers": trickle_headers,
    "/trickle-body": trickle_body,
    "/endless": endless,
    "/chunked": chunked,
    "/garbage": garbage,
    "/cut": cut,
    "/close": close_after,
}
