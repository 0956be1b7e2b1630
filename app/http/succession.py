"""How a web process ends: its successors can answer, and who stands at the door is let in."""

from __future__ import annotations

import mmap
import signal
import struct
import threading
import time
from typing import Any

# How long a process goes on when its successors do not get ready; hosts kill after thirty seconds.
SUCCESSION_SECONDS = 20.0
# Long enough to let in whoever had connected before.
LAST_SECONDS = 0.3
LOOK_SECONDS = 0.1


class Succession:
    """Which generation of processes is the present one, and how many of it are ready.

    It is a piece of memory that gunicorn's first process and the others have in common: made
    before the first of them is forked, begun anew by a reload, counted up by whoever is ready.
    """

    _GENERATION = struct.Struct("i")
    _WORKERS = 256

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, self._GENERATION.size + self._WORKERS)

    @property
    def generation(self) -> int:
        """The generation whose processes are being started, or serve."""
        return int(self._GENERATION.unpack_from(self._memory)[0])

    @property
    def ready(self) -> int:
        """How many processes of that generation serve."""
        return self._WORKERS - self._memory[self._GENERATION.size :].count(0)

    def begin(self) -> None:
        """In the first process, before it starts those of a reload."""
        self._memory[self._GENERATION.size :] = bytes(self._WORKERS)
        self._GENERATION.pack_into(self._memory, 0, self.generation + 1)

    def note_ready(self, age: int) -> None:
        """In a process that has loaded the application: a byte of its own says so."""
        self._memory[self._GENERATION.size + age % self._WORKERS] = 1

    def await_ready(self, since: int, processes: int) -> None:
        """Return when so many successors of generation ``since`` serve, if there are to be any."""
        until = time.monotonic() + SUCCESSION_SECONDS
        while self.generation > since and self.ready < processes and time.monotonic() < until:
            time.sleep(LOOK_SECONDS)


# Made once: gunicorn reads its configuration again with each reload.
succession = Succession()


def leave_in_order(worker: Any) -> None:
    """In a process that can answer: from now on TERM ends it only when nobody is kept waiting.

    gunicorn ends the old processes of a reload when it has only begun to start the new ones, and
    one that ends keeps its listening sockets to its last answer: the kernel takes connections on
    them which nobody would ever answer.
    """
    generation = succession.generation
    end: Any = signal.getsignal(signal.SIGTERM)

    def leave(number: int) -> None:
        succession.await_ready(generation, worker.cfg.workers)
        time.sleep(LAST_SECONDS)
        for listener in worker.sockets:
            listener.sock.close()
        end(number, None)

    threads: list[threading.Thread] = []

    def end_once(number: int, frame: Any) -> None:
        if not threads:  # gunicorn tells again and again
            threads.append(threading.Thread(target=leave, args=(number,), daemon=True))
            threads[0].start()

    signal.signal(signal.SIGTERM, end_once)
    # A system call that TERM interrupts is begun again, as gunicorn has it.
    signal.siginterrupt(signal.SIGTERM, False)
    succession.note_ready(worker.age)
