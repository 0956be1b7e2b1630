"""Windows of requests in the memory of this process: a storage of ``limits``, as it documents them.

The library's own starts a thread a hundred times a second to look for what has passed, and moves
a whole window for each request (docs/adr/0003).
"""

from __future__ import annotations

import time
from collections import deque
from threading import Lock

from limits.storage import MovingWindowSupport, Storage


class WindowStorage(Storage, MovingWindowSupport):
    """For moving windows alone: the instants of each key's requests, the oldest first."""

    STORAGE_SCHEME = ["window"]  # as the base class declares it

    def __init__(self, uri: str | None = None, wrap_exceptions: bool = False, **_: str) -> None:
        super().__init__(uri, wrap_exceptions=wrap_exceptions)
        self._lock = Lock()
        # Key -> the seconds that its window is long, and the instants in it.
        self._windows: dict[str, tuple[int, deque[float]]] = {}
        self._looked = time.time()

    def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        """Count ``amount`` more requests in the last ``expiry`` seconds, all of them or none."""
        now = time.time()
        with self._lock:
            if now - self._looked > expiry:
                self._forget(now)
            _, instants = self._windows.setdefault(key, (expiry, deque()))
            _leave(instants, now - expiry)
            if len(instants) + amount > limit:
                return False
            instants.extend([now] * amount)
            return True

    def get_moving_window(self, key: str, limit: int, expiry: int) -> tuple[float, int]:
        """The instant of the oldest request in the window, and how many there are."""
        now = time.time()
        with self._lock:
            _, instants = self._windows.get(key, (expiry, deque()))
            _leave(instants, now - expiry)
            return (instants[0], len(instants)) if instants else (now, 0)

    def _forget(self, now: float) -> None:
        """Let go of the keys that nobody has used for the length of their window."""
        self._looked = now
        passed = [
            key
            for key, (seconds, instants) in self._windows.items()
            if not instants or instants[-1] < now - seconds
        ]
        for key in passed:
            del self._windows[key]

    @property
    def base_exceptions(self) -> type[Exception]:
        """What memory raises when it cannot be reached: nothing."""
        return ValueError

    def check(self) -> bool:
        """Whether it can be used."""
        return True

    def reset(self) -> int:
        """Forget all keys; returns how many there were."""
        with self._lock:
            count = len(self._windows)
            self._windows.clear()
            return count

    def clear(self, key: str) -> None:
        """Forget a key."""
        with self._lock:
            self._windows.pop(key, None)

    def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        """Not offered: for other strategies."""
        raise NotImplementedError

    def get(self, key: str) -> int:
        """Not offered: for other strategies."""
        raise NotImplementedError

    def get_expiry(self, key: str) -> float:
        """Not offered: for other strategies."""
        raise NotImplementedError


def _leave(instants: deque[float], start: float) -> None:
    """Drop those before ``start``."""
    while instants and instants[0] < start:
        instants.popleft()
