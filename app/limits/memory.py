"""Counting requests in the memory of this process, in a window that moves with the clock."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

from app.limits.rate import Rate, Verdict

# Buckets to start with before those that nobody uses any more are thrown out.
_SWEEP_AT = 4096
_SECOND = 1_000_000_000


class MemoryStore:
    """The instants of each bucket's requests, oldest first (docs/adr/0005).

    Exact within one process. The clock is monotonic, so a corrected wall clock changes nothing, and
    counts whole nanoseconds, so that nobody is refused at the instant they were told.
    """

    def __init__(self, clock: Callable[[], int] = time.monotonic_ns) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: dict[str, tuple[Rate, deque[int]]] = {}
        self._sweep_at = _SWEEP_AT

    def hit(self, bucket: str, rate: Rate, cost: int = 1) -> Verdict:
        """Count ``cost`` requests when all of them fit, else none; 0 only looks."""
        with self._lock:
            now = self._clock()
            _, hits = self._buckets.get(bucket) or self._open(bucket, rate, now)
            begin = now - rate.seconds * _SECOND
            while hits and hits[0] <= begin:
                hits.popleft()
            free = rate.amount - len(hits)
            if cost <= free:
                if cost == 1:
                    hits.append(now)
                else:
                    hits.extend([now] * cost)
                reset = -(-(hits[0] - begin) // _SECOND) if hits else 0
                return Verdict(True, rate.amount, free - cost, reset)
            # It would pass when so many have left that it fits; never, if it is over the limit.
            blocking = hits[min(cost - free, len(hits)) - 1] if hits else now
            return Verdict(False, rate.amount, free, -(-(blocking - begin) // _SECOND))

    def _open(self, bucket: str, rate: Rate, now: int) -> tuple[Rate, deque[int]]:
        if len(self._buckets) >= self._sweep_at:
            self._sweep(now)
        opened = self._buckets[bucket] = (rate, deque())
        return opened

    def _sweep(self, now: int) -> None:
        self._buckets = {
            name: (rate, hits)
            for name, (rate, hits) in self._buckets.items()
            if hits and hits[-1] > now - rate.seconds * _SECOND
        }
        # Twice what is in use: sweeping stays cheap a request, however many callers there are.
        self._sweep_at = max(_SWEEP_AT, 2 * len(self._buckets))
