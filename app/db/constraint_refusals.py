"""What a constraint of the database has refused: which kind of rule, and over which columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import CheckConstraint, Table
from sqlalchemy.exc import IntegrityError
from sqlalchemy.sql.schema import ColumnCollectionConstraint

from app.extensions import Model

UNIQUE, FOREIGN_KEY, NOT_NULL, CHECK = "unique", "foreign key", "not null", "check"
# PostgreSQL's SQLSTATE and the name of SQLite's extended code; the texts may be translated.
_KINDS = {
    "23505": UNIQUE,
    "23503": FOREIGN_KEY,
    "23502": NOT_NULL,
    "23514": CHECK,
    "SQLITE_CONSTRAINT_UNIQUE": UNIQUE,
    "SQLITE_CONSTRAINT_PRIMARYKEY": UNIQUE,
    "SQLITE_CONSTRAINT_FOREIGNKEY": FOREIGN_KEY,
    "SQLITE_CONSTRAINT_NOTNULL": NOT_NULL,
    "SQLITE_CONSTRAINT_CHECK": CHECK,
}


@dataclass(frozen=True)
class Refusal:
    """``columns`` are empty where nobody says: SQLite does not name a foreign key."""

    kind: str
    columns: tuple[str, ...] = ()


def read_refusal(error: IntegrityError) -> Refusal:
    """What ``error`` is about; its kind is empty for a constraint of an unknown kind."""
    diagnosis = getattr(error.orig, "diag", None)
    if diagnosis is not None:
        kind = _KINDS.get(diagnosis.sqlstate or "", "")
        if diagnosis.column_name:
            return Refusal(kind, (diagnosis.column_name,))
        return Refusal(kind, _columns_of_constraints().get(diagnosis.constraint_name or "", ()))
    kind = _KINDS.get(getattr(error.orig, "sqlite_errorname", ""), "")
    # "UNIQUE constraint failed: clients.external_id", "CHECK constraint failed: ck_x_y_range"
    named = [part.strip() for part in str(error.orig).partition("failed:")[2].split(",")]
    if kind == CHECK:
        return Refusal(kind, _columns_of_constraints().get(named[0], ()))
    return Refusal(kind, tuple(name.rpartition(".")[2] for name in named if "." in name))


@cache
def _columns_of_constraints() -> Mapping[str, tuple[str, ...]]:
    """Name of a constraint or unique index -> its columns; names are unique in the schema."""
    columns: dict[str, tuple[str, ...]] = {}
    for table in Model.metadata.tables.values():
        for constraint in table.constraints:
            if isinstance(constraint, CheckConstraint):
                columns[str(constraint.name)] = _checked_columns(table, constraint)
            elif isinstance(constraint, ColumnCollectionConstraint):
                columns[str(constraint.name)] = tuple(column.name for column in constraint.columns)
        for index in table.indexes:
            columns[str(index.name)] = tuple(column.name for column in index.columns)
    return columns


def _checked_columns(table: Table, constraint: Any) -> tuple[str, ...]:
    """The column of a facet's check, or the last one that a check of the table speaks of."""
    for column in table.c:
        if constraint.name in (
            f"ck_{table.name}_{column.name}_allowed",
            f"ck_{table.name}_{column.name}_range",
        ):
            return (column.name,)
    text = str(constraint.sqltext)
    named = [column.name for column in table.c if column.name in text]
    return (max(named, key=len),) if named else ()
