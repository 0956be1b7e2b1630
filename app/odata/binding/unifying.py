"""Two expressions brought to one type, so that SQL compares or combines them as OData does."""

from __future__ import annotations

from sqlalchemy import Double

from app.db.types import ExactDecimal, UtcDateTime
from app.odata.binding.nulls import sql_type
from app.odata.binding.values import NUMBERS, Typed, family, type_name
from app.odata.errors import QueryError
from app.odata.functions import FUNCTIONS, Overload
from app.odata.model import edm
from app.odata.sql.decimals import decimal_number
from app.odata.sql.dialect_sql import DialectSql


def unified(left: Typed, right: Typed, offset: int) -> tuple[Typed, Typed]:
    """Both operands in the wider of their types.

    Raises: QueryError, their types have nothing in common.
    """
    kinds = family(left.type), family(right.type)
    if kinds[0] in NUMBERS and kinds[1] in NUMBERS:
        return _as_numbers(left, right)
    if kinds == ("date", "instant"):
        return as_instant(left), right
    if kinds == ("instant", "date"):
        return left, as_instant(right)
    if kinds[0] == kinds[1] != "other" and (kinds[0] != "enum" or left.type == right.type):
        return left, right
    raise QueryError(
        f"{type_name(left.type)} and {type_name(right.type)} cannot be compared", offset
    )


def as_double(value: Typed) -> Typed:
    """A number as a double."""
    if family(value.type) == "double":
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
    return value if family(value.type) == "date" else _part_of_instant("date", value)


def as_time(value: Typed) -> Typed:
    """The time of day of an instant, UTC."""
    return _part_of_instant("time", value)


def _part_of_instant(function: str, value: Typed) -> Typed:
    return apply(FUNCTIONS[function].overload("instant"), value)


def apply(overload: Overload, *arguments: Typed) -> Typed:
    """The value of a function that has SQL; null where an argument is."""
    if overload.sqlite == "{0}":
        return arguments[0]
    type_ = edm.PrimitiveType(overload.result)
    numbers = [
        as_decimal(typed) if family(typed.type) == "decimal" else typed for typed in arguments
    ]
    parts = (argument.sql for argument in numbers)
    sql = DialectSql(sql_type(type_), overload.sqlite, overload.postgresql, *parts)
    return Typed(sql, type_, any(argument.nullable for argument in arguments))


def _as_numbers(left: Typed, right: Typed) -> tuple[Typed, Typed]:
    kinds = {family(left.type), family(right.type)}
    if "double" in kinds:
        return as_double(left), as_double(right)
    if kinds == {"integer"} or _same_grid(left, right):
        return left, right
    return as_decimal(left), as_decimal(right)


def _same_grid(left: Typed, right: Typed) -> bool:
    """Whether both are decimal columns whose kept integers mean the same unit."""
    first, second = left.sql.type, right.sql.type
    return (
        isinstance(first, ExactDecimal)
        and isinstance(second, ExactDecimal)
        and first.scale == second.scale
    )
