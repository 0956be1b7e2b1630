"""Indexes of some rows of a table only.

SQLAlchemy loads what it knows of a database, two megabytes for PostgreSQL, as soon as an index
names an option of it. So an index keeps its condition, and PostgreSQL is told where it is used.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Index, MetaData, text

_CONDITION = "condition"


def partial_index(
    name: str, *columns: Any, where: str, on_sqlite: str | None = None, unique: bool = False
) -> Index:
    """An index of the rows for which the SQL condition ``where`` holds.

    Args:
        on_sqlite: the condition as SQLite says it; empty, SQLite enters every row.
    """
    condition = where if on_sqlite is None else on_sqlite
    options: dict[str, Any] = {"sqlite_where": text(condition)} if condition else {}
    return Index(name, *columns, unique=unique, info={_CONDITION: where}, **options)


def tell_postgresql(metadata: MetaData) -> None:
    """Make the conditions of the indexes of ``metadata`` known to PostgreSQL's DDL."""
    for table in metadata.tables.values():
        for index in table.indexes:
            if _CONDITION in index.info:
                where = text(index.info[_CONDITION])
                index.dialect_options["postgresql"]["where"] = where
