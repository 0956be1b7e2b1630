"""A server that takes connections and says nothing: noticed, and nobody waits for it for long.

A machine that swaps, a network that swallows packets, a stopped process: the sockets stay open, and
a thread that waits for an answer waits for ever. While connections are in use, a thread looks after
them: when one of them has been out for a while, the server is asked for a new connection; if it
does not answer that, those that wait are cut off and new ones refused until it does
(docs/adr/0004).
"""

from __future__ import annotations

import os
import socket
import threading
import time
from contextlib import suppress
from typing import Any

import psycopg
import structlog
from sqlalchemy import Engine

LOOK_EVERY_SECONDS = 0.5
# Most connections come back within milliseconds. A slow statement costs a probe now and then.
SUSPICIOUS_SECONDS = 2.0
PROBE_EVERY_SECONDS = 2.0
# The least that libpq takes.
ANSWER_SECONDS = 2
# Without connections in use the thread ends after this long.
IDLE_SECONDS = 10.0

_log = structlog.get_logger(__name__)


class Watch:
    """Looks after the connections of one engine that are in use."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._taken: dict[int, tuple[Any, float]] = {}
        self._guard = threading.Lock()
        self._runs = False
        self.is_silent = False

    def note_taken(self, connection: Any) -> None:
        """A connection of the driver is in use from now on."""
        self._taken[id(connection)] = (connection, time.monotonic())
        if not self._runs:
            self._start()

    def note_returned(self, connection: Any) -> None:
        """It is no longer."""
        self._taken.pop(id(connection), None)

    def _start(self) -> None:
        with self._guard:
            if not self._runs:
                self._runs = True
                threading.Thread(target=self._run, name="database-watch", daemon=True).start()

    def _run(self) -> None:
        pause = threading.Event()
        used_at, probed_at = time.monotonic(), 0.0
        while self.is_silent or time.monotonic() - used_at < IDLE_SECONDS:
            pause.wait(LOOK_EVERY_SECONDS)
            now = time.monotonic()
            if self._taken:
                used_at = now
            if not self.is_silent and not self._waiting_since(now - SUSPICIOUS_SECONDS):
                continue
            if self.is_silent or now - probed_at >= PROBE_EVERY_SECONDS:
                probed_at = now
                self._judge(self._answers())
        with self._guard:
            self._runs = False

    def _waiting_since(self, instant: float) -> list[Any]:
        return [connection for connection, since in list(self._taken.values()) if since < instant]

    def _judge(self, answers: bool) -> None:
        if answers == self.is_silent:
            self.is_silent = not answers
            _log.warning("the database answers again" if answers else "the database is silent")
        if not answers:
            for connection in self._waiting_since(time.monotonic() - SUSPICIOUS_SECONDS):
                _cut(connection)

    def _answers(self) -> bool:
        """Whether the server says anything to somebody new; a refusal is an answer."""
        words, options = self._engine.dialect.create_connect_args(self._engine.url)
        try:
            psycopg.connect(*words, **{**options, "connect_timeout": ANSWER_SECONDS}).close()
        except psycopg.errors.ConnectionTimeout:
            return False
        except psycopg.Error:
            return True
        return True


def _cut(connection: Any) -> None:
    """End a connection from outside: who waits for it is told at once."""
    # A copy: closing it leaves the driver's own descriptor to the driver.
    with (
        suppress(OSError, psycopg.Error),
        socket.socket(fileno=os.dup(connection.pgconn.socket)) as copy,
    ):
        copy.shutdown(socket.SHUT_RDWR)
