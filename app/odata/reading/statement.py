"""A compiled statement and where its parameters come from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from time import monotonic
from typing import Any

from sqlalchemy import Connection, Dialect, Select

from app.clock import utc_now
from app.db.late_values import DYNAMIC_TYPES
from app.http.page_sizes import EXPANDED
from app.odata.binding.context import Source
from app.odata.model import edm
from app.odata.reading.query import PageStart

RUN = "run_"
LONGEST_SECONDS = 30
# Of rows that are multiplied with each other: no index helps where no filter ties them.
LONGEST_MULTIPLIED_SECONDS = 5
# What a parameter keeps besides its name: how its value is found and made, measured.
_PARAMETER_BYTES = 1000
# Steps of SQLite's virtual machine between two looks at the clock: some hundredths of a second.
OPCODES = 1_000_000
_DYNAMIC = {f"dyn_{name}": name for name in DYNAMIC_TYPES}


@dataclass
class Run:
    """The values of one execution.

    ``literals`` are those of the query by slot. A page has ``page`` rows at most and begins at
    ``start``, if anywhere: ``limit`` is the number of rows to fetch and ``after`` the sort keys of
    the row that it begins after. ``expanded`` is the number of related entities that a row shows
    at most.
    """

    literals: Sequence[Any]
    caller_id: int
    page: int = 0
    start: PageStart | None = None
    limit: int = 0
    expanded: int = EXPANDED
    after: Sequence[Any] = ()
    # Finds the keys of singletons, and the day of ``now``.
    container: edm.EntityContainer | None = None
    today: date | None = None  # the day of ``now``, once a statement has asked for it

    @cached_property
    def now(self) -> datetime:
        """The instant of the execution: one for all its statements."""
        return utc_now()

    def ask_day(self, connection: Connection) -> None:
        """Learn the day of ``now`` for those whom the service serves: one for all statements."""
        if self.today is None:
            assert self.container is not None
            self.today = self.container.day_of(connection, self.now)


@dataclass(frozen=True, slots=True)
class Top:
    """The number of rows that ``$top`` allows: from its slot, or always the same."""

    slot: int | None
    value: int

    def of(self, literals: Sequence[Any]) -> int:
        value = self.value if self.slot is None else literals[self.slot]
        assert isinstance(value, int)
        return value


Read = Callable[[Run], Any]


class Statement:
    """SQL of one dialect; ``slots`` are the literals that it is filled with when it runs."""

    def __init__(
        self, select: Select[Any], dialect: Dialect, sources: Mapping[str, Source], *,
        prepared: bool = True, bounded: bool = True, multiplied: bool = False,
    ) -> None:  # fmt: skip
        """Compile ``select``.

        Args:
            bounded: whether it may take long, and is ended by SQLite then.
            prepared: whether PostgreSQL may plan it once for all values. It may not where the
                values decide the way, such as which of two indexes finds the fewest rows.
            multiplied: whether it gets the shorter time, on both databases.
        """
        compiled = select.compile(dialect=dialect)
        unknown = {name: None for name, bind in compiled.binds.items() if bind.required}
        # Lists of values that a condition brings with it are written out here.
        state = compiled.construct_expanded_state(unknown, escape_names=False)
        self.sql = state.statement
        processors: dict[str, Any] = {
            name: bind.type.dialect_impl(dialect).bind_processor(dialect)
            for name, bind in compiled.binds.items()
        }
        processors.update(state.processors)

        def reader(name: str) -> Read:
            process: Callable[[Any], Any] = processors.get(name) or (lambda value: value)
            if name in sources:
                return _of_slot(sources[name], process)
            if name in _DYNAMIC:
                attribute = _DYNAMIC[name]
                return lambda run: process(getattr(run, attribute))
            if name.startswith(RUN):
                return _of_run(name.removeprefix(RUN), process)
            fixed = process(state.parameters[name])
            return lambda run: fixed

        self._options: dict[str, Any] = {} if prepared else {"prepare": False}
        names = state.positiontup
        self._positional = names is not None
        self._bounded = bounded
        self._multiplied = multiplied
        used = names if names is not None else _named(self.sql, state.parameters)
        self._asks_day = "dyn_today" in used
        self._readers = [(name, reader(name)) for name in used]
        self.slots = frozenset(sources[name].slot for name in used if name in sources)
        # Roughly the bytes that it keeps.
        self.estimated_bytes = len(self.sql) + _PARAMETER_BYTES * len(self._readers)

    def rows(self, connection: Connection, run: Run) -> list[Any]:
        """Run the statement.

        Raises: QueryError, a literal does not fit; sqlalchemy.exc.DBAPIError.
        """
        if self._asks_day:
            run.ask_day(connection)
        if not self._positional:
            named = {name: read(run) for name, read in self._readers}
            if not self._multiplied:
                return fetch_all(connection, self.sql, named, **self._options)
            with hurried(connection, LONGEST_MULTIPLIED_SECONDS):
                return fetch_all(connection, self.sql, named, **self._options)
        values = tuple(read(run) for _, read in self._readers)
        if not self._bounded:
            return fetch_all(connection, self.sql, values, **self._options)
        _stop_late(connection, LONGEST_MULTIPLIED_SECONDS if self._multiplied else LONGEST_SECONDS)
        try:
            return fetch_all(connection, self.sql, values, **self._options)
        finally:
            # What the connection does next, a change among it, has a time of its own.
            if not connection.invalidated:
                _driver(connection).set_progress_handler(None, 0)


def fetch_all(
    connection: Connection, sql: str, parameters: Any = None, **options: Any
) -> list[Any]:
    """The rows of SQL in the driver's own style.

    Args:
        options: of the execution, such as ``prepare`` (app/db/postgresql.py).
    """
    return list(connection.exec_driver_sql(sql, parameters, execution_options=options))


def _stop_late(connection: Connection, seconds: float) -> None:
    """Give SQLite the limit of time that PostgreSQL has as ``statement_timeout``."""
    deadline = monotonic() + seconds
    _driver(connection).set_progress_handler(lambda: monotonic() > deadline, OPCODES)


def _driver(connection: Connection) -> Any:
    return connection.connection.driver_connection


def _named(sql: str, parameters: Mapping[str, Any]) -> list[str]:
    return [name for name in parameters if f"%({name})s" in sql]


def _of_slot(source: Source, process: Callable[[Any], Any]) -> Read:
    slot, convert = source.slot, source.convert
    if convert is None:
        return lambda run: process(run.literals[slot])
    return lambda run: process(convert(run.literals[slot]))


def _of_run(name: str, process: Callable[[Any], Any]) -> Read:
    if name == "limit":
        return lambda run: run.limit
    if name == "expanded":
        return lambda run: run.expanded
    if name.startswith("singleton_"):
        singleton = name.removeprefix("singleton_")

        def key(run: Run) -> Any:
            assert run.container is not None
            return process(run.container.singletons[singleton].key())

        return key
    index = int(name.removeprefix("after_"))
    return lambda run: process(run.after[index])


@contextmanager
def hurried(connection: Connection, seconds: float) -> Iterator[None]:
    """Statements inside get ``seconds`` each, not what the session gives them.

    The limit lasts no longer than a transaction, so that a pooler may part the two again: one is
    begun where none is open.
    """
    from psycopg import pq  # a process on SQLite never needs them

    from app.db import postgresql

    driver: Any = connection.connection.driver_connection
    alone = driver.pgconn.transaction_status == pq.TransactionStatus.IDLE and driver.autocommit
    if alone:
        connection.exec_driver_sql("BEGIN READ ONLY")
    try:
        # None at all would be no limit to the server.
        milliseconds = max(1, int(seconds * 1000))
        connection.exec_driver_sql(f"SET LOCAL statement_timeout = '{milliseconds}ms'")
        yield
        if not alone:
            usual = postgresql.SESSION_SETTINGS["statement_timeout"]
            connection.exec_driver_sql(f"SET LOCAL statement_timeout = '{usual}'")
    finally:
        if alone:
            connection.exec_driver_sql("ROLLBACK")
