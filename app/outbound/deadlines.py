"""A limit for a whole exchange: the timeouts of a socket begin anew with every byte."""

from __future__ import annotations

import heapq
import socket
import threading
import time
from contextlib import suppress
from itertools import count

# What an exchange may take where nobody says otherwise.
EXCHANGE_SECONDS = 15.0


class Deadline:
    """The end of one exchange; ``passed`` once it was enforced."""

    def __init__(self, at: float) -> None:
        self.at = at  # by time.monotonic()
        self.passed = False
        self.sock: socket.socket | None = None
        self._is_over = False
        self._lock = threading.Lock()

    @property
    def left(self) -> float:
        """Seconds that are left; 0 when none are."""
        return max(0.0, self.at - time.monotonic())

    def lift(self) -> None:
        """The exchange has ended: its socket may be used for another."""
        with self._lock:
            self._is_over = True
            self.sock = None

    def watch(self, sock: socket.socket | None) -> None:
        """Cut this connection when the time is over; at once, if it is."""
        with self._lock:
            self.sock = sock
        if sock is not None and self.passed:
            self.cut()

    def enforce(self) -> None:
        """Cut the connection, so that whoever reads from it wakes up."""
        with self._lock:
            if self._is_over:
                return
            self.passed = True
        self.cut()

    def cut(self) -> None:
        """End the connection for whoever reads from it."""
        with self._lock:
            if self.sock is not None and not self._is_over:
                # Not the method of a TLS socket, which would take the session from its reader.
                with suppress(OSError):
                    socket.socket.shutdown(self.sock, socket.SHUT_RDWR)


class Watch:
    """One thread that enforces the deadlines of all exchanges."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Deadline]] = []
        self._numbers = count()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def begin(self, seconds: float) -> Deadline:
        """A deadline ``seconds`` from now; the caller gives it its socket and lifts it."""
        deadline = Deadline(time.monotonic() + seconds)
        with self._changed:
            heapq.heappush(self._heap, (deadline.at, next(self._numbers), deadline))
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="deadlines", daemon=True)
                self._thread.start()
            elif self._heap[0][2] is deadline:
                self._changed.notify()
        return deadline

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._heap or self._heap[0][0] > time.monotonic():
                    pause = self._heap[0][0] - time.monotonic() if self._heap else None
                    self._changed.wait(pause)
                _, _, deadline = heapq.heappop(self._heap)
            deadline.enforce()
