"""What SQLite's index of the search and the rows that wait beside it find together."""

from __future__ import annotations

from sqlalchemy import Connection

from app.models.searched import index_name, waiting_table


def found_among_clients(connection: Connection, text: str) -> list[int]:
    """Keys of the clients whose plain form has ``text``, in their order."""
    index, waiting = index_name("clients"), waiting_table("clients")
    query = (
        f"SELECT rowid FROM {index} WHERE {index} MATCH ? AND rowid NOT IN"
        f" (SELECT id FROM {waiting})"
        f" UNION ALL SELECT id FROM {waiting} WHERE instr(text, ?) > 0 ORDER BY 1"
    )
    return list(connection.exec_driver_sql(query, (f'"{text}"', text)).scalars())
