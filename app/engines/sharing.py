"""SQLite's writing connection, whose commits several requests may share (docs/adr/0110).

Who shares leaves its transaction open when it ends. The next one that shares goes on in it behind
a savepoint of its own; when nobody does, the pool commits for all (``TurnsPool``).
"""

from __future__ import annotations

import sqlite3
from contextlib import suppress

from app.shared_commit import Batch, current_share

_LOST = "busy: the transaction that several requests shared was undone"


class SharedConnection(sqlite3.Connection):
    """A connection with an open ``batch`` while transactions have ended without a commit."""

    batch: Batch | None = None
    _has_savepoint = False

    def begin(self) -> None:
        """Begin a transaction with the write lock, or a part of the one that is open.

        Raises: sqlite3.OperationalError, another process keeps the lock.
        """
        self._has_savepoint = False
        if self.batch is not None and not self.in_transaction:
            self._lose()
        if self.batch is None:
            self.execute("BEGIN IMMEDIATE")
        else:
            self.execute("SAVEPOINT member")
            self._has_savepoint = True

    def commit(self) -> None:
        """Commit; or leave that to ``settle``, where the request shares."""
        share = current_share()
        if share is not None and share.batch is None and self.in_transaction:
            if self._has_savepoint:
                self.execute("RELEASE member")
                self._has_savepoint = False
            if self.batch is None:
                self.batch = Batch()
            self.batch.size += 1
            share.batch = self.batch
            return
        if self.batch is None:
            super().commit()
        elif (error := self.settle()) is not None:
            raise error

    def rollback(self) -> None:
        """Undo what was done since ``begin``, and nothing of those who have ended before."""
        if self.batch is None:
            super().rollback()
        elif not self.in_transaction:
            self._lose()
        elif self._has_savepoint:
            self.execute("ROLLBACK TO member")
            self.execute("RELEASE member")
        self._has_savepoint = False

    def settle(self) -> sqlite3.Error | None:
        """Commit for all who have ended, and tell them; returns the error if there was one."""
        batch, self.batch = self.batch, None
        if batch is None:
            return None
        error: BaseException | None = sqlite3.OperationalError(_LOST)
        try:
            if self.in_transaction:
                super().commit()
                error = None
        except sqlite3.Error as refused:
            error = refused
            with suppress(sqlite3.Error):
                super().rollback()
        finally:
            batch.end(error)
        return error if isinstance(error, sqlite3.Error) else None

    def close(self) -> None:
        """Close; what is not committed is lost."""
        self._lose()
        super().close()

    def _lose(self) -> None:
        """SQLite has undone everything by itself, as it does when the disk is full."""
        batch, self.batch = self.batch, None
        if batch is not None:
            batch.end(sqlite3.OperationalError(_LOST))
