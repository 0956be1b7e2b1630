"""Operands brought to one type, so that SQL compares or combines them as OData does.

A literal takes the type of what it is used with (URL Conventions 5.1.1.14), and so does null:
written without a type it has no order and no operators, SQLAlchemy compares nothing with it, and
PostgreSQL finds no function that takes it. Two expressions take the wider of their types.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from functools import reduce
from operator import or_
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    Boolean,
    ColumnElement,
    Date,
    Double,
    Integer,
    LargeBinary,
    Text,
    Time,
    false,
    true,
)
from sqlalchemy.types import TypeEngine

from app.db.types import ExactDecimal, Guid, UtcDateTime
from app.odata.binding.context import Parameters
from app.odata.binding.values import NUMBERS, Bound, Constant, Typed, truth
from app.odata.errors import QueryError, suggestion
from app.odata.functions import FUNCTIONS, Overload
from app.odata.model import edm
from app.odata.sql.decimals import DecimalNumber, decimal_literal, decimal_number, of_one_unit
from app.odata.sql.dialect_sql import DialectSql
from app.odata.sql.operands import DecimalOperand, InstantOperand, Rounding
from app.odata.syntax.literals import to_binary, to_duration
from app.odata.syntax.nodes import Literal

# Of a member of an object: SQLite's ``->`` keeps the digits of a number as they are written.
_EXTRACTED = "json_extract({0}, {1})"
_DIGITS = "NULLIF({0} -> {1}, 'null')"


class Family(NamedTuple):
    """What types whose values are compared with each other have in common.

    ``sql`` is the type of its values, ``postgresql`` that database's name for it. ``type`` of the
    model stands for the family. ``literals`` are the kinds that a key of it is written as
    (URL Conventions 4.3.1: nothing is promoted), the first its own. ``text`` are templates, by
    database, of what is written between quotes as it stands; ``member`` is SQLite's of the member
    ``{1}`` of an object. ``read`` makes a value of what a token keeps of it.
    """

    sql: TypeEngine[Any]
    postgresql: str
    type: edm.PrimitiveType
    literals: tuple[str, ...]
    text: tuple[str, str] | None = None
    member: str | None = _EXTRACTED
    read: Callable[[Any], Any] = lambda value: value


FAMILIES: dict[str, Family] = {
    "text": Family(Text(), "TEXT", edm.STRING, ("string",)),
    "boolean": Family(
        Boolean(), "BOOLEAN", edm.BOOLEAN, ("boolean",), read=lambda text: text == "true"
    ),
    "integer": Family(
        BigInteger(), "BIGINT", edm.INT64, ("integer",), member=f"CAST({_DIGITS} AS INTEGER)"
    ),
    "decimal": Family(
        DecimalNumber(), "NUMERIC", edm.DECIMAL, ("decimal", "integer"),
        member=f"({_DIGITS} COLLATE odata_decimal)", read=Decimal,
    ),
    # JSON has no number for INF: the database writes it as text.
    "double": Family(
        Double(), "DOUBLE PRECISION", edm.DOUBLE, ("double",), member=f"CAST({_DIGITS} AS REAL)",
        read=float,
    ),
    "date": Family(
        Date(), "DATE", edm.DATE, ("date",), ("{0}", "to_char({0}, 'YYYY-MM-DD')"),
        read=date.fromisoformat,
    ),
    "instant": Family(
        UtcDateTime(), "TIMESTAMPTZ", edm.DATETIME, ("datetime",),
        ("{0}", "to_char({0} AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')"),
        read=datetime.fromisoformat,
    ),
    "time": Family(
        Time(), "TIME", edm.TIME_OF_DAY, ("timeofday",),
        ("{0}", "to_char(CAST({0} AS INTERVAL), 'HH24:MI:SS.US')"), read=time.fromisoformat,
    ),
    "duration": Family(
        BigInteger(), "BIGINT", edm.DURATION, ("duration",),
        (
            "odata_duration_text({0})",
            "(CASE WHEN {0} < 0 THEN '-' ELSE '' END || 'PT' || trim_scale(abs({0}) * 0.000001)"
            " || 'S')",
        ),
        member=None,
    ),
    "guid": Family(
        Guid(), "UUID", edm.GUID, ("guid",), ("{0}", "CAST({0} AS TEXT)"), read=UUID
    ),
    "binary": Family(
        LargeBinary(), "BYTEA", edm.BINARY, ("binary",),
        ("odata_base64url({0})", "translate(encode({0}, 'base64'), E'+/=\\n', '-_')"),
        member=None, read=to_binary,
    ),
    "enum": Family(Integer(), "INTEGER", edm.INT32, ("enum", "string"), member=None),
}  # fmt: skip
# Kind of literal -> the family of its values; a member of an enumeration tells no type by itself.
_OWN: dict[str, str] = {
    family.literals[0]: name for name, family in FAMILIES.items() if name != "enum"
}


def is_null_literal(bound: Bound) -> bool:
    """Whether it is null as it is written, which has no type of its own."""
    return isinstance(bound, Constant) and bound.literal.kind == "null"


def sql_type(type_: edm.EdmType) -> TypeEngine[Any]:
    return FAMILIES.get(type_.family, FAMILIES["text"]).sql


def null_of(type_: edm.EdmType) -> Typed:
    family = FAMILIES.get(type_.family, FAMILIES["text"])
    return Typed(DialectSql(family.sql, "NULL", f"CAST(NULL AS {family.postgresql})"), type_)


def null_of_family(name: str) -> Typed:
    """No value, of the type that stands for a family: ``text``, ``integer`` ..."""
    return null_of(FAMILIES[name].type)


def unified(left: Typed, right: Typed, offset: int) -> tuple[Typed, Typed]:
    """Both operands in the wider of their types.

    Raises: QueryError, their types have nothing in common.
    """
    kinds = left.type.family, right.type.family
    if kinds[0] in NUMBERS and kinds[1] in NUMBERS:
        first, second = as_numbers(left, right)
        return first, second
    if kinds == ("date", "instant"):
        return as_instant(left), right
    if kinds == ("instant", "date"):
        return left, as_instant(right)
    if kinds[0] == kinds[1] != "other" and (kinds[0] != "enum" or left.type == right.type):
        return left, right
    raise QueryError(f"{left.type.name} and {right.type.name} cannot be compared", offset)


def as_double(value: Typed) -> Typed:
    if value.type.family == "double":
        return value
    number = value.sql
    if isinstance(number.type, ExactDecimal):
        number = decimal_number(number)
    sql = DialectSql(Double(), "CAST({0} AS REAL)", "CAST({0} AS DOUBLE PRECISION)", number)
    return Typed(sql, edm.DOUBLE, value.nullable)


def as_decimal(value: Typed) -> Typed:
    """A decimal or a whole number as a decimal of any scale."""
    return Typed(decimal_number(value.sql), edm.DECIMAL, value.nullable)


def as_instant(value: Typed) -> Typed:
    """A date as the instant it begins, UTC."""
    sql = DialectSql(
        UtcDateTime(),
        "({0} || 'T00:00:00.000Z')",
        "(CAST({0} AS TIMESTAMP) AT TIME ZONE 'UTC')",
        value.sql,
    )
    return Typed(sql, edm.DATETIME, value.nullable)


def as_day(value: Typed) -> Typed:
    """An instant as the day it lies in, UTC; a date as it is."""
    return value if value.type.family == "date" else _part_of_instant("date", value)


def as_time(value: Typed) -> Typed:
    """The time of day of an instant, UTC."""
    return _part_of_instant("time", value)


def _part_of_instant(function: str, value: Typed) -> Typed:
    return apply(FUNCTIONS[function].overload("instant"), value)


def apply(overload: Overload, *arguments: Typed) -> Typed:
    """The value of a function that has SQL; null where an argument is."""
    if overload.sqlite == "{0}":
        return arguments[0]
    type_ = edm.PRIMITIVES[overload.result]
    numbers = [
        as_decimal(typed) if typed.type.family == "decimal" else typed for typed in arguments
    ]
    parts = (argument.sql for argument in numbers)
    sql = DialectSql(sql_type(type_), overload.sqlite, overload.postgresql, *parts)
    return Typed(sql, type_, any(argument.nullable for argument in arguments))


def as_numbers(*values: Typed) -> list[Typed]:
    """Numbers in the widest of their types; kept integers of one unit stay such."""
    kinds = {value.type.family for value in values}
    if "double" in kinds:
        return [as_double(value) for value in values]
    if kinds == {"integer"} or of_one_unit(*(value.sql for value in values)):
        return list(values)
    return [as_decimal(value) for value in values]


_KIND_NAMES = {
    "integer": "a whole number",
    "decimal": "a number",
    "double": "a number",
    "string": "a text",
    "boolean": "true or false",
    "date": "a date",
    "datetime": "a date and time",
    "timeofday": "a time of day",
    "duration": "a duration",
    "guid": "a GUID",
    "binary": "binary data",
    "enum": "a member of an enumeration",
    "geo": "a geographic value",
    "null": "null",
}
_MICROSECOND = timedelta(microseconds=1)
# The number of a member: Python takes more for one, and databases less.
_NUMBER = re.compile("-?[0-9]{1,10}")
# From the first day that there is to the last.
LONGEST = timedelta(days=3652059)


def describe(constant: Constant) -> str:
    """``a text``: what kind of literal it is, for messages."""
    return _KIND_NAMES[constant.literal.kind]


def natural(constant: Constant, parameters: Parameters) -> Typed:
    """A literal with the type that it has by itself."""
    literal = constant.literal
    if literal.kind == "null":
        return null_of(edm.UNTYPED)
    if literal.kind == "boolean":
        return truth(true() if literal.value else false(), nullable=False)
    if literal.kind not in _OWN:
        raise QueryError(f"{describe(constant)} has no meaning by itself here", literal.offset)
    own = null_of_family(_OWN[literal.kind])
    if literal.kind == "double" and parameters.decide(literal, lambda value: value != value):
        return own  # SQLite has no value for it
    return Typed(fit(constant, own, parameters, "down"), own.type, nullable=False)


def fit(
    constant: Constant,
    partner: Typed,
    parameters: Parameters,
    rounding: Rounding = "none",
) -> ColumnElement[Any]:
    """A literal as a parameter that compares with ``partner``.

    Raises: QueryError, the literal cannot be of the partner's type.
    """
    literal, wanted = constant.literal, partner.type.family
    bind = parameters.bind
    if literal.kind in NUMBERS and wanted in NUMBERS:
        return _fit_number(literal, partner, parameters, rounding)
    if literal.kind in ("string", "enum", "integer") and isinstance(partner.type, edm.EnumType):
        return bind(literal, Integer, _member_reader(literal, partner.type))
    if (literal.kind, wanted) == ("boolean", "boolean"):
        return true() if literal.value else false()
    if (literal.kind, wanted) == ("datetime", "instant"):
        return bind(literal, InstantOperand(rounding))
    if (literal.kind, wanted) in _CONVERTED:
        return bind(literal, *_CONVERTED[literal.kind, wanted])
    if _OWN.get(literal.kind) == wanted:
        return bind(literal, FAMILIES[wanted].sql)
    raise QueryError(
        f"{partner.type.name} cannot be compared with {describe(constant)}", literal.offset
    )


def _fit_number(
    literal: Literal, partner: Typed, parameters: Parameters, rounding: Rounding
) -> ColumnElement[Any]:
    type_: TypeEngine[Any] = partner.sql.type
    if isinstance(type_, ExactDecimal):
        return parameters.bind(literal, DecimalOperand(type_.scale, rounding))
    if isinstance(type_, DecimalNumber):
        return decimal_literal(parameters.bind(literal, DecimalNumber(), _exact))
    if partner.type.family == "double":
        return parameters.bind(literal, Double, float)
    if literal.kind == "integer":
        return parameters.bind(literal, BigInteger)
    return parameters.bind(literal, DecimalOperand(0, rounding), _beside_integer)


def _beside_integer(value: Any) -> Any:
    """A fraction, which no whole number is; a whole number that is none of them is a mistake."""
    if isinstance(value, Decimal) and value.as_tuple().exponent == 0:
        raise QueryError(f"{value} is out of the range of Edm.Int64")
    return value


def start_of_day(day: date) -> datetime:
    """00:00 UTC: what a date literal means beside an instant (contract P5)."""
    return datetime.combine(day, time(), UTC)


def end_of_day(day: date) -> datetime:
    """The last instant of a day."""
    return datetime.combine(day, time(23, 59, 59, 999_999), UTC)


def _exact(value: Any) -> Decimal:
    return Decimal(repr(value)) if isinstance(value, float) else Decimal(value)


def microseconds(value: timedelta) -> int:
    """A duration as it is kept.

    Raises: QueryError, it is longer than there are days.
    """
    if abs(value) > LONGEST:
        raise QueryError(f"a duration is at most {LONGEST.days} days long")
    return value // _MICROSECOND


# Kind of literal and family of what it is compared with -> what is bound, and how it is made.
_CONVERTED: dict[tuple[str, str], tuple[TypeEngine[Any], Callable[[Any], Any]]] = {
    ("date", "instant"): (InstantOperand("down"), start_of_day),
    ("duration", "duration"): (BigInteger(), microseconds),
    ("string", "duration"): (BigInteger(), lambda value: microseconds(to_duration(value))),
}


def _member_reader(literal: Literal, type_: edm.EnumType) -> Callable[[Any], int]:
    """Turns ``'High'``, ``'A,B'`` of a type with flags, or a number into the value kept."""
    written = literal.type_name
    if written is not None and written.rpartition(".")[2] != type_.name:
        raise QueryError(f"{written} is not {type_.name}, the type it is used with", literal.offset)

    def read(value: str | int) -> int:
        if isinstance(value, int):
            return _member(str(value), type_, literal.offset)
        numbers = [_member(part.strip(), type_, literal.offset) for part in value.split(",")]
        if len(numbers) > 1 and not type_.is_flags:
            raise QueryError(f"{type_.name} takes one member at a time", literal.offset)
        return reduce(or_, numbers)

    return read


def _member(name: str, type_: edm.EnumType, offset: int) -> int:
    if name in type_.members:
        return type_.members[name]
    if _NUMBER.fullmatch(name) and -(2**31) <= int(name) < 2**31:
        return int(name)
    hint = suggestion(name, type_.members)
    known = ", ".join(type_.members)
    raise QueryError(f"'{name}' is not a member of {type_.name} ({known}){hint}", offset)
