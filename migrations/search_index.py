"""The indexes of the plain form of texts (app/models/searched.py), made and removed by migrations.

On SQLite the rows that a statement has changed wait in a table of their own, and enter the FTS5
table together when ``MOST_WAITING`` do: FTS5 writes what it was given when a statement ends, and a
few rows cost as many pages as hundreds. PostgreSQL's GIN index does the same by itself. Who reads
the index reads what waits beside it (docs/adr/0027).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlalchemy import Connection

from app.models.searched import (
    COLUMN,
    Fields,
    function_name,
    index_name,
    postgresql_call,
    postgresql_function,
    postgresql_text,
    sqlite_text,
    waiting_table,
)
from migrations.trigrams import has_pg_trgm

# All of them are read by every search, which takes some tens of microseconds then.
MOST_WAITING = 256


def create(connection: Connection, tables: dict[str, Fields]) -> None:
    """Make the indexes of ``tables``, filled with the rows that are there."""
    if connection.dialect.name == "sqlite":
        for table, fields in tables.items():
            _run(connection, _create_on_sqlite(table, fields))
        return
    indexed = has_pg_trgm(connection)
    for table, fields in tables.items():
        _run(connection, _create_on_postgresql(table, postgresql_text(fields), indexed))


def drop(connection: Connection, tables: Iterable[str]) -> None:
    """Remove what ``create`` made."""
    for table in tables:
        if connection.dialect.name != "sqlite":
            connection.exec_driver_sql(f"ALTER TABLE {table} DROP COLUMN IF EXISTS {COLUMN}")
            connection.exec_driver_sql(f"DROP FUNCTION IF EXISTS {function_name(table)}")
            continue
        _run(connection, _drop_triggers(table))
        connection.exec_driver_sql(f"DROP TABLE IF EXISTS {waiting_table(table)}")
        connection.exec_driver_sql(f"DROP TABLE IF EXISTS {index_name(table)}")


def let_changes_wait(connection: Connection, tables: dict[str, Fields]) -> None:
    """Give the indexes of SQLite that know every row the table of those that wait."""
    for table, fields in tables.items():
        _run(connection, _drop_triggers(table))
        _run(connection, _waiting_rows(table, fields))


def index_at_once(connection: Connection, tables: dict[str, Fields]) -> None:
    """Undo ``let_changes_wait``: the index knows every row, and each change enters it."""
    for table, fields in tables.items():
        enter_waiting(connection, table)
        _run(connection, _drop_triggers(table))
        connection.exec_driver_sql(f"DROP TABLE {waiting_table(table)}")
        index = index_name(table)
        old, new = (sqlite_text(fields, f"{row}.") for row in ("old", "new"))
        add = f"INSERT INTO {index}(rowid, text) VALUES (new.id, {new});"  # nosec B608
        forget = f"INSERT INTO {index}({index}, rowid, text) VALUES ('delete', old.id, {old});"  # nosec B608
        _run(connection, _follow(table, fields, insert=add, delete=forget, update=forget + add))


def change_fields(connection: Connection, tables: dict[str, Fields]) -> None:
    """Make the indexes of ``tables`` anew, over other fields; PostgreSQL's by functions."""
    drop(connection, tables)
    if connection.dialect.name == "sqlite":
        create(connection, tables)
        return
    indexed = has_pg_trgm(connection)
    for table, fields in tables.items():
        connection.exec_driver_sql(postgresql_function(table, fields))
        _run(connection, _create_on_postgresql(table, postgresql_call(table, fields), indexed))


def enter_waiting(connection: Connection, table: str) -> None:
    """Let the index of SQLite know every row of ``table``."""
    _run(connection, _enter_waiting(table))


def _create_on_postgresql(table: str, expression: str, indexed: bool) -> Iterator[str]:
    yield (
        f'ALTER TABLE {table} ADD COLUMN {COLUMN} text COLLATE "C"'
        f" GENERATED ALWAYS AS ({expression}) STORED"
    )
    if indexed:
        yield (
            f"CREATE INDEX ix_{table}_{COLUMN} ON {table} USING gin ({COLUMN} gin_trgm_ops)"
            " WITH (gin_pending_list_limit = 512)"
        )


def _create_on_sqlite(table: str, fields: Fields) -> Iterator[str]:
    """The FTS5 table without texts of its own, its first filling, and how changes come to it."""
    index = index_name(table)
    yield (
        f"CREATE VIRTUAL TABLE {index} USING fts5(text, content='', columnsize=0,"
        " tokenize='trigram case_sensitive 1')"
    )
    yield f"INSERT INTO {index}(rowid, text) SELECT id, {sqlite_text(fields, '')} FROM {table}"  # nosec B608
    yield from _waiting_rows(table, fields)


def _waiting_rows(table: str, fields: Fields) -> Iterator[str]:
    """The table of rows that wait, and its triggers.

    A row that changes again while it waits keeps what the index has of it.
    """
    waiting = waiting_table(table)
    old, new = (sqlite_text(fields, f"{row}.") for row in ("old", "new"))
    yield f"CREATE TABLE IF NOT EXISTS {waiting} (id INTEGER PRIMARY KEY, indexed TEXT, text TEXT)"

    def wait(row: str, indexed: str, text: str) -> str:
        return (
            f"INSERT INTO {waiting} VALUES ({row}.id, {indexed}, {text})"  # nosec B608
            " ON CONFLICT (id) DO UPDATE SET text = excluded.text;"
        )

    yield from _follow(
        table,
        fields,
        insert=wait("new", "NULL", new),
        delete=wait("old", old, "NULL"),
        update=wait("new", old, new),
    )
    yield (
        f"CREATE TRIGGER {waiting}_full AFTER INSERT ON {waiting}"
        f" WHEN (SELECT count(*) FROM {waiting}) >= {MOST_WAITING}"  # nosec B608
        f" BEGIN {'; '.join(_enter_waiting(table))}; END"
    )


def _enter_waiting(table: str) -> Iterator[str]:
    """FTS5 forgets a row only when told the very text it was given."""
    index, waiting = index_name(table), waiting_table(table)
    yield (
        f"INSERT INTO {index}({index}, rowid, text)"  # nosec B608
        f" SELECT 'delete', id, indexed FROM {waiting} WHERE indexed IS NOT NULL"
    )
    yield (
        f"INSERT INTO {index}(rowid, text)"  # nosec B608
        f" SELECT id, text FROM {waiting} WHERE text IS NOT NULL"
    )
    yield f"DELETE FROM {waiting}"  # nosec B608


def _follow(table: str, fields: Fields, *, insert: str, delete: str, update: str) -> Iterator[str]:
    """Triggers that run a statement for each row that changes."""
    index = index_name(table)
    columns = [column for field in fields for column in field]
    changed = " OR ".join(f"old.{name} IS NOT new.{name}" for name in columns)
    yield f"CREATE TRIGGER {index}_insert AFTER INSERT ON {table} BEGIN {insert} END"
    yield f"CREATE TRIGGER {index}_delete AFTER DELETE ON {table} BEGIN {delete} END"
    yield (
        f"CREATE TRIGGER {index}_update AFTER UPDATE OF {', '.join(columns)} ON {table}"
        f" WHEN {changed} BEGIN {update} END"
    )


def _drop_triggers(table: str) -> Iterator[str]:
    for event in ("insert", "delete", "update"):
        yield f"DROP TRIGGER IF EXISTS {index_name(table)}_{event}"
    yield f"DROP TRIGGER IF EXISTS {waiting_table(table)}_full"


def _run(connection: Connection, statements: Iterable[str]) -> None:
    for statement in statements:
        connection.exec_driver_sql(statement)
