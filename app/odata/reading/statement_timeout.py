"""A shorter limit of time for one statement on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection


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
