"""Threads that do what they are given, and do not keep the process when it ends."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

import structlog

log = structlog.get_logger(__name__)
Work = tuple[Callable[..., object], tuple[Any, ...]]


class DaemonThreads:
    """Up to so many threads; each is started when the others have something to do.

    The process would wait for those of a ThreadPoolExecutor without end: for the name of a host
    that is looked up, or for a model that is silent.
    """

    def __init__(self, most: int, name: str, *, end_seconds: float = 0.0) -> None:
        """``end_seconds``: what is under way when the process ends has so long."""
        self._most = most
        self._name = name
        self._end_seconds = end_seconds
        self._work: SimpleQueue[Work | None] = SimpleQueue()
        self._changed = threading.Condition()
        self._unfinished = 0
        self._started = 0

    def submit(self, function: Callable[..., object], *arguments: Any) -> None:
        """Call ``function`` in a thread, when one is free."""
        with self._changed:
            self._unfinished += 1
            if self._started < min(self._unfinished, self._most):
                if not self._started and self._end_seconds:
                    atexit.register(self.wait, self._end_seconds)
                threading.Thread(target=self._serve, name=self._name, daemon=True).start()
                self._started += 1
        self._work.put((function, arguments))

    def wait(self, seconds: float) -> bool:
        """Until all that was submitted is done, ``seconds`` at most; whether it is."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._unfinished, seconds)

    def stop(self) -> None:
        """Let the threads end after what was submitted; nothing more may be."""
        atexit.unregister(self.wait)
        for _ in range(self._started):
            self._work.put(None)

    def _serve(self) -> None:
        while (work := self._work.get()) is not None:
            function, arguments = work
            try:
                function(*arguments)
            except Exception:  # the thread has more to do
                log.exception("a thread failed", thread=self._name)
            with self._changed:
                self._unfinished -= 1
                self._changed.notify_all()
