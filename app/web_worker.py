"""The gunicorn worker: threads, each staying with its connection for a moment (docs/adr/0007)."""

from __future__ import annotations

import select
import threading
from typing import Any

from gunicorn.workers.gthread import ThreadWorker  # type: ignore[import-untyped]

# Long enough for the next request of a busy connection, too short to keep anyone waiting.
LINGER_MILLISECONDS = 10


class LingeringWorker(ThreadWorker):  # type: ignore[misc]  # the library has no types
    """gunicorn's ``gthread``, in which a thread that has answered looks for the next request.

    ``gthread`` hands a connection back to its main thread after each answer, which costs as much
    as a small request: two changes of thread, four of the poller. Here the thread waits for the
    connection's next request itself; at most half of the threads do, so that others are there
    for whoever comes new.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.places = threading.Semaphore(max(self.cfg.threads // 2, 1))

    def init_process(self) -> None:
        """Make every setting a plain attribute: each request reads a dozen of them."""
        self.cfg.__dict__.update({name: item.get() for name, item in self.cfg.settings.items()})
        super().init_process()

    def handle(self, conn: Any) -> Any:
        """Answer the requests of ``conn`` until it pauses; what is returned is gthread's."""
        keep = super().handle(conn)
        while keep is True and self.is_next_here(conn):
            keep = super().handle(conn)
        return keep

    def is_next_here(self, conn: Any) -> bool:
        """Whether the next request of ``conn`` has begun to arrive, or does within the time."""
        if conn.parser.unreader.buf.getvalue():
            return True
        if not self.alive or not self.places.acquire(blocking=False):
            return False
        try:
            waiting = select.poll()
            waiting.register(conn.sock, select.POLLIN)
            return bool(waiting.poll(LINGER_MILLISECONDS))
        except (OSError, ValueError):  # closed meanwhile: gthread finds that out, too
            return False
        finally:
            self.places.release()
