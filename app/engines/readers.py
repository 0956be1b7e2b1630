"""Open connections for reads, handed from one read to the next (app/engines/parking.py)."""

from __future__ import annotations

from types import TracebackType

from sqlalchemy import Connection, Engine
from sqlalchemy.engine.base import OptionEngine

from app.engines.parking import ParkingPool


class Readers:
    """Connections of the reading ``engine``; the one used last, whose cache is warm, goes first."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        # An engine with options of its own shares its pool with one whose connections lack them.
        self._parks = not isinstance(engine, OptionEngine)

    def borrow(self) -> Borrowed:
        """``with readers.borrow() as connection:`` a connection without a transaction."""
        return Borrowed(self)

    def take(self) -> Connection:
        """A connection that nobody else has."""
        pool = self._engine.pool
        if self._parks and isinstance(pool, ParkingPool):
            found = pool.take_parked()
            if found is not None:
                return found
        return self._engine.connect()

    def give_back(self, connection: Connection) -> None:
        """Keep ``connection`` for the next read, unless enough are idle or it is broken."""
        if connection.in_transaction():
            connection.rollback()
        pool = self._engine.pool
        is_whole = not (connection.closed or connection.invalidated)
        if self._parks and is_whole and isinstance(pool, ParkingPool):
            pool.park(connection)
        else:
            connection.close()


class Borrowed:
    """A connection for the length of a block; after an error it is not used again."""

    __slots__ = ("_connection", "_readers")

    def __init__(self, readers: Readers) -> None:
        self._readers = readers

    def __enter__(self) -> Connection:
        self._connection = self._readers.take()
        return self._connection

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is None:
            self._readers.give_back(self._connection)
        else:
            self._connection.close()
