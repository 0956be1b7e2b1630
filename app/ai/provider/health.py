"""How the provider does, as this process has seen it: one that keeps failing is left alone."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from app.ai.provider.errors import CROWDED, RESTING, ProviderError

FAILURES = 3
REST_SECONDS = 30.0
# Each waits in a thread; beyond, the built-in assistant answers at once.
MOST_AT_ONCE = 8


class Health:
    """Counts answers by outcome; safe for threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._failures = 0
        self._failed_at = 0.0  # the last one in a row
        self._open = 0
        self.outcomes: Counter[str] = Counter()
        self.tokens: Counter[str] = Counter()

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Around one answer.

        Raises: ProviderError, the provider is left alone, or is asked too much already.
        """
        self._enter()
        try:
            yield
        except ProviderError as error:
            self._note(error)
            raise
        else:
            with self._lock:
                self._failures = 0
                self.outcomes["answered"] += 1
        finally:
            with self._lock:
                self._open -= 1

    def is_well(self) -> bool:
        """Whether its last answers came."""
        return self._failures < FAILURES

    def count(self, read: int, written: int) -> None:
        """Tokens that were used."""
        with self._lock:
            self.tokens["input"] += read
            self.tokens["output"] += written

    def _enter(self) -> None:
        with self._lock:
            if not self.is_well() and time.monotonic() < self._failed_at + REST_SECONDS:
                self.outcomes["fallback"] += 1
                raise ProviderError(RESTING, is_fault=False)
            if self._open >= MOST_AT_ONCE:
                self.outcomes["fallback"] += 1
                raise ProviderError(CROWDED, is_fault=False)
            self._open += 1

    def _note(self, error: ProviderError) -> None:
        with self._lock:
            self.outcomes["fallback"] += 1
            if error.is_fault:
                self._failures += 1
                self._failed_at = time.monotonic()
