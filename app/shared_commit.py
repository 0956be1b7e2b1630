"""Whether a request's transaction may be committed together with those of others (docs/adr/0110).

A small write says so before it begins. Where the database commits one after another and each
commit costs more than the write, as SQLite's do, the next write then goes on in the same
transaction, and the answers of all wait for the one commit.
"""

from __future__ import annotations

import threading
import time
from contextvars import ContextVar

from sqlalchemy.exc import OperationalError

MOST_MEMBERS = 16
LONGEST_SECONDS = 0.02
# Longer than any member may take: who waits for more has met a mistake of ours.
PATIENCE_SECONDS = 60


class Batch:
    """Transactions that have ended and are committed at once."""

    def __init__(self) -> None:
        self.size = 0
        self._full_at = time.monotonic() + LONGEST_SECONDS
        self._has_ended = False
        self._end = threading.Lock()  # free once it has ended; an event takes three times as long
        self._end.acquire()
        self._error: BaseException | None = None

    def has_room(self) -> bool:
        """Whether another may join: those that have ended are not to wait for long."""
        return self.size < MOST_MEMBERS and time.monotonic() < self._full_at

    def end(self, error: BaseException | None = None) -> None:
        """Tell all members that the commit is done, or why it failed."""
        self._error = error
        self._has_ended = True
        self._end.release()

    def wait(self) -> None:
        """Wait for the commit.

        Raises: OperationalError, it failed: nothing of any member stands.
        """
        if not self._has_ended:
            if not self._end.acquire(timeout=PATIENCE_SECONDS):
                raise OperationalError("COMMIT", None, TimeoutError("busy: a shared commit hangs"))
            self._end.release()  # for the next one who waits
        if self._error is not None:
            raise OperationalError("COMMIT", None, self._error)


class Share:
    """The part of one request in a batch; None until its transaction has ended."""

    __slots__ = ("batch",)

    def __init__(self) -> None:
        self.batch: Batch | None = None


_share: ContextVar[Share | None] = ContextVar("share", default=None)


def share_commit() -> None:
    """Let this request's transaction be committed together with others; before it begins."""
    _share.set(Share())


def current_share() -> Share | None:
    """What the running request said, or None."""
    return _share.get()


def forget_share() -> None:
    """The request has ended."""
    if _share.get() is not None:
        _share.set(None)


def await_commit() -> None:
    """After the session's commit: wait until it is durable.

    Raises: OperationalError, the commit failed.
    """
    share = _share.get()
    if share is not None:
        _share.set(None)
        if share.batch is not None:
            share.batch.wait()
