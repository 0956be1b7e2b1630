"""A pool of one connection whose waiters take turns.

The pool's own queue wakes a waiter and lets whoever comes first have the connection: a thread that
has just given it back takes it again before the other has woken. Under load some waited for
seconds while others never did. Here whoever ends hands the turn to the one who waits longest.

A transaction that shares its commit (docs/adr/0110) is handed on open, if the next one shares, too.

Between transactions the connection stays as SQLAlchemy's pool gave it out: to put it back and take
it out again costs as much as a small write.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.pool import ConnectionPoolEntry

from app.engines.parking import ParkingPool
from app.engines.sharing import SharedConnection
from app.shared_commit import current_share

# How long an open transaction waits for the next one, where writers have come in company: they
# were all answered at once by the last commit, and come back at nearly the same time. When as many
# have come as then, nobody else is awaited.
PATIENCE_SECONDS = 0.0005


class Turns:
    """A lock that is handed on in the order in which it was asked for."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._waiting: deque[_Waiter] = deque()
        self._is_taken = False
        self._bell: threading.Lock | None = None  # rung by the next one who joins

    def take(self, seconds: float, *, joins: bool = False) -> bool:
        """Wait for a turn, ``seconds`` at most; whether it came.

        Args:
            joins: ``pass_to_joiner`` may give it.
        """
        with self._guard:
            if not self._is_taken:
                self._is_taken = True
                return True
            mine = _Waiter(joins)
            self._waiting.append(mine)
            if joins and self._bell is not None:
                self._bell.release()
                self._bell = None
        if mine.turn.acquire(timeout=seconds):
            return True
        with self._guard:
            if mine in self._waiting:
                self._waiting.remove(mine)
                return False
        return True  # it was handed on in the last moment

    def pass_on(self) -> None:
        """End the turn."""
        with self._guard:
            if self._waiting:
                self._waiting.popleft().turn.release()
            else:
                self._is_taken = False

    def pass_to_joiner(self, patience: float = 0.0) -> bool:
        """End the turn if the one who waits longest joins; whether it did.

        Args:
            patience: seconds to wait for somebody to come, where nobody waits.
        """
        if patience:
            self._await_joiner(patience)
        with self._guard:
            if not self._waiting or not self._waiting[0].joins:
                return False
            self._waiting.popleft().turn.release()
            return True

    def _await_joiner(self, seconds: float) -> None:
        with self._guard:
            if self._waiting:
                return
            bell = self._bell = threading.Lock()
            bell.acquire()
        if not bell.acquire(timeout=seconds):
            with self._guard:
                self._bell = None


class _Waiter:
    """One who waits: ``turn`` is released when it comes."""

    def __init__(self, joins: bool) -> None:
        self.joins = joins
        self.turn = threading.Lock()
        self.turn.acquire()


class TurnsPool(ParkingPool):
    """One connection, in turns."""

    has_others = False

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._turns = Turns()
        self._handed_on: SharedConnection | None = None  # while its transaction is open
        self._company = 1  # how many the last commit was for
        self._is_unparking = False

    def take_parked(self) -> Connection | None:
        """The connection of the transaction before, in a turn of the caller's.

        Returns: None, and no turn, where there is none: take it out of the engine then.
        Raises: sqlalchemy.exc.TimeoutError, the turn did not come.
        """
        self._take_turn()  # first: whoever has the connection now parks it as the turn ends
        connection = self._pick()
        if connection is None:
            self._end_turn(self._handed_on)
        return connection

    def park(self, connection: Connection) -> None:
        """End the turn of a connection whose transaction has ended, and keep it for the next."""
        driver = connection.connection.dbapi_connection
        self._parked.append(connection)
        self._end_turn(driver)

    def dispose(self) -> None:
        """Close what nobody uses."""
        if self._turns.take(0):
            self._unpark()
            self._turns.pass_on()
        super().dispose()

    def _take_turn(self) -> None:
        if not self._turns.take(self._timeout, joins=current_share() is not None):
            raise PoolTimeoutError(f"no turn to write in {self._timeout} seconds")

    def _do_get(self) -> ConnectionPoolEntry:
        self._take_turn()
        try:
            return super()._do_get()
        except BaseException:
            self._end_turn(self._handed_on)
            raise

    def _unpark(self) -> None:
        """Put the connection that is kept back into the queue; the turn goes on."""
        if (parked := self._pick()) is not None:
            self._is_unparking = True
            parked.close()

    def _do_return_conn(self, record: ConnectionPoolEntry) -> None:
        connection = record.dbapi_connection
        goes_on, self._is_unparking = self._is_unparking, False
        try:
            super()._do_return_conn(record)
        finally:
            if not goes_on:
                self._end_turn(connection)

    def _end_turn(self, connection: Any) -> None:
        """Hand the turn on; an open transaction only to one who goes on in it."""
        self._handed_on = None
        try:
            if isinstance(connection, SharedConnection) and (batch := connection.batch) is not None:
                if batch.has_room():
                    self._handed_on = connection
                    is_complete = batch.size >= self._company
                    if self._turns.pass_to_joiner(0 if is_complete else PATIENCE_SECONDS):
                        return
                    self._handed_on = None
                self._company = batch.size
                connection.settle()
        except BaseException:
            self._turns.pass_on()
            raise
        self._turns.pass_on()
