"""Many rows at once: one statement for a portion, one by one only where the database refuses it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlalchemy import Table, bindparam, insert, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.sql.schema import ForeignKeyConstraint

from app.db import records
from app.errors import ApiError
from app.models.columns import Entity
from app.writing.change import Change
from app.writing.integrity import named_refusals
from app.writing.rules import RowRules

PORTION = 500


def insert_rows(
    rules: RowRules,
    rows: Sequence[tuple[Change[Entity], Mapping[str, Any]]],
    progress: Callable[[int], None] = lambda count: None,
) -> None:
    """Insert the rows of changes; what the database refuses is noted in the change it is of.

    Columns that refer to a table made after this one stay empty (see ``close_circles``).
    """
    table = rules.table
    later = circular_columns(table)
    attributes = {name for _, row in rows for name in row}
    columns = [
        (name, default)
        for name, default in rules.defaults.items()
        if name in attributes or default is not None
    ]
    statement = insert(table).inline()
    connection = records.connection()
    for start in range(0, len(rows), PORTION):
        portion = rows[start : start + PORTION]
        values = [_complete(row, columns, later) for _, row in portion]
        try:
            with connection.begin_nested():
                connection.execute(statement, values)
        except IntegrityError:
            _insert_singly(table, [change for change, _ in portion], values)
        progress(len(portion))


def _complete(
    row: Mapping[str, Any], columns: Sequence[tuple[str, Any]], later: Sequence[str]
) -> dict[str, Any]:
    """The row with every column: one statement serves a whole portion."""
    complete = {
        name: default if (value := row.get(name)) is None else value for name, default in columns
    }
    complete.update(dict.fromkeys(later))
    return complete


def _insert_singly(
    table: Table, changes: Sequence[Change[Entity]], rows: Sequence[Mapping[str, Any]]
) -> None:
    connection = records.connection()
    for change, row in zip(changes, rows, strict=True):
        try:
            with named_refusals(change.rules), connection.begin_nested():
                connection.execute(insert(table).inline(), row)
        except ApiError as error:
            change.take_refusal(error)


def circular_columns(table: Table) -> list[str]:
    """Columns that refer to a table made after this one."""
    return [
        column.name
        for constraint in table.constraints
        if isinstance(constraint, ForeignKeyConstraint) and constraint.use_alter
        for column in constraint.columns
    ]


def close_circles(table: Table, changes: Sequence[Change[Entity]]) -> None:
    """Write the columns that ``insert_rows`` left empty, once all records are there."""
    for name in circular_columns(table):
        links = [
            {"key": change.key, "target": change.values[name]}
            for change in changes
            if change.values.get(name)
        ]
        if links:
            statement = update(table).where(table.c.id == bindparam("key"))
            records.connection().execute(statement.values({name: bindparam("target")}), links)
