"""What a database holds, as literals of SQL, and the statements that lead from state to state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Table
from sqlalchemy.schema import ForeignKeyConstraint

from app.extensions import Model

_QUOTE = {"sqlite": 'quote("{}")', "postgresql": 'quote_nullable("{}"::text)'}
# Of each counter of keys the last that it gave; 0 for none.
_COUNTERS = {
    "sqlite": "SELECT name, seq FROM sqlite_sequence",
    "postgresql": "SELECT sequencename, coalesce(last_value, 0) FROM pg_sequences",
}

Rows = dict[str, str]  # the literals of a row, "(1,'x')", by those of its key, "(1)"


@dataclass(frozen=True)
class Snapshot:
    """Rows by the name of their table, circles by ``table.column``, counters by their name."""

    rows: dict[str, Rows]
    circles: dict[str, Rows]
    counters: dict[str, int]


def circles(table: Table) -> list[str]:
    """The columns whose foreign keys close a circle, so that no order of the tables serves them."""
    return [
        name
        for constraint in table.constraints
        if isinstance(constraint, ForeignKeyConstraint) and constraint.use_alter
        for name in constraint.columns.keys()  # noqa: SIM118  # a column collection, not a dict
    ]


def take_snapshot(connection: Connection) -> Snapshot:
    """Everything that is in the tables of the models, but for the epoch, which only grows."""
    tables = _tables()
    dialect = connection.dialect.name
    rows = {table.name: (table, _columns(table)) for table in tables}
    late = {f"{table.name}.{name}": (table, [name]) for table in tables for name in circles(table)}
    counters = connection.exec_driver_sql(_COUNTERS[dialect]).all()
    return Snapshot(_read(connection, rows), _read(connection, late), dict(counters))


def differences(before: Snapshot, after: Snapshot, dialect: str) -> Iterator[str]:
    """The statements that make ``after`` of ``before``, in an order that foreign keys allow."""
    tables = _tables()
    for table in reversed(tables):
        for key in before.rows[table.name].keys() - after.rows[table.name].keys():
            yield f"DELETE FROM {table.name} WHERE {_names(_key(table))} = {key}"
    for table in tables:
        if changed := _changed(before.rows[table.name], after.rows[table.name]):
            yield _upsert(table, changed)
    for table in tables:
        for name in circles(table):
            place = f"{table.name}.{name}"
            changed = _changed(before.circles[place], after.circles[place])
            where = f"WHERE {_names(_key(table))} ="
            for key, value in changed.items():
                yield f"UPDATE {table.name} SET {name} = {value} {where} {key}"
    for name, last in after.counters.items():
        if before.counters.get(name, 0) == last:
            continue
        if dialect == "postgresql":
            yield f"SELECT setval('{name}', {last})"
        else:
            yield f"DELETE FROM sqlite_sequence WHERE name = '{name}'"
            yield f"INSERT INTO sqlite_sequence (name, seq) VALUES ('{name}', {last})"


def _tables() -> list[Table]:
    return [table for table in Model.metadata.sorted_tables if table.name != "security_epochs"]


def _read(connection: Connection, parts: dict[str, tuple[Table, list[str]]]) -> dict[str, Rows]:
    quote = _QUOTE[connection.dialect.name]

    def literals(names: Sequence[str]) -> str:
        return " || ',' || ".join(quote.format(name) for name in names)

    statement = " UNION ALL ".join(
        f"SELECT '{name}', '(' || {literals(_key(table))} || ')',"
        f" '(' || {literals(columns)} || ')' FROM {table.name}"
        for name, (table, columns) in parts.items()
    )
    found: dict[str, Rows] = {name: {} for name in parts}
    for name, key, values in connection.exec_driver_sql(statement):
        found[name][key] = values
    return found


def _changed(before: Rows, after: Rows) -> Rows:
    return {key: values for key, values in after.items() if before.get(key) != values}


def _upsert(table: Table, rows: Rows) -> str:
    columns = _columns(table)
    others = [name for name in columns if name not in _key(table)]
    change = ", ".join(f'"{name}" = excluded."{name}"' for name in others)
    conflict = f" ON CONFLICT {_names(_key(table))} DO UPDATE SET {change}" if others else ""
    return f"INSERT INTO {table.name} {_names(columns)} VALUES {', '.join(rows.values())}{conflict}"


def _key(table: Table) -> list[str]:
    return [column.name for column in table.primary_key] or [column.name for column in table.c]


def _columns(table: Table) -> list[str]:
    closing = circles(table)
    return [column.name for column in table.c if column.name not in closing]


def _names(names: Sequence[str]) -> str:
    return '("' + '", "'.join(names) + '")'
