"""Taking turns: two requests never look for the same free value at once."""

from __future__ import annotations

from sqlalchemy import func, select

from app import records


def take_turn(name: str) -> None:
    """Wait until nobody else has the turn of this name; it ends with the transaction.

    What is read afterwards is what the one before has committed. The lock belongs to the
    transaction, not to the connection, so a pooler between the service and the database may do as
    it likes. SQLite has one writer at a time anyway.
    """
    connection = records.connection()
    if connection.dialect.name == "postgresql":
        lock = func.pg_advisory_xact_lock(func.hashtextextended(name, 0))
        connection.execute(select(lock))
