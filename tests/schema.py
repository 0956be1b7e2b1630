"""What a database says of its own schema, in a form in which two databases can be compared."""

from __future__ import annotations

import re
from typing import Any

from sqlalchemy import Connection

from app.models.indexes import is_trigram_object

_POSTGRESQL = (
    """SELECT 'column', table_name || '.' || column_name, concat_ws(' ', data_type,
         character_maximum_length, numeric_precision, numeric_scale, collation_name,
         is_nullable, column_default)
       FROM information_schema.columns WHERE table_schema = 'public'""",
    """SELECT 'constraint', conrelid::regclass || '.' || conname, pg_get_constraintdef(oid)
       FROM pg_constraint WHERE connamespace = 'public'::regnamespace""",
    """SELECT 'index', tablename || '.' || indexname, indexdef
       FROM pg_indexes WHERE schemaname = 'public'""",
)


def describe(connection: Connection) -> dict[tuple[str, str], str]:
    """``(kind, name) -> definition`` of every column, constraint and index of the models' tables.

    The order of columns is left out: the migrations put short columns first.
    """
    rows = _sqlite(connection) if connection.dialect.name == "sqlite" else _postgresql(connection)
    return {
        (kind, name): definition
        for kind, name, definition in rows
        if "alembic_version" not in name and not is_trigram_object(name)
    }


def _postgresql(connection: Connection) -> list[Any]:
    return [row for query in _POSTGRESQL for row in connection.exec_driver_sql(query)]


def _sqlite(connection: Connection) -> list[tuple[str, str, str]]:
    objects = connection.exec_driver_sql(
        "SELECT type, tbl_name, name, sql FROM sqlite_master"
        " WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'"
    )
    described = []
    for kind, table, name, sql in objects:
        if kind == "index":
            described.append(("index", f"{table}.{name}", _plain(sql)))
        elif kind == "table" and not is_trigram_object(name):
            body = sql[sql.index("(") + 1 : sql.rindex(")")]
            for part in _parts(body):
                described.append(("part", f"{table}: {_primary_key(_plain(part))}", ""))
    return described


def _parts(body: str) -> list[str]:
    """The columns and constraints of a table: a column added later has no line of its own."""
    parts, depth = [""], 0
    for character in body:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def _plain(sql: str) -> str:
    return " ".join(sql.split())


def _primary_key(part: str) -> str:
    """A key of one column is written with the column or apart from it; it is the same."""
    return re.sub(r"^CONSTRAINT \S+ PRIMARY KEY", "PRIMARY KEY", part)
