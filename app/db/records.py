"""Reading and writing single records inside the running transaction.

What is read is an instance of its mapped class. The services change rows through these functions
only, by named columns, because those of a write are known when it runs (docs/adr/0004).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, TypeVar

from sqlalchemy import (
    Connection,
    FromClause,
    Insert,
    Select,
    Table,
    Update,
    bindparam,
    delete as sql_delete,
    insert as sql_insert,
    select,
    update as sql_update,
)
from sqlalchemy.orm import Session
from sqlalchemy.sql.schema import ScalarElementColumnDefault

from app.db import transactions
from app.db.engines import primary_engine
from app.errors import NotFoundError
from app.extensions import Model, db
from app.models.columns import Record

R = TypeVar("R", bound=Record)
M = TypeVar("M", bound=Model)
# What is written to: a mapped class, or its table.
Target = type[Model] | FromClause

# What every change writes after its row.
_SHOWN_BY_NO_ENTITY = frozenset(("events", "audit_records"))
# A parameter beside those that are named like columns.
_KEY = "key_"
_ROWS_SENT_AT_ONCE = 1_000


def connection() -> Connection:
    """The connection of this request's transaction; begun at the first use."""
    return db.session.connection()


@contextmanager
def looking() -> Iterator[Connection]:
    """A connection to see what is so in the running transaction, or else by the last commit.

    It begins no transaction: on SQLite who only reads would wait for those who write.
    """
    if transactions.has_begun():
        yield connection()
        return
    with primary_engine().connect() as opened:
        yield opened


def is_served() -> bool:
    """Whether a server has the database, so that others may write at the same time."""
    return db.engine.dialect.name != "sqlite"


def _writing(table: Table) -> Connection:
    if table.name not in _SHOWN_BY_NO_ENTITY:
        transactions.forget_notes()
    return db.session.connection()


def insert(target: Target, values: Mapping[str, Any]) -> int:
    """Add a row, defaults of the columns filled in; returns its ``id`` (0 without one).

    Raises: sqlalchemy.exc.IntegrityError, a constraint of the database refuses it.
    """
    of = _table(target)
    result = _writing(of).execute(_insert_into(of), dict(values))
    key = result.inserted_primary_key
    return int(key[0]) if key and "id" in of.c else 0


def append(target: Target, values: Mapping[str, Any]) -> None:
    """As ``insert``, where nobody asks for the key: the database does not send it back."""
    of = _table(target)
    _writing(of).execute(_insert_into(of, keyless=True), dict(values))


def insert_all(target: Target, rows: Sequence[Mapping[str, Any]]) -> None:
    """Add many rows of the same columns; their ids are not returned.

    They are sent in parts: what a busy server has not read yet must not fill the connection for
    so long that it is taken for dead.
    """
    of = _table(target)
    for start in range(0, len(rows), _ROWS_SENT_AT_ONCE):
        part = rows[start : start + _ROWS_SENT_AT_ONCE]
        # Also of a list of one row the database would else send the key back.
        statement = _insert_into(of, keyless=True)
        _writing(of).execute(statement, [with_defaults(of, row) for row in part])


def read(model: type[R], key: int | None, *, lock: bool = False, ending: bool = False) -> R | None:
    """The record with this ``id`` as it is now, or None.

    It is detached: neither a later read nor a write changes it, so it goes on to say what was.

    Args:
        lock: hold the row until the end of the transaction.
        ending: it is locked to be deleted, so that nobody refers to it meanwhile.
    """
    return None if key is None else find(_select_by_id(model, lock, ending), {_KEY: key})


def get(model: type[R], key: int, missing: str = "", *, lock: bool = False) -> R:
    """As ``read``.

    Raises: NotFoundError, no such row, with the message ``missing``.
    """
    return _or_none_there(read(model, key, lock=lock), key, missing)


def look_up(model: type[R], key: int, missing: str) -> R:
    """As ``get``, by ``looking``.

    Raises: NotFoundError, no such row.
    """
    with looking() as opened:
        record: R | None = find(_select_by_id(model, False, False), {_KEY: key}, of=opened)
    return _or_none_there(record, key, missing)


def _or_none_there(record: R | None, key: int, missing: str) -> R:
    if record is None:
        raise NotFoundError(missing or f"There is no record {key}.")
    return record


def read_all(
    statement: Select[R], values: Mapping[str, Any] | None = None, *, of: Connection | None = None
) -> list[R]:
    """The records of ``select(Model)``, detached as those of ``read``.

    Args:
        of: the connection to read by; None for that of the transaction.
    """
    # Of a session that ends here: to take records out of one that goes on costs more.
    with Session(of or connection(), join_transaction_mode="rollback_only") as session:
        return list(session.scalars(statement, values))


def find(
    statement: Select[R], values: Mapping[str, Any] | None = None, *, of: Connection | None = None
) -> R | None:
    """The first record of ``read_all``, or None."""
    return next(iter(read_all(statement, values, of=of)), None)


def columns_of(record: Model) -> dict[str, Any]:
    """Column name -> value of a record."""
    return {column.name: getattr(record, column.name) for column in record.__table__.c}


def changed(record: M, **values: Any) -> M:
    """A copy of a record with other values; it lies in no database."""
    return type(record)(**columns_of(record) | values)


def update(target: Target, key: int, changes: Mapping[str, Any]) -> None:
    """Change the named columns of a row; no others are written.

    Raises: NotFoundError, no such row.
    """
    of = _table(target)
    if not _writing(of).execute(_update_by_id(of), {**changes, _KEY: key}).rowcount:
        raise NotFoundError(f"There is no record {key}.")


def delete(target: Target, key: int) -> None:
    """Remove a row.

    Raises: NotFoundError; IntegrityError, others refer to it.
    """
    of = _table(target)
    if not _writing(of).execute(sql_delete(of).where(of.c.id == key)).rowcount:
        raise NotFoundError(f"There is no record {key}.")


def with_defaults(target: Target, values: Mapping[str, Any]) -> dict[str, Any]:
    """``values`` and the defaults of the columns that they leave out."""
    return {**_defaults(_table(target)), **values}


@lru_cache(maxsize=256)
def _defaults(table: Table) -> Mapping[str, Any]:
    """Column -> its default, of those that have one."""
    return {
        column.name: column.default.arg
        for column in table.columns
        if isinstance(column.default, ScalarElementColumnDefault)
    }


@lru_cache(maxsize=512)
def _select_by_id(model: type[Record], lock: bool, ending: bool) -> Select[Any]:
    statement = select(model).where(model.id == bindparam(_KEY))
    # A key that stays: others may go on to refer to the row meanwhile. One that is to end is
    # held against them at once: to ask for that later is a deadlock with whoever refers to it.
    return statement.with_for_update(key_share=not ending) if lock else statement


@lru_cache(maxsize=256)
def _insert_into(table: Table, *, keyless: bool = False) -> Insert:
    """An INSERT of the columns that it is executed with."""
    statement = sql_insert(table)
    return statement.inline() if keyless else statement


@lru_cache(maxsize=256)
def _update_by_id(table: Table) -> Update:
    """An UPDATE of the columns that it is executed with."""
    return sql_update(table).where(table.c.id == bindparam(_KEY))


def _table(target: Target) -> Table:
    table = target if isinstance(target, FromClause) else target.__table__
    if not isinstance(table, Table):
        raise TypeError(f"{target!r} is not a table")
    return table
