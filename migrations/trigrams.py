"""Indexes of trigrams, made and removed by migrations.

SQLite: one FTS5 table ``<table>_trigrams`` per table, with the searchable columns in their order
and the row's ``id`` as ``rowid``. It keeps no text of its own (external content); triggers follow
every change of the table. PostgreSQL: one GIN index ``ix_<table>_trigrams``.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence

from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from app.models.indexes import fts_table


def gin_index(table: str) -> str:
    """Name of the GIN index of ``table`` (PostgreSQL)."""
    return f"ix_{table}_trigrams"


def create(connection: Connection, tables: Mapping[str, Sequence[str]]) -> None:
    """Make the trigram indexes of ``tables`` (name -> columns), filled with the rows there are."""
    if connection.dialect.name == "sqlite":
        for table, columns in tables.items():
            for statement in sqlite_statements(table, columns):
                connection.exec_driver_sql(statement)
    elif has_pg_trgm(connection):
        for table, columns in tables.items():
            connection.exec_driver_sql(postgresql_statement(table, columns))


def drop(connection: Connection, tables: Iterable[str]) -> None:
    """Remove what ``create`` made; nothing happens where it made nothing."""
    for table in tables:
        if connection.dialect.name != "sqlite":
            connection.exec_driver_sql(f"DROP INDEX IF EXISTS {gin_index(table)}")
            continue
        for event in ("insert", "delete", "update"):
            connection.exec_driver_sql(f"DROP TRIGGER IF EXISTS {fts_table(table)}_{event}")
        connection.exec_driver_sql(f"DROP TABLE IF EXISTS {fts_table(table)}")


def postgresql_statement(table: str, columns: Sequence[str]) -> str:
    """The GIN index; new entries wait in a list that every search reads: it is kept short."""
    operators = ", ".join(f"{column} gin_trgm_ops" for column in columns)
    return (
        f"CREATE INDEX {gin_index(table)} ON {table} USING gin ({operators})"
        " WITH (gin_pending_list_limit = 512)"
    )


def sqlite_statements(table: str, columns: Sequence[str]) -> Iterator[str]:
    """The FTS5 table, its triggers and its first filling.

    FTS5 forgets a row only when told the very text it was given, hence the old values.
    """
    fts = fts_table(table)
    names = ", ".join(columns)
    old, new = (", ".join(f"{row}.{name}" for name in columns) for row in ("old", "new"))
    changed = " OR ".join(f"old.{name} IS NOT new.{name}" for name in columns)
    add = f"INSERT INTO {fts}(rowid, {names}) VALUES (new.id, {new});"  # nosec B608
    forget = f"INSERT INTO {fts}({fts}, rowid, {names}) VALUES ('delete', old.id, {old});"  # nosec B608
    yield (
        f"CREATE VIRTUAL TABLE {fts} USING fts5({names}, content='{table}', content_rowid='id',"
        " columnsize=0, tokenize='trigram case_sensitive 1')"
    )
    yield f"CREATE TRIGGER {fts}_insert AFTER INSERT ON {table} BEGIN {add} END"
    yield f"CREATE TRIGGER {fts}_delete AFTER DELETE ON {table} BEGIN {forget} END"
    yield (
        f"CREATE TRIGGER {fts}_update AFTER UPDATE OF {names} ON {table} WHEN {changed}"
        f" BEGIN {forget} {add} END"
    )
    yield f"INSERT INTO {fts}({fts}) VALUES ('rebuild')"  # nosec B608


def has_pg_trgm(connection: Connection) -> bool:
    """Whether the extension is there, installed now if the role may; ``contains`` works without."""
    try:
        with connection.begin_nested():
            connection.execute(text("CREATE EXTENSION IF NOT EXISTS pg_trgm"))
    except DBAPIError as error:
        warnings.warn(
            "contains() will scan: the pg_trgm extension is not installed and this database role"
            f" may not install it ({str(error.orig).splitlines()[0]})",
            stacklevel=2,
        )
        return False
    return True
