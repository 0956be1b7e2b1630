"""Connections to the web server: who sends too slowly, or takes nothing, is let go (docs/adr/0002).

gunicorn gives each connection a thread for the length of a request, and waits for its client as
long as the system lets it. Options of the socket bound each wait; ``Connection`` bounds all the
waits for one request together.
"""

from __future__ import annotations

import errno
import logging
import resource
import socket
import struct
import time
from typing import Any

# A client may be silent for so long within a request, and for so long in all beside ...
RECEIVE_SECONDS = 5
# ... a second for each so many bytes that it has sent.
BYTES_A_SECOND = 16_384
# A client that takes nothing of an answer for so long is gone; looked at each second.
SEND_SECONDS, LOOK_SECONDS = 5, 1
# Who says nothing at all is kept by the kernel, and after about so long let go.
SILENT_SECONDS = 30
# A body is read on behind its answer for so long, so that the client gets to read that.
PARTING_SECONDS = 2.0
READ_BYTES = 65_536
# With a longer body a connection ends: gunicorn reads so much of one that nobody wanted.
MOST_KEPT_BODY = 65_536
# What a process has open besides its callers: database, files, logs, the pages of the library ...
FILES_OF_OUR_OWN = 48
# ... and what each thread may: two connections to SQLite of three files each, or files under way.
FILES_OF_A_THREAD = 4
FEWEST_CONNECTIONS = 16
# What the system answers when it, or this process, can open nothing more.
SHORTAGES = frozenset((errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM))
SHORTAGE_SECONDS = 0.2

_log = logging.getLogger("gunicorn.error")


class Connection(socket.socket):
    """A connection that does not wait for its client longer than a request may take."""

    waited = 0.0
    is_parting = False
    is_too_late = False

    def recv(self, size: int, flags: int = 0) -> bytes:
        """Up to ``size`` bytes.

        Raises: ConnectionResetError, the client was silent, or sent its request too slowly; from
            then on it is not waited for, also not behind the answer that tells it.
        """
        if self.is_parting:
            return self._sent_already(size)
        began = time.monotonic()
        try:
            received = super().recv(size, flags | (socket.MSG_DONTWAIT if self.is_too_late else 0))
        except BlockingIOError as error:
            self.is_too_late = True
            raise ConnectionResetError(errno.ECONNRESET, "the client is silent") from error
        waited = self.waited + time.monotonic() - began - len(received) / BYTES_A_SECOND
        self.waited = max(waited, 0.0)
        if waited > RECEIVE_SECONDS:
            self.is_too_late = True
            raise ConnectionResetError(errno.ECONNRESET, "the client sends too slowly")
        return received

    def sendall(self, data: Any, flags: int = 0) -> None:
        """Send all of ``data``; the next request has its whole time again.

        Raises: ConnectionResetError, the client takes nothing, or too slowly.
        """
        waits = self.gettimeout() is None
        left, waited = memoryview(data), 0.0
        while True:
            began = time.monotonic()
            try:
                sent = self.send(left, flags)
            except BlockingIOError:
                if not waits:
                    raise
                sent = 0
            left = left[sent:]
            if not left:
                break
            waited = max(waited + time.monotonic() - began - sent / BYTES_A_SECOND, 0.0)
            if waited > SEND_SECONDS:
                raise ConnectionResetError(errno.ECONNRESET, "the client takes nothing")
        self.waited = 0.0

    def shutdown(self, how: int) -> None:
        """Say that nothing more comes; from now on nobody waits for the client."""
        self.is_parting = True
        super().shutdown(how)

    def _sent_already(self, size: int) -> bytes:
        self.setblocking(False)  # whatever time gunicorn has set: with one Python waits itself
        try:
            return super().recv(size)
        except BlockingIOError:
            return b""


class Listener(socket.socket):
    """A listening socket whose connections are bounded, and have something to say."""

    @classmethod
    def of(cls, listening: socket.socket) -> Listener:
        """``listening`` itself, which is taken over."""
        listener = cls(fileno=listening.detach())
        listener.setblocking(False)
        if listener.defers:
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT, SILENT_SECONDS)
        return listener

    @property
    def defers(self) -> bool:
        """Whether the kernel keeps a connection until something has arrived on it."""
        return hasattr(socket, "TCP_DEFER_ACCEPT") and self.family != socket.AF_UNIX

    def accept(self) -> tuple[socket.socket, Any]:
        """The next connection on which something has arrived.

        Raises: BlockingIOError, there is none, or the system cannot open another.
        """
        try:
            accepted, address = super().accept()
        except OSError as error:
            if error.errno in SHORTAGES:
                _log.warning("No more connections for a moment: %s", error)
                time.sleep(SHORTAGE_SECONDS)
            elif self.fileno() != -1:  # else this process no longer lets anybody in
                raise
            raise BlockingIOError(errno.EAGAIN, "nobody can be let in") from error
        opened = Connection(
            accepted.family, accepted.type, accepted.proto, fileno=accepted.detach()
        )
        # Here, and not inherited: the kernel took in some before this socket was ours.
        for option, seconds in (
            (socket.SO_RCVTIMEO, RECEIVE_SECONDS),
            (socket.SO_SNDTIMEO, LOOK_SECONDS),
        ):
            opened.setsockopt(socket.SOL_SOCKET, option, struct.pack("ll", seconds, 0))
        if self.defers and not has_something(opened):
            opened.close()
            raise BlockingIOError(errno.EAGAIN, "the client has said nothing")
        return opened, address


def has_something(connection: socket.socket) -> bool:
    """Whether there is something to read, or an end."""
    try:
        socket.socket.recv(connection, 1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except OSError:
        return False
    return True


def ends_connection(headers: list[tuple[str, str]]) -> bool:
    """Whether the body that these announce is too long to be read for the next request's sake."""
    lengths = [value for name, value in headers if name == "CONTENT-LENGTH"]
    return any(not value.isdecimal() or int(value) > MOST_KEPT_BODY for value in lengths)


def read_on(body: Any) -> None:
    """Throw away what a client still sends behind its last answer, for a moment.

    Else the system would tell it that the connection broke, before it has read the answer.
    """
    until = time.monotonic() + PARTING_SECONDS
    try:
        while time.monotonic() < until and body.read(READ_BYTES):
            continue
    except Exception as error:
        # Gone, too slow, or no body at all: there is nothing left to wait for.
        _log.debug("The rest of a body was not read: %s", error)


def connections_for(wanted: int, threads: int) -> int:
    """How many connections leave enough open files for the work, at most ``wanted``.

    The limit is this process's own (``ulimit -n``), which most hosts set to 1024 and some lower.
    """
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return wanted
    left = files - FILES_OF_OUR_OWN - FILES_OF_A_THREAD * threads
    return max(min(wanted, left), FEWEST_CONNECTIONS)
