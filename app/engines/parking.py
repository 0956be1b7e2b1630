"""A pool that keeps connections as it gave them out, for whoever comes next.

To put a connection back into SQLAlchemy's pool and to take it out again is more work for the
interpreter than a small statement is: it is wrapped anew and handed from one object to the next
(docs/adr/0140).
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection
from sqlalchemy.exc import DisconnectionError
from sqlalchemy.pool import ConnectionPoolEntry, QueuePool

MOST_PARKED = 4


class ParkingPool(QueuePool):
    """Connections without a transaction are parked; the one used last goes first.

    Whoever asks the engine gets one of them, too, so that none is idle while somebody waits.
    Listeners of checkouts and checkins are told as the pool itself would tell them.
    """

    # Whether another connection takes the place of one that is taken out of it.
    has_others = True

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._parked: list[Connection] = []

    def take_parked(self) -> Connection | None:
        """A connection that nobody else has, or None: take one out of the engine then."""
        while (connection := self._pick()) is not None:
            if self._is_fit(connection):
                return connection
            connection.invalidate()
            connection.close()
        return None

    def park(self, connection: Connection) -> None:
        """Keep ``connection`` for the next one, or put it back; it has no transaction."""
        fairy: Any = connection.connection
        # The engine may have been disposed of meanwhile: then another pool gave it out. Or somebody
        # has taken it out of the pool, so that it ends.
        is_foreign = fairy._pool is not self or fairy.is_detached
        if is_foreign or len(self._parked) >= MOST_PARKED or self._is_used_up():
            connection.close()  # whoever waits for one is woken by that alone
            return
        if self.dispatch.checkin:
            self.dispatch.checkin(fairy.dbapi_connection, fairy._connection_record)
        self._parked.append(connection)

    def dispose(self) -> None:
        """Close what nobody uses."""
        while self._parked:
            self._unpark()
        super().dispose()

    def _do_get(self) -> ConnectionPoolEntry:
        self._unpark()
        return super()._do_get()

    def _is_used_up(self) -> bool:
        return self.overflow() >= self._max_overflow > 0

    def _is_fit(self, connection: Connection) -> bool:
        if self.dispatch.checkout:
            fairy: Any = connection.connection
            try:
                self.dispatch.checkout(fairy.dbapi_connection, fairy._connection_record, fairy)
            except DisconnectionError:
                return False
        return True

    def _pick(self) -> Connection | None:
        try:
            return self._parked.pop()
        except IndexError:
            return None

    def _unpark(self) -> None:
        """Put a connection that is kept back into the queue."""
        if (connection := self._pick()) is not None:
            connection.close()
