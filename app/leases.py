"""Leases: how workers share rows of work, so that each is worked on by one of them at a time.

A table of work has a column ``leased_until``. Who takes a row writes into it until when the row is
his; who dies leaves a lease that runs out, and another takes the row (docs/adr/0085). The instant
is the proof of possession too: ``finish`` changes the row only while the lease is still the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    FromClause,
    RowMapping,
    Table,
    UnaryExpression,
    exists,
    or_,
    select,
    update,
)

from app import records
from app.clock import utc_now
from app.database import primary_engine, transaction

LEASE_SECONDS = 60
Order = ColumnElement[Any] | UnaryExpression[Any]
Orders = Order | Sequence[Order]


def take(
    table: FromClause,
    due: ColumnElement[bool],
    *,
    limit: int,
    order: Orders | None = None,
    columns: Sequence[str] | None = None,
    seconds: int = LEASE_SECONDS,
) -> list[RowMapping]:
    """Lease up to ``limit`` rows that are ``due`` and free, in a transaction of its own.

    Args:
        table: has ``id`` and ``leased_until``.
        due: which rows are work now; an index should find them.
        order: which come first; by ``id`` when left out.
        columns: those returned besides ``id`` and ``leased_until``; None for all.
    Returns: the rows by column name, in that order; empty when there is nothing to do.
    """
    # A look first: on SQLite an idle worker must not take the lock of those who write.
    with primary_engine().connect() as reading:
        if not reading.execute(select(exists().where(due, is_free(table, utc_now())))).scalar():
            return []
    with transaction() as session:
        return take_within(
            session.connection(), table, due,
            limit=limit, order=order, columns=columns, seconds=seconds,
        )  # fmt: skip


def take_within(
    connection: Connection,
    table: FromClause,
    due: ColumnElement[bool],
    *,
    limit: int,
    order: Orders | None = None,
    columns: Sequence[str] | None = None,
    seconds: int = LEASE_SECONDS,
) -> list[RowMapping]:
    """``take`` inside a running transaction; the rows are the caller's once it is committed."""
    assert isinstance(table, Table)
    now = utc_now()
    wanted_first = (table.c.id,) if order is None else order
    orders = wanted_first if isinstance(wanted_first, Sequence) else (wanted_first,)
    # Workers pass over rows that another is just taking; SQLite has one writer at a time anyhow.
    free = (
        select(table.c.id)
        .where(due, is_free(table, now))
        .order_by(*orders)
        .limit(limit)
        .with_for_update(skip_locked=True)
    )
    wanted = table.c if columns is None else [table.c[name] for name in _with_proof(columns)]
    # The ids come first by themselves: a subquery with a limit may run anew for every row.
    keys = connection.execute(free).scalars().all()
    if not keys:
        return []
    leased = (
        update(table)
        .where(table.c.id.in_(keys))
        .values(leased_until=now + timedelta(seconds=seconds))
        .returning(*wanted)
    )
    found = {row["id"]: row for row in connection.execute(leased).mappings()}
    return [found[key] for key in keys]


def finish(table: FromClause, row: Mapping[str, Any], values: Mapping[str, Any]) -> bool:
    """Write ``values`` into a row taken, in the running transaction, and give it back.

    Returns: whether it was still the caller's; another worker has taken it over otherwise, and
        nothing is written.
    """
    assert isinstance(table, Table)
    statement = (
        update(table)
        .where(table.c.id == row["id"], table.c.leased_until == row["leased_until"])
        .values(**{"leased_until": None, **values})
    )
    return bool(records.connection().execute(statement).rowcount)


def is_free(table: FromClause, now: datetime) -> ColumnElement[bool]:
    """The condition that nobody holds a row of ``table``."""
    return or_(table.c.leased_until.is_(None), table.c.leased_until < now)


def _with_proof(columns: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(("id", "leased_until", *columns)))
