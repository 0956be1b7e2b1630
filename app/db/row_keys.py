"""The counters of keys: each key is given once, also those of rows that were deleted since."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, Table, text


def last_key(connection: Connection, table: Table) -> int:
    """The highest key that a row of ``table`` has or had; 0 where there was none."""
    if connection.dialect.name == "postgresql":
        statement = text(
            f"SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM {table.name}_id_seq"  # nosec B608  # a table of ours
        )
        return int(connection.execute(statement).scalar_one())
    statement = text("SELECT max(seq) FROM sqlite_sequence WHERE name = :name")
    return int(connection.execute(statement, {"name": table.name}).scalar_one() or 0)


def go_on_after(connection: Connection, table: Table, key: int) -> None:
    """Let the keys of ``table`` go on after ``key``, if they are not beyond it."""
    if last_key(connection, table) >= key:
        return
    if connection.dialect.name == "postgresql":
        connection.execute(text(f"SELECT setval('{table.name}_id_seq', :key)"), {"key": key})
        return
    named = {"name": table.name, "key": key}
    connection.execute(text("DELETE FROM sqlite_sequence WHERE name = :name"), named)
    connection.execute(text("INSERT INTO sqlite_sequence (name, seq) VALUES (:name, :key)"), named)


def new_keys(connection: Connection, table: Table, count: int, *, above: int = 0) -> Sequence[int]:
    """``count`` keys that no row of ``table`` has or had, all more than ``above``."""
    if not count:
        return ()
    if connection.dialect.name == "postgresql":
        go_on_after(connection, table, above)
        rows = connection.execute(
            text(f"SELECT nextval('{table.name}_id_seq') FROM generate_series(1, :count)"),  # nosec B608  # a table of ours
            {"count": count},
        )
        return [int(row[0]) for row in rows]
    first = max(last_key(connection, table), above) + 1
    return range(first, first + count)
