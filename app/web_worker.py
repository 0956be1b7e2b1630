"""The gunicorn worker: threads, each staying with its connection for a moment (docs/adr/0007).

How it parts from connections, one by one and when it ends, is docs/adr/0130; whom it lets in, and
when a thread gets to see a request, docs/adr/0143.
"""

from __future__ import annotations

import errno
import mmap
import select
import struct
import time
from concurrent.futures import Future
from functools import partial
from selectors import EVENT_READ
from typing import Any

from gunicorn import util  # type: ignore[import-untyped]
from gunicorn.workers.gthread import TConn, ThreadWorker  # type: ignore[import-untyped]

from app.web_arrival import needed_bytes, wake_at
from app.web_refusal import is_of_client, message_of, new_request_id, refusal_of
from app.web_request import PlainParser
from app.web_room import SHORTAGE_SECONDS, SHORTAGES, connections_for, longest_silent

# Long enough for the next request of a busy connection, too short to keep anyone waiting.
LINGER_MILLISECONDS = 10
# How long a client has, after the last answer, to take it and close its side; while it still sends
# what nobody wants, again and again, so that it gets to read the answer.
PARTING_SECONDS = 2.0
LONGEST_PARTING_SECONDS = 10.0
READ_BYTES = 65_536
# How long a worker goes on when its successors do not get ready; hosts kill after thirty seconds.
SUCCESSION_SECONDS = 20.0


class Succession:
    """Which generation of workers is the present one, and how many of it are ready.

    It is a piece of memory that gunicorn's master and the workers have in common: made before the
    first of them is forked, begun anew by the master, counted up by the workers.
    """

    _GENERATION = struct.Struct("i")
    _WORKERS = 256

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, self._GENERATION.size + self._WORKERS)

    @property
    def generation(self) -> int:
        """The generation whose workers are being started, or serve."""
        return int(self._GENERATION.unpack_from(self._memory)[0])

    @property
    def ready(self) -> int:
        """How many workers of that generation serve."""
        return self._WORKERS - self._memory[self._GENERATION.size :].count(0)

    def begin(self) -> None:
        """In the master, before it starts the workers of a reload."""
        self._memory[self._GENERATION.size :] = bytes(self._WORKERS)
        self._GENERATION.pack_into(self._memory, 0, self.generation + 1)

    def note_ready(self, worker: LingeringWorker) -> None:
        """In a worker that has loaded the application: a byte of its own says so."""
        if worker.generation == self.generation:
            self._memory[self._GENERATION.size + worker.age % self._WORKERS] = 1


succession = Succession()


class LingeringWorker(ThreadWorker):  # type: ignore[misc]  # the library has no types
    """gunicorn's ``gthread``, in which a thread that has answered looks for the next request.

    ``gthread`` hands a connection back to its main thread after each answer, which costs as much
    as a small request: two changes of thread, four of the poller. Here the thread waits for the
    connection's next request itself; at most half of the threads do, so that others are there
    for whoever comes new.

    A worker that ends answers whoever has already been let in, and no connection that has a
    request waiting is closed. Parting from a client never holds up the others.

    A thread gets a request when it has arrived; whoever sends slowly waits in the poller. With more
    connections than there may be, those that have been silent for longest make room.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        # One for each thread that may wait so; a semaphore takes fifty steps where this takes two.
        self.places = [None] * max(self.cfg.threads // 2, 1)
        # Connections that were answered for the last time: when they are closed, and when at last.
        self.parting: dict[Any, tuple[float, float]] = {}
        self.alive: bool = self.alive
        self.generation = succession.generation
        self.leaves_by: float | None = None
        self.worker_connections = connections_for(self.cfg.worker_connections, self.cfg.threads)
        self.short_until = 0.0

    def init_process(self) -> None:
        """Make every setting a plain attribute: each request reads a dozen of them."""
        self.cfg.__dict__.update({name: item.get() for name, item in self.cfg.settings.items()})
        super().init_process()

    def handle_exit(self, sig: int, frame: Any) -> None:
        """End; in a reload when the successors are ready, which takes them some seconds.

        gunicorn tells the old workers to end when it has only just begun to start the new ones,
        and tells them again and again.
        """
        if self.leaves_by is None:
            self.leaves_by = time.monotonic() + SUCCESSION_SECONDS
        if not self.has_work_until_succeeded():
            super().handle_exit(sig, frame)

    def has_work_until_succeeded(self) -> bool:
        """Whether a reload is under way whose new workers cannot serve yet."""
        return (
            succession.generation > self.generation
            and succession.ready < self.cfg.workers
            and time.monotonic() < (self.leaves_by or 0)
        )

    def notify(self) -> None:
        """Every second, in the main thread: gunicorn wants to hear of a worker that lives."""
        super().notify()
        if self.alive and self.leaves_by is not None and not self.has_work_until_succeeded():
            self.alive = False

    def accept(self, listener: Any) -> None:
        """Let one in. What the system cannot open now is no end: it can a little later."""
        try:
            client, address = listener.accept()
        except OSError as error:
            if error.errno in SHORTAGES:
                self.pause_letting_in(error)
            elif error.errno not in (errno.EAGAIN, errno.ECONNABORTED):
                raise
            return
        self.nr_conns += 1
        conn = TConn(self.cfg, client, address, listener.getsockname())
        if not self.cfg.is_ssl:
            conn.parser = PlainParser(self.cfg, client, address)
        self.take_or_wait(conn)

    def handle_error(self, req: Any, client: Any, addr: Any, exc: BaseException) -> None:
        """Answer what the application never sees, a request that is no HTTP, as it would."""
        request_id = new_request_id()
        if is_of_client(exc):
            self.log.warning("Invalid request from ip=%s: %s", (addr or ("",))[0], exc)
        else:
            self.log.exception("Error handling request %s", request_id)
        try:
            util.write_nonblock(client, message_of(refusal_of(exc, request_id), request_id))
        except OSError:
            self.log.debug("Failed to send error message.")

    def pause_letting_in(self, error: OSError) -> None:
        """Let nobody in for a second; who comes meanwhile waits in the queue of the socket."""
        self.log.warning("No more connections for a moment: %s", error)
        self.short_until = time.monotonic() + SHORTAGE_SECONDS
        self.set_accept_enabled(False)

    def take_or_wait(self, conn: Any, awaited: int = 0) -> None:
        """Give a connection to a thread if its request is there, else to the poller.

        Args:
            awaited: with how many bytes it was to be looked at again.
        """
        needed = 0 if self.cfg.is_ssl else needed_bytes(conn.sock, awaited)
        if max(needed, 1) != max(awaited, 1):
            wake_at(conn.sock, max(needed, 1))
        if not needed:
            # Else a thread waits for the first byte itself, and where that is encrypted it must.
            conn.data_ready = not self.cfg.is_ssl
            self.enqueue_req(conn)
            return
        if conn.timeout is None:  # what comes slowly gets no more time by coming
            conn.set_timeout()
        self.pending_conns.append(conn)
        look_again = partial(self.look_again, conn, needed)
        self.poller.register(conn.sock, EVENT_READ, look_again)

    def look_again(self, conn: Any, awaited: int, client: Any) -> None:
        """In the main thread, when more of a request has arrived."""
        self.poller.unregister(client)
        self.pending_conns.remove(conn)
        self.take_or_wait(conn, awaited)

    def on_client_socket_readable(self, conn: Any, client: Any) -> None:
        """In the main thread: a new request begins on a connection that was idle."""
        self.poller.unregister(client)
        self.keepalived_conns.remove(conn)
        conn.timeout = None
        self.take_or_wait(conn)

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
        if not self.alive:
            return False
        try:
            place = self.places.pop()
        except IndexError:
            return False
        try:
            return has_arrived(conn.sock, LINGER_MILLISECONDS)
        finally:
            self.places.append(place)

    def finish_request(self, conn: Any, fs: Future[Any]) -> None:
        """In the main thread, after ``handle``: part from ``conn``, or let gthread keep it."""
        if fs.cancelled() or fs.exception() is not None or fs.result():
            super().finish_request(conn, fs)
        else:
            self.part_from(conn)

    def part_from(self, conn: Any) -> None:
        """Say that nothing more comes, and close when the client has closed, or after a while.

        gthread waits for the client in its main thread, where one that keeps its side open keeps
        everybody waiting for two seconds.
        """
        try:
            conn.sock.shutdown(1)  # of writing: what is still being read is not cut off (RST)
            conn.sock.setblocking(False)
            self.poller.register(conn.sock, EVENT_READ, partial(self.read_to_end, conn))
        except (OSError, ValueError, KeyError):  # the client has closed, or an error has
            self.nr_conns -= 1
            conn.close()
            return
        now = time.monotonic()
        self.parting[conn] = (now + PARTING_SECONDS, now + LONGEST_PARTING_SECONDS)

    def read_to_end(self, conn: Any, client: Any) -> None:
        """Throw away what a client still sends; close when it has closed."""
        try:
            if client.recv(READ_BYTES):
                latest = self.parting[conn][1]
                if self.alive:
                    until = min(time.monotonic() + PARTING_SECONDS, latest)
                    self.parting[conn] = (until, latest)
                return
        except BlockingIOError:
            return
        except OSError:
            pass
        self.forget(conn)

    def forget(self, conn: Any) -> None:
        """Close a connection that was parted from."""
        del self.parting[conn]
        self.poller.unregister(conn.sock)
        self.nr_conns -= 1
        conn.close()

    def murder_keepalived(self, force: bool = False) -> None:
        """Close what has been idle for too long; never with a request waiting in it."""
        now = time.monotonic()
        for conn in [one for one in self.keepalived_conns if force or one.timeout <= now]:
            if not force and has_arrived(conn.sock):
                self.on_client_socket_readable(conn, conn.sock)
        super().murder_keepalived(force)
        for conn in [one for one, (until, _) in self.parting.items() if force or until <= now]:
            self.forget(conn)

    def murder_pending(self) -> None:
        """Close what never became a request; and, where there is no room, whoever is silent."""
        super().murder_pending()
        is_full = self.nr_conns >= self.worker_connections
        if is_full or time.monotonic() < self.short_until:
            self.make_room()

    def make_room(self) -> None:
        """Close the longest silent, up to half of all; first those that never sent a request."""
        left = self.worker_connections // 2
        for silent in (self.pending_conns, self.keepalived_conns):
            for conn in longest_silent(silent, self.cfg.keepalive, left):
                if silent is self.keepalived_conns and has_arrived(conn.sock):
                    continue
                silent.remove(conn)
                self.poller.unregister(conn.sock)
                self.nr_conns -= 1
                conn.close()
                left -= 1

    def set_accept_enabled(self, enabled: bool) -> None:
        """Accept or not; when the worker ends, let in who stands at the door, and close it.

        What waits in the queue of a listening socket is reset when its last owner closes it.
        Until then the kernel takes connections that nobody would ever answer.
        """
        if enabled and time.monotonic() < self.short_until:
            return
        super().set_accept_enabled(enabled)
        if enabled or self.alive:
            return
        for listener in self.sockets:
            listener.setblocking(False)
            before = -1
            while self.nr_conns != before:
                before = self.nr_conns
                self.accept(listener)
            listener.close()

    def _cap_keepalive(self, deadline: float) -> None:
        """Connections without a request end by ``deadline``: those that never sent one, too."""
        super()._cap_keepalive(deadline)
        for conn in self.pending_conns:
            conn.timeout = min(conn.timeout, deadline)


def has_arrived(connection: Any, milliseconds: int = 0) -> bool:
    """Whether there is something to read, or an end, within the time."""
    waiting = select.poll()
    try:
        waiting.register(connection, select.POLLIN)
        return bool(waiting.poll(milliseconds))
    except (OSError, ValueError):  # closed meanwhile: gthread finds that out, too
        return False
