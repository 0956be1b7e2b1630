"""A pool of one connection whose waiters take turns.

The pool's own queue wakes a waiter and lets whoever comes first have the connection: a thread that
has just given it back takes it again before the other has woken. Under load some waited for
seconds while others never did. Here whoever ends hands the turn to the one who waits longest.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import Any

from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.pool import ConnectionPoolEntry, QueuePool


class Turns:
    """A lock that is handed on in the order in which it was asked for."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._waiting: deque[threading.Lock] = deque()
        self._is_taken = False

    def take(self, seconds: float) -> bool:
        """Wait for a turn, ``seconds`` at most; whether it came."""
        with self._guard:
            if not self._is_taken:
                self._is_taken = True
                return True
            mine = threading.Lock()
            mine.acquire()
            self._waiting.append(mine)
        if mine.acquire(timeout=seconds):
            return True
        with self._guard:
            if mine in self._waiting:
                self._waiting.remove(mine)
                return False
        return True  # it was handed on in the last moment

    def pass_on(self) -> None:
        """End the turn."""
        with self._guard:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._is_taken = False


class TurnsPool(QueuePool):
    """One connection, in turns."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._turns = Turns()

    def _do_get(self) -> ConnectionPoolEntry:
        if not self._turns.take(self._timeout):
            raise PoolTimeoutError(f"no turn to write in {self._timeout} seconds")
        try:
            return super()._do_get()
        except BaseException:
            self._turns.pass_on()
            raise

    def _do_return_conn(self, record: ConnectionPoolEntry) -> None:
        try:
            super()._do_return_conn(record)
        finally:
            self._turns.pass_on()
