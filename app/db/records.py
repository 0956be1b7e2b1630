"""Reading and writing single rows inside the running transaction.

The services change rows through these functions only: they work on tables, because the columns of
a write are known by name when it runs (docs/adr/0004).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import (
    Connection,
    FromClause,
    Insert,
    Row,
    Select,
    Table,
    Update,
    bindparam,
    delete as sql_delete,
    insert as sql_insert,
    select,
    update as sql_update,
)
from sqlalchemy.sql.schema import ScalarElementColumnDefault

from app.db import transactions
from app.errors import NotFoundError, PreconditionFailedError
from app.extensions import db

# What every change writes after its row.
_SHOWN_BY_NO_ENTITY = frozenset(("events", "audit_records"))
# Parameters beside those that are named like columns.
_KEY, _VERSION = "key_", "version_"


def connection() -> Connection:
    """The connection of this request's transaction; begun at the first use."""
    return db.session.connection()


def is_served() -> bool:
    """Whether a server has the database, so that others may write at the same time."""
    return db.engine.dialect.name != "sqlite"


def _writing(table: Table) -> Connection:
    if table.name not in _SHOWN_BY_NO_ENTITY:
        transactions.forget_notes()
    return db.session.connection()


def insert(table: FromClause, values: Mapping[str, Any]) -> int:
    """Add a row, defaults of the columns filled in; returns its ``id`` (0 without one).

    Raises: sqlalchemy.exc.IntegrityError, a constraint of the database refuses it.
    """
    of = _table(table)
    result = _writing(of).execute(_insert_into(of), dict(values))
    key = result.inserted_primary_key
    return int(key[0]) if key and "id" in of.c else 0


def append(table: FromClause, values: Mapping[str, Any]) -> None:
    """As ``insert``, where nobody asks for the key: the database does not send it back."""
    of = _table(table)
    _writing(of).execute(_insert_into(of, keyless=True), dict(values))


def insert_all(table: FromClause, rows: Sequence[Mapping[str, Any]]) -> None:
    """Add many rows of the same columns; their ids are not returned."""
    if rows:
        of = _table(table)
        _writing(of).execute(_insert_into(of), [with_defaults(of, row) for row in rows])


def read(
    table: FromClause,
    key: int,
    columns: tuple[str, ...] | None = None,
    *,
    lock: bool = False,
    ending: bool = False,
) -> dict[str, Any] | None:
    """The row with this ``id`` by column name, or None.

    Args:
        columns: those wanted; None for all.
        lock: hold the row until the end of the transaction.
        ending: it is locked to be deleted, so that nobody refers to it meanwhile.
    """
    statement = _select_by_id(_table(table), columns, lock, ending)
    row = connection().execute(statement, {_KEY: key}).mappings().first()
    return None if row is None else dict(row)


def find(table: FromClause, key: int, *, lock: bool = False) -> Row[Any] | None:
    """The row with this ``id``, or None; locked until the end of the transaction on demand."""
    statement = _select_by_id(_table(table), None, lock, False)
    return connection().execute(statement, {_KEY: key}).first()


def get(table: FromClause, key: int, *, lock: bool = False) -> Row[Any]:
    """The row with this ``id``.

    Raises: NotFoundError, no such row.
    """
    row = find(table, key, lock=lock)
    if row is None:
        raise NotFoundError(f"There is no record {key}.")
    return row


def update(
    table: FromClause, key: int, changes: Mapping[str, Any], *, version: int | None = None
) -> None:
    """Change the named columns of a row; no others are written.

    Args:
        version: the row version that must still stand; the statement itself checks it.
    Raises: NotFoundError, no such row; PreconditionFailedError, the version is another.
    """
    of = _table(table)
    statement = _update_by_id(of, version is not None)
    values = {**changes, _KEY: key}
    if version is not None:
        values[_VERSION] = version
    if _writing(of).execute(statement, values).rowcount:
        return
    if version is not None and find(table, key) is not None:
        raise PreconditionFailedError("The record was changed by somebody else meanwhile.")
    raise NotFoundError(f"There is no record {key}.")


def delete(table: FromClause, key: int) -> None:
    """Remove a row.

    Raises: NotFoundError; IntegrityError, others refer to it.
    """
    of = _table(table)
    if not _writing(of).execute(sql_delete(of).where(of.c.id == key)).rowcount:
        raise NotFoundError(f"There is no record {key}.")


def with_defaults(table: FromClause, values: Mapping[str, Any]) -> dict[str, Any]:
    """``values`` and the defaults of the columns that they leave out, in column order."""
    row: dict[str, Any] = {}
    for name, default, has_default in _defaults(_table(table)):
        if name in values:
            row[name] = values[name]
        elif has_default:
            row[name] = default
    return row


@lru_cache(maxsize=256)
def _defaults(table: Table) -> tuple[tuple[str, Any, bool], ...]:
    return tuple(
        (
            col.name,
            col.default.arg if isinstance(col.default, ScalarElementColumnDefault) else None,
            isinstance(col.default, ScalarElementColumnDefault),
        )
        for col in table.columns
    )


@lru_cache(maxsize=512)
def _select_by_id(
    table: Table, columns: tuple[str, ...] | None, lock: bool, ending: bool
) -> Select[Any]:
    chosen = table.columns if columns is None else [table.c[name] for name in columns]
    statement = select(*chosen).where(table.c.id == bindparam(_KEY))
    # A key that stays: others may go on to refer to the row meanwhile. One that is to end is
    # held against them at once: to ask for that later is a deadlock with whoever refers to it.
    return statement.with_for_update(key_share=not ending) if lock else statement


@lru_cache(maxsize=256)
def _insert_into(table: Table, *, keyless: bool = False) -> Insert:
    """An INSERT of the columns that it is executed with."""
    statement = sql_insert(table)
    return statement.inline() if keyless else statement


@lru_cache(maxsize=256)
def _update_by_id(table: Table, with_version: bool) -> Update:
    """An UPDATE of the columns that it is executed with."""
    statement = sql_update(table).where(table.c.id == bindparam(_KEY))
    if with_version:
        statement = statement.where(table.c.version == bindparam(_VERSION))
    return statement


def _table(table: FromClause) -> Table:
    if not isinstance(table, Table):
        raise TypeError(f"{table!r} is not a table")
    return table
