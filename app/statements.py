"""Statements on single rows, compiled once and handed to the driver (docs/adr/0003).

SQLAlchemy writes the SQL and converts the values; the driver's own cursor runs it, because a
result of SQLAlchemy costs more than the row. It runs inside the transaction that the connection
has begun, and the driver's errors come out as SQLAlchemy's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from operator import itemgetter
from typing import Any

from sqlalchemy import (
    Column,
    Connection,
    Dialect,
    Select,
    Table,
    bindparam,
    delete as sql_delete,
    insert as sql_insert,
    select,
    update as sql_update,
)
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.base import ReadOnlyColumnCollection
from sqlalchemy.sql.dml import UpdateBase
from sqlalchemy.sql.schema import ScalarElementColumnDefault
from sqlalchemy.types import TypeDecorator, TypeEngine

from app.engines.parking import ParkingPool

Processor = Callable[[Any], Any]
# The columns that the parameters of a statement are for, by the names of the parameters.
Columns = Mapping[str, Column[Any]] | ReadOnlyColumnCollection[str, Column[Any]]
KEY, VERSION, FIRST = "key_", "version_", "first_"
# Of SQL from this length on SQLite's driver keeps ten times as many bytes with each connection.
LONG = 4_096
# Characters of it that a reading connection is used for.
MOST_LONG = 150_000


class Statement:
    """SQL of one dialect, with how values go in and how a row comes out."""

    def __init__(
        self, statement: UpdateBase | Select[Any], columns: Columns, dialect: Dialect
    ) -> None:
        compiled = statement.compile(dialect=dialect)
        self.sql = str(compiled)
        self._fixed: Mapping[str, Any] = {}
        self._binders: tuple[tuple[str, Processor], ...] = tuple(
            (name, process)
            for name in dict.fromkeys(compiled.bind_names.values())
            if name in columns and (process := _binder(columns[name].type, dialect))
        )
        order: Sequence[str] | None = getattr(compiled, "positiontup", None)
        self._ordered = None if order is None else _picker(order)
        self._dialect = dialect
        self._chosen = (
            [columns[column.name] for column in statement.selected_columns]
            if isinstance(statement, Select)
            else []
        )
        self._names = tuple(column.name for column in self._chosen)
        self._readers: tuple[tuple[int, Processor], ...] | None = None

    def run(self, connection: Connection, values: Mapping[str, Any]) -> Any:
        """Bind ``values``, run, and return the driver's cursor.

        Raises: sqlalchemy.exc.DBAPIError, such as IntegrityError.
        """
        return execute(connection, self.sql, self._bound(values))

    def run_later(self, connection: Connection, values: Mapping[str, Any]) -> None:
        """Bind ``values``, and run at the latest before the next statement or the commit.

        Raises: sqlalchemy.exc.DBAPIError; a refusal may come out where it runs.
        """
        execute_later(connection, self.sql, self._bound(values))

    def _bound(self, values: Mapping[str, Any]) -> Any:
        bound = {**self._fixed, **values}
        for name, process in self._binders:
            bound[name] = process(bound[name])
        ordered = self._ordered
        return bound if ordered is None else ordered(bound)

    def fix(self, values: Mapping[str, Any]) -> None:
        """Let parameters have these values whenever none are given."""
        processes = dict(self._binders)
        self._fixed = {
            name: processes[name](value) if name in processes else value
            for name, value in values.items()
        }
        self._binders = tuple(pair for pair in self._binders if pair[0] not in values)

    def first(self, connection: Connection, values: Mapping[str, Any]) -> dict[str, Any] | None:
        """The first row of a SELECT by column name, or None."""
        cursor = self.run(connection, values)
        row = cursor.fetchone()
        if row is None:
            return None
        if self._readers is None:
            self._readers = self._find_readers(cursor.description)
        cells = list(row)
        for place, process in self._readers:
            if cells[place] is not None:
                cells[place] = process(cells[place])
        return dict(zip(self._names, cells, strict=True))

    def _find_readers(self, description: Any) -> tuple[tuple[int, Processor], ...]:
        """The conversions of columns; the driver's type codes come with its first result."""
        return tuple(
            (place, process)
            for place, column in enumerate(self._chosen)
            if (process := _reader(column.type, self._dialect, description[place][1]))
        )


def execute(connection: Connection, sql: str, parameters: Any = (), **options: Any) -> Any:
    """Run SQL of the driver's own style inside the transaction; returns the driver's cursor.

    Args:
        options: of the driver's ``execute``, such as psycopg's ``prepare``.
    Raises: sqlalchemy.exc.DBAPIError, such as IntegrityError or OperationalError.
    """
    # The driver's connection itself: the one of the pool would wrap each cursor.
    driver: Any = connection.connection.dbapi_connection
    direct = getattr(driver, "direct", None)
    try:
        if direct is not None:
            return direct.execute(sql, parameters, **options)
        cursor = driver.cursor()
        cursor.execute(sql, parameters, **options)
    except connection.dialect.loaded_dbapi.Error as error:
        raise _wrapped(connection, sql, parameters, error) from error
    return cursor


def execute_later(connection: Connection, sql: str, parameters: Any = ()) -> None:
    """As ``execute``, for a statement whose result nobody looks at.

    On PostgreSQL it goes to the server together with the next one, or with the commit.
    """
    direct = getattr(connection.connection.dbapi_connection, "direct", None)
    if direct is None:
        execute(connection, sql, parameters)
        return
    try:
        direct.later(sql, parameters)
    except connection.dialect.loaded_dbapi.Error as error:
        raise _wrapped(connection, sql, parameters, error) from error


def settle(connection: Connection) -> None:
    """Run what ``execute_later`` was given and has not run yet.

    Raises: sqlalchemy.exc.DBAPIError, such as IntegrityError.
    """
    direct = getattr(connection.connection.dbapi_connection, "direct", None)
    try:
        if direct is not None:
            direct.settle()
    except connection.dialect.loaded_dbapi.Error as error:
        raise _wrapped(connection, "", (), error) from error


def integer(connection: Connection, sql: str) -> int:
    """The one number that SQL without values finds.

    Raises: sqlalchemy.exc.DBAPIError.
    """
    driver: Any = connection.connection.dbapi_connection
    direct = getattr(driver, "direct", None)
    if direct is None or not driver.autocommit:
        ((value,),) = fetch_all(connection, sql)
        return int(value)
    try:
        found: int = direct.integer(sql.encode())
    except connection.dialect.loaded_dbapi.Error as error:
        raise _wrapped(connection, sql, (), error) from error
    return found


def fetch_all(
    connection: Connection, sql: str, parameters: Any = (), **options: Any
) -> list[tuple[Any, ...]]:
    """Run SQL as ``execute`` does; returns all rows.

    SQLite makes a row when it is fetched, so an error may come as late as that.
    """
    if len(sql) >= LONG:
        _count_long(connection, sql)
    cursor = execute(connection, sql, parameters, **options)
    try:
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    except connection.dialect.loaded_dbapi.Error as error:
        raise _wrapped(connection, sql, parameters, error) from error
    cursor.close()
    return rows


def _count_long(connection: Connection, sql: str) -> None:
    """Give a connection of SQLite up that has been asked many long statements.

    The driver keeps the last ones prepared, however large they are, and cannot be told to forget.
    """
    pool = connection.engine.pool
    is_reading = isinstance(pool, ParkingPool) and pool.has_others
    if not is_reading or connection.dialect.name != "sqlite":
        return
    seen: dict[int, int] = connection.info.setdefault("long_statements", {})
    seen[hash(sql)] = len(sql)
    if sum(seen.values()) > MOST_LONG:
        connection.detach()  # closed, not kept, by whoever gives it back


def _wrapped(connection: Connection, sql: str, parameters: Any, error: Any) -> Any:
    """An error of the driver as SQLAlchemy's, which keeps the values to itself."""
    return DBAPIError.instance(
        sql,
        parameters,
        error,
        connection.dialect.loaded_dbapi.Error,
        hide_parameters=True,
        dialect=connection.dialect,
    )


@lru_cache(maxsize=1024)
def insert_statement(
    dialect: Dialect, table: Table, columns: tuple[str, ...], *, told: bool = True
) -> Statement:
    """An INSERT of these columns and of all that have a default.

    Args:
        told: the id comes back, if there is one; an INSERT that nobody awaits does without.
    """
    defaults = {
        column.name: column.default.arg
        for column in table.columns
        if isinstance(column.default, ScalarElementColumnDefault) and column.name not in columns
    }
    statement: UpdateBase = sql_insert(table).values(_parameters(table, (*columns, *defaults)))
    if told and "id" in table.c:
        statement = statement.returning(table.c.id)
    made = Statement(statement, table.c, dialect)
    made.fix(defaults)
    return made


@lru_cache(maxsize=64)
def joint_insert(
    dialect: Dialect,
    first: Table, first_columns: tuple[str, ...],
    last: Table, last_columns: tuple[str, ...],
) -> Statement:  # fmt: skip
    """An INSERT into ``last`` that adds a row to ``first``, too.

    One way to the server in place of two; SQLite, which has none, does not know it. No column that
    is left out may have a default here. Values of ``first`` have ``FIRST`` before their names.
    """
    given = {FIRST + name: first.c[name] for name in first_columns}
    values = {name: bindparam(FIRST + name, type_=first.c[name].type) for name in first_columns}
    statement = (
        sql_insert(last)
        .values(_parameters(last, last_columns))
        .add_cte(sql_insert(first).values(values).cte("first_row"))
    )
    return Statement(statement, given | {name: last.c[name] for name in last_columns}, dialect)


@lru_cache(maxsize=1024)
def update_statement(
    dialect: Dialect, table: Table, columns: tuple[str, ...], with_version: bool
) -> Statement:
    """An UPDATE of these columns of the row ``key_``, of the version ``version_`` on demand."""
    statement = sql_update(table).where(table.c.id == bindparam(KEY))
    if with_version:
        statement = statement.where(table.c.version == bindparam(VERSION))
    return Statement(statement.values(_parameters(table, columns)), table.c, dialect)


@lru_cache(maxsize=256)
def delete_statement(dialect: Dialect, table: Table) -> Statement:
    """A DELETE of the row ``key_``."""
    return Statement(sql_delete(table).where(table.c.id == bindparam(KEY)), table.c, dialect)


@lru_cache(maxsize=256)
def select_statement(
    dialect: Dialect, table: Table, columns: tuple[str, ...] | None, lock: bool, ending: bool
) -> Statement:
    """A SELECT of the row ``key_``: all columns, or these."""
    chosen = table.columns if columns is None else [table.c[name] for name in columns]
    statement = select(*chosen).where(table.c.id == bindparam(KEY))
    if lock:
        # A key that stays: others may go on to refer to the row meanwhile. One that is to end is
        # held against them at once: to ask for that later is a deadlock with whoever refers to it.
        statement = statement.with_for_update(key_share=not ending)
    return Statement(statement, table.c, dialect)


def _picker(names: Sequence[str]) -> Callable[[Mapping[str, Any]], Sequence[Any]]:
    """What takes the values of ``names`` in their order, in one step of the interpreter."""
    if len(names) > 1:
        return itemgetter(*names)
    return lambda values: [values[name] for name in names]


def _parameters(table: Table, columns: tuple[str, ...]) -> dict[str, Any]:
    return {name: bindparam(name, type_=table.c[name].type) for name in columns}


def _binder(kind: TypeEngine[Any], dialect: Dialect) -> Processor | None:
    made = kind.dialect_impl(dialect)
    if isinstance(made, TypeDecorator) and made.impl_instance.bind_processor(dialect) is None:
        return partial(made.process_bind_param, dialect=dialect)
    return made.bind_processor(dialect)


def _reader(kind: TypeEngine[Any], dialect: Dialect, code: object) -> Processor | None:
    made = kind.dialect_impl(dialect)
    if isinstance(made, TypeDecorator) and (
        made.impl_instance.result_processor(dialect, code) is None
    ):
        return partial(made.process_result_value, dialect=dialect)
    return made.result_processor(dialect, code)
