"""Indexes whose nulls lie where the API's lists want them, and which of all are compared."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Column, ColumnElement, MetaData
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.types import NullType

from app.models.trigrams import is_trigram_object


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
