"""A row of any table, made of the types and rules of its columns."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from sqlalchemy import Column, Table

from app.db.types import JsonText, OrdinalEnum, UtcDateTime

_BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def any_row(table: Table, number: int) -> dict[str, Any]:
    """A value for each column of ``table`` but its key; no two numbers have the same.

    References are to the row ``number`` of their table.
    """
    return {
        col.name: _value(col, number)
        for col in table.columns
        if col.computed is None and col is not table.autoincrement_column
    }


def _value(col: Column[Any], number: int) -> Any:
    if allowed := col.info.get("allowed"):
        return allowed[0]
    if isinstance(col.type, OrdinalEnum):
        return col.type.members[0]
    if isinstance(col.type, JsonText):
        return {"number": number}
    if isinstance(col.type, UtcDateTime):
        return _BEGIN + timedelta(days=number)
    values = {
        bool: True, int: number, Decimal: Decimal(number), bytes: b"%d" % number,
        date: date(2026, 1, number),
    }  # fmt: skip
    return values.get(col.type.python_type, str(number))
