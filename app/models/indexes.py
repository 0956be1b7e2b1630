"""Indexes that a column alone does not make, and which of all are compared.

Trigrams are behind ``contains``, on both databases. Tables whose texts are searched in a plain form
have the index of that instead (app/models/searched.py). SQLite: one FTS5 table ``<table>_trigrams``
per table, with the searchable columns in their order and the row's ``id`` as ``rowid``. It keeps no
text of its own (external content); triggers follow every change of the table. PostgreSQL: one GIN
index ``ix_<table>_trigrams``.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, MetaData, Table, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.types import NullType

# Shorter texts have no trigram: the index cannot help, the predicate alone decides.
MINIMUM_LENGTH = 3


def searchable_columns(table: Table) -> tuple[str, ...]:
    """Names of the columns that the index of ``table`` holds, in its order."""
    return tuple(column.name for column in table.columns if column.info.get("searchable"))


def fts_table(table: str) -> str:
    """Name of the FTS5 table of ``table`` (SQLite)."""
    return f"{table}_trigrams"


def gin_index(table: str) -> str:
    """Name of the GIN index of ``table`` (PostgreSQL)."""
    return f"ix_{table}_trigrams"


def is_trigram_object(name: str | None) -> bool:
    """Whether a table or an index of this name belongs to these indexes, not to the models."""
    return "_trigrams" in (name or "")


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


class nulls_first(ColumnElement[Any]):  # reads as a function, as in SQLAlchemy
    """The nullable column ``name`` of an index, nulls first.

    SQLite keeps them so anyway and PostgreSQL last; without this, its index would not serve
    ``ORDER BY x ASC NULLS FIRST``, which is OData's order (Protocol 11.2.6.2).
    """

    inherit_cache = False
    type = NullType()

    def __init__(self, name: str) -> None:
        self.name = name


@compiles(nulls_first)
def _plain(element: nulls_first, compiler: Any, **options: Any) -> str:
    return str(compiler.preparer.quote(element.name))


@compiles(nulls_first, "postgresql")
def _with_order(element: nulls_first, compiler: Any, **options: Any) -> str:
    return f"{compiler.preparer.quote(element.name)} NULLS FIRST"


def autogenerates(metadata: MetaData, kind: str, name: str | None) -> bool:
    """Whether Alembic's autogenerate looks at the table, index or constraint ``name``.

    The trigram indexes are no part of the models, and Alembic cannot compare expressions on
    SQLite, nor what is an index on one database and a constraint on the other;
    tests/test_migrations.py compares those through the catalogue of the database.
    """
    if is_trigram_object(name):
        return False
    return kind not in ("index", "unique_constraint") or name not in _not_comparable(metadata)


def _not_comparable(metadata: MetaData) -> frozenset[str | None]:
    return frozenset(
        index.name
        for table in metadata.tables.values()
        for index in table.indexes
        if index.name in {constraint.name for constraint in table.constraints}
        or not all(isinstance(expression, Column) for expression in index.expressions)
    )
