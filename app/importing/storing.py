"""Writing the rows: in bulk, and one by one only where the database refuses a batch."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Table, bindparam, insert, text, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.sql.schema import ForeignKeyConstraint, ScalarElementColumnDefault

from app.errors import ApiError
from app.importing.keys import move_sequence, new_keys
from app.importing.problems import Problems
from app.importing.reading import Entries, Entry, Progress
from app.importing.sets import ImportSet, import_sets
from app.importing.slugs import fill_slugs
from app.settings import organisation
from app.writing.integrity import named_refusals
from app.writing.normal_forms import forms_of
from app.writing.rules import EntityRules, RowRules

BATCH = 500
# Lists of these sets wait until all records are there: a line item names a task.
CHILDREN_LAST = ("Invoices",)


def store(connection: Connection, entries: Entries, problems: Problems, progress: Progress) -> None:
    """Insert all rows; refusals of the database become problems of the file."""
    for name, records in entries.items():
        place = import_sets()[name]
        _number(connection, place, records)
        if name == "KbArticles":
            fill_slugs(connection, records)
        _insert(connection, place.rules, _parents_first(place, records), problems, progress)
        if name not in CHILDREN_LAST:
            _insert_children(connection, place, records, problems)
        move_sequence(connection, place.table, max((entry.id for entry in records), default=0))
    for name in CHILDREN_LAST:
        _insert_children(connection, import_sets()[name], entries.get(name, []), problems)
    for name, records in entries.items():
        _close_circles(connection, import_sets()[name].table, records)


def _insert_children(
    connection: Connection, place: ImportSet, records: Sequence[Entry], problems: Problems
) -> None:
    for attribute, rules in place.rules.children.items():
        rows = [row for entry in records for row in entry.children[attribute]]
        keys = new_keys(connection, rules.columns, len(rows))
        for row, key in zip(rows, keys, strict=True):
            row.row["id"] = key
        if attribute == "payments":
            _number_payments(connection, rows)
        _insert(connection, rules, rows, problems, lambda count: None)


def _insert(
    connection: Connection,
    rules: RowRules,
    entries: Sequence[Entry],
    problems: Problems,
    progress: Progress,
) -> None:
    table = rules.columns
    later = set(circular_columns(table))
    defaults = {
        column.name: column.default.arg
        if isinstance(column.default, ScalarElementColumnDefault)
        else None
        for column in table.c
    }
    statement = insert(table).inline()
    for start in range(0, len(entries), BATCH):
        batch = entries[start : start + BATCH]
        rows = [_complete(entry.row, defaults, later) for entry in batch]
        rows = [row | forms_of(table, row, lambda: organisation().seller.country) for row in rows]
        try:
            with connection.begin_nested():
                connection.execute(statement, rows)
        except IntegrityError:
            _insert_singly(connection, rules, batch, rows, problems)
        progress(len(batch))


def _complete(
    row: Mapping[str, Any], defaults: Mapping[str, Any], later: Iterable[str]
) -> dict[str, Any]:
    """The row with every column: one statement serves a whole batch."""
    complete = {name: row.get(name) for name in defaults}
    for name, default in defaults.items():
        if complete[name] is None and default is not None:
            complete[name] = default
    for name in later:
        complete[name] = None
    return complete


def _insert_singly(
    connection: Connection,
    rules: RowRules,
    entries: Sequence[Entry],
    rows: Sequence[dict[str, Any]],
    problems: Problems,
) -> None:
    """The batch again, row by row, so that every refusal has its record and its field."""
    for entry, row in zip(entries, rows, strict=True):
        owner = rules if isinstance(rules, EntityRules) else entry.place.rules
        try:
            with named_refusals(owner), connection.begin_nested():
                connection.execute(insert(rules.columns).inline(), row)
        except ApiError as error:
            for detail in error.details or [("", error.message)]:
                problems.add(entry.place.name, entry.index, detail[0], detail[1])


def circular_columns(table: Table) -> list[str]:
    """Columns that refer to a table made after this one: written when all rows are there."""
    return [
        column.name
        for constraint in table.constraints
        if isinstance(constraint, ForeignKeyConstraint) and constraint.use_alter
        for column in constraint.columns
    ]


def _close_circles(connection: Connection, table: Table, records: Sequence[Entry]) -> None:
    for name in circular_columns(table):
        links = [
            {"key": entry.id, "target": entry.row[name]} for entry in records if entry.row.get(name)
        ]
        if links:
            statement = update(table).where(table.c.id == bindparam("key"))
            connection.execute(statement.values({name: bindparam("target")}), links)


def _parents_first(place: ImportSet, records: list[Entry]) -> list[Entry]:
    """The records in an order in which each comes after the one of its own set it refers to."""
    own = [
        column.name
        for column in place.table.c
        for key in column.foreign_keys
        if key.column.table is place.table
    ]
    if not own:
        return records
    by_id = {entry.id: entry for entry in records}
    ordered: dict[int, Entry] = {}

    def visit(entry: Entry, path: frozenset[int]) -> None:
        if entry.id in ordered or entry.id in path:
            return
        for name in own:
            parent = by_id.get(entry.row.get(name) or 0)
            if parent is not None:
                visit(parent, path | {entry.id})
        ordered[entry.id] = entry

    for entry in records:
        visit(entry, frozenset())
    return list(ordered.values())


def _number(connection: Connection, place: ImportSet, records: Sequence[Entry]) -> None:
    """Give numbers to records without one, and let the counters go on after those given."""
    if place.number is not None:
        column, prefix = place.number
        given = (_trailing(entry.row.get(column), f"{prefix}-") for entry in records)
        _fill_numbers(connection, records, column, prefix, max(given, default=0))
    elif place.name == "Invoices":
        highest: dict[str, int] = {}
        for entry in records:
            series = entry.row.get("series") or "INV"
            if match := re.fullmatch(rf"{re.escape(series)}-(\d{{4}})-(\d+)", _text(entry)):
                counter = f"invoice:{series}:{match[1]}"
                highest[counter] = max(highest.get(counter, 0), int(match[2]))
        for counter, value in highest.items():
            raise_counter(connection, counter, value)


def _number_payments(connection: Connection, rows: Sequence[Entry]) -> None:
    given = (_trailing(row.row.get("number"), "PAY-") for row in rows)
    _fill_numbers(connection, rows, "number", "PAY", max(given, default=0))


def _fill_numbers(
    connection: Connection, records: Sequence[Entry], column: str, prefix: str, highest: int
) -> None:
    value = raise_counter(connection, prefix, highest)
    for entry in records:
        if entry.row.get(column) is None:
            value += 1
            entry.row[column] = f"{prefix}-{value:06d}"
    raise_counter(connection, prefix, value)


def raise_counter(connection: Connection, name: str, value: int) -> int:
    """Let the running number ``name`` go on after ``value`` at least; returns where it stands."""
    return int(
        connection.execute(
            text(
                "INSERT INTO counters (name, value) VALUES (:name, :value)"
                " ON CONFLICT (name) DO UPDATE SET value ="
                " CASE WHEN counters.value > excluded.value THEN counters.value"
                " ELSE excluded.value END RETURNING value"
            ),
            {"name": name, "value": value},
        ).scalar_one()
    )


def _text(entry: Entry) -> str:
    return str(entry.row.get("number") or "")


def _trailing(number: object, prefix: str) -> int:
    """The 7 of ``C-000007``; 0 of a number of another form."""
    digits = str(number or "").removeprefix(prefix)
    return int(digits) if digits.isdecimal() and len(digits) < 18 else 0
