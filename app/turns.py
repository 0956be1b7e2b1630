"""Taking turns: two requests never look for the same free value at once."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import text

from app import records

# In the order of the locks themselves, which two names may share.
_IN_ORDER = text(
    "SELECT pg_advisory_xact_lock(key) FROM"
    " (SELECT DISTINCT hashtextextended(name, 0) AS key"
    " FROM unnest(CAST(:names AS text[])) AS name ORDER BY key) AS ordered"
)


def take_turn(name: str) -> None:
    """Wait until nobody else has the turn of this name; it ends with the transaction.

    What is read afterwards is what the one before has committed. The lock belongs to the
    transaction, not to the connection, so a pooler between the service and the database may do as
    it likes. SQLite has one writer at a time anyway.
    """
    take_turns((name,))


def take_turns(names: Iterable[str]) -> None:
    """As ``take_turn``, of several names: in one order for everybody.

    Two that take them one by one, each in an order of its own, wait for each other.
    """
    connection = records.connection()
    if connection.dialect.name == "postgresql":
        connection.execute(_IN_ORDER, {"names": list(names)})
