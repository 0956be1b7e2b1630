"""Loops of the worker: work that is done as soon as there is some, in threads that end gracefully.

A loop runs its function again at once while that found something to do, and otherwise after a
short rest. What it works on are rows of the database, taken by leases (app/leases.py), so that any
number of workers share it (docs/adr/0085).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import structlog
from flask import Flask

from app.request_context import running_app

log = structlog.get_logger(__name__)

# A failing loop rests 1, 2, 4 and then always 5 seconds: what it needs may be back any moment.
FIRST_REST_SECONDS = 1.0
LONGEST_REST_SECONDS = 5.0


class StoppingError(Exception):
    """The process ends: what is in hand was given back, and another worker takes it up."""


@dataclass(frozen=True)
class Loop:
    """Work of one kind.

    ``run`` does one portion in transactions of its own, inside an application context, and
    returns how much it did; 0 lets the thread rest ``idle_seconds``. A portion should take a few
    seconds at most: the end of the process waits for it. ``end`` runs in the thread when the loop
    ends, for work that goes on between portions.
    """

    name: str
    run: Callable[[], int]
    idle_seconds: float = 1.0
    threads: int = 1
    end: Callable[[], object] | None = None


class LoopThreads:
    """The threads of some loops, in one process."""

    def __init__(self, app: Flask, loops: Iterable[Loop]) -> None:
        self._app = app
        self._stopping = threading.Event()
        loops = tuple(loops)
        self._bells = {loop.name: threading.Event() for loop in loops}
        self._threads = [
            threading.Thread(
                target=self._work, args=(loop,), name=f"{loop.name}-{number}", daemon=True
            )
            for loop in loops
            for number in range(loop.threads)
        ]

    def start(self) -> None:
        """Begin to work; other modules of the process can ``wake`` a loop by its name."""
        self._app.extensions["loops"] = self
        for thread in self._threads:
            thread.start()

    def ask_to_stop(self) -> None:
        """Let every thread end after the portion that it is working on; returns at once."""
        self._stopping.set()
        for bell in self._bells.values():
            bell.set()

    def join(self, seconds: float) -> list[str]:
        """Wait until all threads have ended, ``seconds`` at most; the names of those that did not.

        What they hold is leased: another worker takes it up when the lease has run out.
        """
        deadline = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        return [thread.name for thread in self._threads if thread.is_alive()]

    @property
    def is_stopping(self) -> bool:
        """Whether the threads have been asked to end."""
        return self._stopping.is_set()

    def ring(self, name: str) -> None:
        """End the rest of the loop ``name``: there is work for it."""
        if bell := self._bells.get(name):
            bell.set()

    def _work(self, loop: Loop) -> None:
        failures = 0
        bell = self._bells[loop.name]
        while not self._stopping.is_set():
            # Cleared before looking: a bell that rings during the look is heard after it.
            bell.clear()
            if self._stopping.is_set():
                break
            done = self._run(loop)
            failures = failures + 1 if done is None else 0
            if failures:
                self._stopping.wait(rest_after(failures))
            elif not done:
                bell.wait(loop.idle_seconds)
        if loop.end is not None:
            self._run_end(loop.end, loop.name)

    def _run(self, loop: Loop) -> int | None:
        """How much was done; None when it failed."""
        try:
            with self._app.app_context():
                return loop.run()
        except StoppingError:
            log.info("loop left its work to another", loop=loop.name)
            return 0
        except Exception:
            log.exception("loop failed", loop=loop.name)
            return None

    def _run_end(self, end: Callable[[], object], name: str) -> None:
        try:
            with self._app.app_context():
                end()
        except Exception:
            log.exception("loop failed to end", loop=name)


def rest_after(failures: int) -> float:
    """Seconds to rest after this many failures in a row."""
    return min(FIRST_REST_SECONDS * 2.0 ** min(failures - 1, 10), LONGEST_REST_SECONDS)


def wake(app: Flask, name: str) -> None:
    """Let the loop ``name`` look for work now, if it runs in this process; others look soon."""
    threads: LoopThreads | None = app.extensions.get("loops")
    if threads is not None:
        threads.ring(name)


def is_stopping() -> bool:
    """Whether a portion should end where it can: the process is asked to, and waits for it."""
    threads: LoopThreads | None = running_app().extensions.get("loops")
    return threads is not None and threads.is_stopping


def leave_if_stopping() -> None:
    """End what is in hand here, between two of its steps, where the process is asked to end.

    Raises: StoppingError; whoever holds a row of work gives it back.
    """
    if is_stopping():
        raise StoppingError
