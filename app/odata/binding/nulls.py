"""Null with a type: that of what stands beside it, or the one that a function takes there.

Written without one, null has no order and no operators: SQLAlchemy compares nothing with it, and
PostgreSQL finds no function that takes it.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import BigInteger, Boolean, Date, Double, Integer, LargeBinary, Text, Time
from sqlalchemy.types import TypeEngine

from app.db.types import UtcDateTime
from app.odata.binding.values import Bound, Constant, Typed, family
from app.odata.model import edm
from app.odata.sql.column_types import Guid
from app.odata.sql.decimals import DecimalNumber
from app.odata.sql.dialect_sql import DialectSql

_TEXT = (Text(), "TEXT")
# Family -> the type of its values in SQL, and PostgreSQL's name for it.
_KINDS: dict[str, tuple[TypeEngine[Any], str]] = {
    "text": _TEXT,
    "boolean": (Boolean(), "BOOLEAN"),
    "integer": (BigInteger(), "BIGINT"),
    "decimal": (DecimalNumber(), "NUMERIC"),
    "double": (Double(), "DOUBLE PRECISION"),
    "date": (Date(), "DATE"),
    "instant": (UtcDateTime(), "TIMESTAMPTZ"),
    "time": (Time(), "TIME"),
    "duration": (BigInteger(), "BIGINT"),
    "guid": (Guid(), "UUID"),
    "binary": (LargeBinary(), "BYTEA"),
    "enum": (Integer(), "INTEGER"),
}
# The type that stands for a family.
_TYPES = {
    "text": edm.STRING,
    "boolean": edm.BOOLEAN,
    "integer": edm.INT64,
    "decimal": edm.DECIMAL,
    "double": edm.DOUBLE,
    "date": edm.DATE,
    "instant": edm.DATETIME,
    "time": edm.TIME_OF_DAY,
    "duration": edm.DURATION,
}


def is_null_literal(bound: Bound) -> bool:
    """Whether it is null as it is written, which has no type of its own."""
    return isinstance(bound, Constant) and bound.literal.kind == "null"


def sql_type(type_: edm.EdmType) -> TypeEngine[Any]:
    """The type in SQL of the values of a type."""
    return _KINDS.get(family(type_), _TEXT)[0]


def null_of(type_: edm.EdmType) -> Typed:
    """No value, of a type."""
    kind, name = _KINDS.get(family(type_), _TEXT)
    return Typed(DialectSql(kind, "NULL", f"CAST(NULL AS {name})"), type_)


def null_of_family(name: str) -> Typed:
    """No value, of the type that stands for a family: ``text``, ``integer`` ..."""
    return null_of(_TYPES[name])
