"""Open connections for reads of SQLite, handed from one read to the next.

Taking a connection out of SQLAlchemy's pool and putting it back costs more than reading a row. A
file needs nothing of what happens there: no sign of life, nothing to undo.
"""

from __future__ import annotations

from types import TracebackType

from sqlalchemy import Connection, Engine, event

MOST_IDLE = 4


class Readers:
    """Connections of the reading ``engine``; the one used last, whose cache is warm, goes first."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._idle: list[Connection] = []
        event.listen(engine, "engine_disposed", lambda disposed: self.close())

    def borrow(self) -> Borrowed:
        """``with readers.borrow() as connection:`` a connection without a transaction."""
        return Borrowed(self)

    def take(self) -> Connection:
        """A connection that nobody else has."""
        try:
            return self._idle.pop()
        except IndexError:
            return self._engine.connect()

    def give_back(self, connection: Connection) -> None:
        """Keep ``connection`` for the next read, unless enough are idle or it is broken."""
        if connection.in_transaction():
            connection.rollback()
        if len(self._idle) < MOST_IDLE and not connection.closed and not connection.invalidated:
            self._idle.append(connection)
        else:
            connection.close()

    def close(self) -> None:
        """Close what is idle."""
        while self._idle:
            self._idle.pop().close()


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
