"""Literals given the type of what they are used with (URL Conventions 5.1.1.14)."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from sqlalchemy import (
    BigInteger,
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

from app.db.types import ExactDecimal
from app.odata.binding.nulls import null_of
from app.odata.binding.parameters import Parameters
from app.odata.binding.values import NUMBERS, Constant, Typed, family, truth, type_name
from app.odata.errors import QueryError, suggestion
from app.odata.model import edm
from app.odata.sql.column_types import Guid
from app.odata.sql.decimals import DecimalNumber, decimal_literal
from app.odata.sql.operands import DecimalOperand, InstantOperand, Rounding
from app.odata.syntax.literals import to_duration
from app.odata.syntax.nodes import Literal

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
    bind = parameters.bind
    match literal.kind:
        case "null":
            return null_of(edm.UNTYPED)
        case "boolean":
            return truth(true() if literal.value else false(), nullable=False)
        case "integer":
            return Typed(bind(literal, BigInteger), edm.INT64, nullable=False)
        case "decimal":
            number = bind(literal, DecimalNumber(), Decimal)
            return Typed(decimal_literal(number), edm.DECIMAL, nullable=False)
        case "double":
            if parameters.decide(literal, _is_no_number):  # SQLite has no value for it
                return null_of(edm.DOUBLE)
            return Typed(bind(literal, Double), edm.DOUBLE, nullable=False)
        case "string":
            return Typed(bind(literal, Text), edm.STRING, nullable=False)
        case "date":
            return Typed(bind(literal, Date), edm.DATE, nullable=False)
        case "datetime":
            return Typed(bind(literal, InstantOperand("down")), edm.DATETIME, nullable=False)
        case "timeofday":
            return Typed(bind(literal, Time), edm.TIME_OF_DAY, nullable=False)
        case "duration":
            sql = bind(literal, BigInteger, microseconds)
            return Typed(sql, edm.DURATION, nullable=False)
        case "guid":
            return Typed(bind(literal, Guid()), edm.GUID, nullable=False)
        case "binary":
            return Typed(bind(literal, LargeBinary), edm.BINARY, nullable=False)
    raise QueryError(f"{describe(constant)} has no meaning by itself here", literal.offset)


def _is_no_number(value: float) -> bool:
    return value != value


def fit(
    constant: Constant,
    partner: Typed,
    parameters: Parameters,
    rounding: Rounding = "none",
) -> ColumnElement[Any]:
    """A literal as a parameter that compares with ``partner``.

    Raises: QueryError, the literal cannot be of the partner's type.
    """
    literal, wanted = constant.literal, family(partner.type)
    bind = parameters.bind
    if literal.kind in NUMBERS and wanted in NUMBERS:
        return _fit_number(literal, partner, parameters, rounding)
    if literal.kind in ("string", "enum", "integer") and isinstance(partner.type, edm.EnumType):
        return bind(literal, Integer, _member_reader(literal, partner.type))
    match literal.kind, wanted:
        case ("string", "text"):
            return bind(literal, Text)
        case ("boolean", "boolean"):
            return true() if literal.value else false()
        case ("date", "date"):
            return bind(literal, Date)
        case ("date", "instant"):
            return bind(literal, InstantOperand("down"), start_of_day)
        case ("datetime", "instant"):
            return bind(literal, InstantOperand(rounding))
        case ("timeofday", "time"):
            return bind(literal, Time)
        case ("duration", "duration"):
            return bind(literal, BigInteger, microseconds)
        case ("string", "duration"):
            return bind(literal, BigInteger, _microseconds_of_text)
        case ("guid", "guid"):
            return bind(literal, partner.sql.type)
        case ("binary", "binary"):
            return bind(literal, LargeBinary)
    raise QueryError(
        f"{type_name(partner.type)} cannot be compared with {describe(constant)}", literal.offset
    )


def _fit_number(
    literal: Literal, partner: Typed, parameters: Parameters, rounding: Rounding
) -> ColumnElement[Any]:
    type_: TypeEngine[Any] = partner.sql.type
    if isinstance(type_, ExactDecimal):
        return parameters.bind(literal, DecimalOperand(type_.scale, rounding))
    if isinstance(type_, DecimalNumber):
        return decimal_literal(parameters.bind(literal, DecimalNumber(), _exact))
    if family(partner.type) == "double":
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


def _microseconds_of_text(value: str) -> int:
    return microseconds(to_duration(value))


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
        total = 0
        for number in numbers:
            total |= number
        return total

    return read


def _member(name: str, type_: edm.EnumType, offset: int) -> int:
    if name in type_.members:
        return type_.members[name]
    if _NUMBER.fullmatch(name) and -(2**31) <= int(name) < 2**31:
        return int(name)
    hint = suggestion(name, type_.members)
    known = ", ".join(type_.members)
    raise QueryError(f"'{name}' is not a member of {type_.name} ({known}){hint}", offset)
