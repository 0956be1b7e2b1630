"""What an archive says of itself, and its rows: lines of JSON, the same from both databases.

A line is the array of a row's values in the order of the columns that the manifest names; values
come back to the digit.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
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

FORMAT = 1
MANIFEST = "manifest.json"


class BackupError(Exception):
    """A backup or a restore that cannot be done; the message is one line for the operator."""


@dataclass(frozen=True)
class TableEntry:
    """A table: its columns, its rows, and its parts in the archive with their SHA-256."""

    columns: list[str]
    rows: int
    parts: dict[str, str]


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """The contents of an archive.

    ``revision``: of the schema that the rows have. ``key_id``: public name of the key that sealed
    secrets need. ``files``: key of a file -> SHA-256; None where files were left out.
    ``last_keys``: table -> the last key that it gave, maybe to a row that was deleted since.
    """

    revision: str
    created_at: str
    key_id: str
    tables: Mapping[str, TableEntry] = field(default_factory=dict)
    files: Mapping[str, str] | None = None
    missing_files: list[str] = field(default_factory=list)
    last_keys: Mapping[str, int] = field(default_factory=dict)
    format: int = FORMAT

    def dump(self) -> bytes:
        """As it stands in the archive."""
        return orjson.dumps(asdict(self), option=orjson.OPT_INDENT_2)

    @classmethod
    def load(cls, text: bytes) -> Manifest:
        """Read it.

        Raises: BackupError, it is none, or one of a format that is not known here.
        """
        try:
            values: dict[str, Any] = orjson.loads(text)
            tables = {name: TableEntry(**entry) for name, entry in values.pop("tables").items()}
            manifest = cls(**values, tables=tables)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise BackupError("the file is no backup of this service") from error
        if manifest.format != FORMAT:
            raise BackupError(f"the backup has format {manifest.format}; this version reads 1")
        return manifest


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
