"""Rows as lines of JSON, the same from both databases, and back again to the digit.

A line is the array of a row's values in the order of the columns that the manifest names.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import orjson
from sqlalchemy import (
    ColumnElement,
    Date,
    LargeBinary,
    Select,
    Table,
    Text,
    bindparam,
    cast,
    insert,
    select,
)
from sqlalchemy.sql.dml import Insert
from sqlalchemy.types import TypeEngine

from app.db.types import ExactDecimal, JsonText, UtcDateTime, json_text

Reader = Callable[[Any], Any]
# How a value comes back from JSON, by the type of its column; what is missing is JSON's own.
_READERS: dict[type[TypeEngine[Any]], Reader] = {
    UtcDateTime: datetime.fromisoformat,
    Date: date.fromisoformat,
    ExactDecimal: Decimal,
    LargeBinary: base64.b64decode,
}


def stored_columns(table: Table) -> list[str]:
    """The columns that have values of their own, computed ones left out."""
    return [str(column.name) for column in table.columns if column.computed is None]


def select_rows(table: Table, names: Sequence[str]) -> Select[Any]:
    """Every row in the order of its key; JSON as the text that it is, no number read as float."""
    columns = [_as_text(table.c[name]) for name in names]
    return select(*columns).order_by(*table.primary_key.columns)


def write_lines(rows: Iterable[Sequence[Any]]) -> bytes:
    """Rows of ``select_rows`` as lines."""
    return b"".join(_line(row) for row in rows)


def read_lines(table: Table, names: Sequence[str], lines: bytes) -> list[dict[str, Any]]:
    """Lines as the parameters of ``insert_rows``.

    Raises: ValueError, a line is no row of these columns.
    """
    readers = [_READERS.get(type(table.c[name].type)) for name in names]
    rows = []
    for line in lines.splitlines():
        values = orjson.loads(line)
        rows.append(
            {
                name: value if value is None or reader is None else reader(value)
                for name, reader, value in zip(names, readers, values, strict=True)
            }
        )
    return rows


def insert_rows(table: Table, names: Sequence[str]) -> Insert:
    """The statement that puts rows back, keys included."""
    return insert(table).inline().values({name: _parameter(table, name) for name in names})


def _line(row: Sequence[Any]) -> bytes:
    plain = [
        format(value, "f")
        if isinstance(value, Decimal)
        else base64.b64encode(value).decode()
        if isinstance(value, bytes | memoryview)
        else value
        for value in row
    ]
    return json_text(plain).encode() + b"\n"


def _as_text(column: Any) -> ColumnElement[Any]:
    return cast(column, Text).label(column.name) if isinstance(column.type, JsonText) else column


def _parameter(table: Table, name: str) -> ColumnElement[Any]:
    kind = table.c[name].type
    if isinstance(kind, JsonText):
        return cast(bindparam(name, type_=Text()), kind)
    return bindparam(name, type_=kind)
