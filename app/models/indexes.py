"""Indexes that a column alone does not make, and which of all are compared.

Trigrams (migrations/trigrams.py) are behind ``contains``, on both databases. Tables whose texts are
searched in a plain form have the index of that instead (app/models/searched.py).
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Column, ColumnElement, MetaData, Table
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


def is_trigram_object(name: str | None) -> bool:
    """Whether a table or an index of this name belongs to these indexes, not to the models."""
    return "_trigrams" in (name or "")


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
