"""Streams that wait: one thread keeps their sockets, so that none occupies a thread of its own.

A threaded server gives each open response a thread; a hundred readers of slow answers would take
them all. Under gunicorn the socket is taken from the server once the headers are out, and this
thread writes what comes. Elsewhere (tests, other servers) a stream is an ordinary response.
"""

from __future__ import annotations

import os
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import structlog
from flask import Flask

from app.extensions import Extension

# A reader that takes nothing for so long a text has gone, or will come back.
MOST_WAITING_BYTES = 1_000_000
# Open files are limited; this is far below what a process may have.
MOST_KEPT = 500
# Another process may make an answer: then nothing rings here.
LOOK_SECONDS = 0.4

_log = structlog.get_logger()


class Signals:
    """Wakes the readers of streams in this process when something new was kept."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._count = 0

    def ring(self) -> None:
        """Something new is committed."""
        with self._changed:
            self._count += 1
            self._changed.notify_all()

    def wait(self, known_count: int, seconds: float) -> int:
        """Sleep until the count is not ``known_count``, ``seconds`` at most; the count then."""
        with self._changed:
            self._changed.wait_for(lambda: self._count != known_count, seconds)
            return self._count


signals = Extension("ai_signals", Signals)


@dataclass
class StreamReader:
    """A reader: what it has, and what it has not taken yet."""

    session_id: int
    sequence: int
    spoken: float = field(default_factory=time.monotonic)
    began: float = field(default_factory=time.monotonic)
    waiting: bytearray = field(default_factory=bytearray)
    is_over: bool = False

    def say(self, content: bytes) -> None:
        """Write a piece of the body."""
        self.waiting += content
        self.spoken = time.monotonic()

    def end(self) -> None:
        self.is_over = True


@dataclass(kw_only=True)
class _KeptReader(StreamReader):
    """One whose socket is kept: the body comes as chunks of HTTP/1.1."""

    sock: socket.socket

    def say(self, content: bytes) -> None:
        super().say(b"%X\r\n%b\r\n" % (len(content), content))

    def end(self) -> None:
        """Write the end of the body; the socket is closed when the reader has taken it."""
        self.say(b"")
        super().end()

    def flush(self) -> bool:
        """Send what the reader takes now; False when it is gone, or has everything."""
        try:
            if self.waiting:
                del self.waiting[: self.sock.send(self.waiting)]
            elif self.sock.recv(1, socket.MSG_PEEK) == b"":
                return False
        except BlockingIOError:
            return len(self.waiting) < MOST_WAITING_BYTES
        except OSError:
            return False
        return bool(self.waiting) or not self.is_over


class StreamKeeper:
    """Keeps the sockets of open streams; ``look`` gives each what is new for it.

    ``look`` gets all readers, says and ends; it is called whenever something may be new.
    """

    def __init__(
        self, app: Flask, bell: Signals, look: Callable[[list[StreamReader]], None]
    ) -> None:
        self._app = app
        self._bell = bell
        self._look = look
        self._kept: list[_KeptReader] = []
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def __len__(self) -> int:
        return len(self._kept)

    def take(self, sock: socket.socket, session_id: int, sequence: int) -> None:
        """Keep a socket whose headers are sent."""
        sock.setblocking(False)
        with self._lock:
            self._kept.append(_KeptReader(session_id, sequence, sock=sock))
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="streams", daemon=True)
                self._thread.start()
        self._bell.ring()

    def _run(self) -> None:
        last_position = -1
        while True:
            last_position = self._bell.wait(last_position, LOOK_SECONDS)
            with self._lock:
                if not self._kept:
                    self._thread = None
                    return
                readers = list(self._kept)
            try:
                with self._app.app_context():
                    self._look([each for each in readers if not each.is_over])
            except Exception:  # the database may be back at the next look
                _log.exception("streams were not looked after")
            gone = [each for each in readers if not each.flush()]
            for each in gone:
                each.sock.close()
            if gone:
                with self._lock:
                    self._kept = [each for each in self._kept if each not in gone]


def can_keep(environ: Mapping[str, Any]) -> bool:
    """Whether the socket of a request can be taken from its server."""
    sock = environ.get("gunicorn.socket")
    return (
        isinstance(sock, socket.socket)
        and not isinstance(sock, ssl.SSLSocket)
        and environ.get("SERVER_PROTOCOL") == "HTTP/1.1"
        and environ["REQUEST_METHOD"] == "GET"
    )


def handed_over(
    keeper: StreamKeeper, sock: socket.socket, session_id: int, sequence: int, first: bytes
) -> Iterator[bytes]:
    """A body whose first piece the server writes, with the headers; the rest is the keeper's."""
    yield first
    # A plain one: the limits of time are for requests, and a stream may be silent for long.
    duplicate = socket.socket(fileno=os.dup(sock.fileno()))
    # The server goes on to end the body and to shut the connection down: it does so to a socket
    # that nobody listens to, put under the number of the one taken.
    mine, theirs = socket.socketpair()
    os.dup2(mine.fileno(), sock.fileno())
    mine.close()
    theirs.close()
    keeper.take(duplicate, session_id, sequence)
