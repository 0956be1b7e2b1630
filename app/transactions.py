"""The running transaction of a request, a job or a command (docs/adr/0111).

It begins with its first statement and is one connection of the writing engine. There is no unit of
work around it, because nothing here is written by one (docs/adr/0003).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flask import g
from sqlalchemy import Connection, CursorResult, Engine, Executable, NestedTransaction
from sqlalchemy.engine import RootTransaction

from app.engines.parking import ParkingPool
from app.shared_commit import forget_share

_NAME = "running_transaction"


class Transaction:
    """Statements that are committed or undone together; afterwards the next ones begin anew.

    Functions in ``before_commit``, ``after_commit`` and ``after_rollback`` are called then, the
    first of them inside the transaction; they stay for the ones that follow.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._connection: Connection | None = None
        self._root: RootTransaction | None = None
        self._pool: ParkingPool | None = None  # where the connection came from
        self.info: dict[str, Any] = {}
        self.notes: dict[str, Any] = {}  # of this transaction alone
        self.before_commit: list[Callable[[], None]] = []
        self.after_commit: list[Callable[[], None]] = []
        self.after_rollback: list[Callable[[], None]] = []

    def connection(self) -> Connection:
        """The connection of the transaction, which begins now if it has not yet."""
        found = self._connection
        if found is None:
            pool = self._engine.pool  # the engine has another one after it was disposed of
            self._pool = pool if isinstance(pool, ParkingPool) else None
            found = self._pool.take_parked() if self._pool is not None else None
            if found is None:
                found = self._engine.connect()
            try:
                self._root = found.begin()
            except BaseException:
                found.close()
                raise
            self._connection = found
        return found

    def execute(self, statement: Executable, parameters: Any = None) -> CursorResult[Any]:
        """The result of a statement."""
        return self.connection().execute(statement, parameters)

    def in_transaction(self) -> bool:
        """Whether a statement has run since the last end."""
        return self._connection is not None

    def begin_nested(self) -> NestedTransaction:
        """A part that can be undone by itself."""
        return self.connection().begin_nested()

    def commit(self) -> None:
        """Make what was done last; undo it when that fails.

        Raises: sqlalchemy.exc.DBAPIError, the database refuses it.
        """
        if self._root is None:
            return
        if self.after_commit:
            forget_share()  # what is told afterwards must be true then
        try:
            for tell in self.before_commit:
                tell()
            self._root.commit()
        except BaseException:
            self.rollback()
            raise
        self._close()
        for tell in self.after_commit:
            tell()

    def rollback(self) -> None:
        """Undo what was done since the last end."""
        if self._root is None:
            return
        try:
            if self._root.is_valid:
                self._root.rollback()
        finally:
            self._close()
        for tell in self.after_rollback:
            tell()

    def _close(self) -> None:
        self.notes.clear()
        connection, self._connection, self._root = self._connection, None, None
        if connection is None:
            return
        if self._pool is not None and not (
            connection.in_transaction() or connection.invalidated or connection.closed
        ):
            self._pool.park(connection)
        else:
            connection.close()


class Transactions:
    """The transaction of each application context: ``db.session``.

    What is called here is done to the one of the running context.
    """

    def __init__(self, engine: Callable[[], Engine]) -> None:
        self._engine = engine

    def __call__(self) -> Transaction:
        found: Transaction | None = g.get(_NAME)
        if found is None:
            found = Transaction(self._engine())
            setattr(g, _NAME, found)
        return found

    def is_used(self) -> bool:
        """Whether the context has asked for its transaction, begun or not."""
        return _NAME in g

    def remove(self) -> None:
        """Undo what was not committed, and forget the transaction."""
        if (found := g.pop(_NAME, None)) is not None:
            found.rollback()

    @property
    def info(self) -> dict[str, Any]:
        """What the parts of a service note about the transaction."""
        return self().info

    def connection(self) -> Connection:
        """As ``Transaction.connection``."""
        return self().connection()

    def execute(self, statement: Executable, parameters: Any = None) -> CursorResult[Any]:
        """As ``Transaction.execute``."""
        return self().execute(statement, parameters)

    def begin_nested(self) -> NestedTransaction:
        """As ``Transaction.begin_nested``."""
        return self().begin_nested()

    def commit(self) -> None:
        """As ``Transaction.commit``."""
        self().commit()

    def rollback(self) -> None:
        """As ``Transaction.rollback``."""
        self().rollback()
