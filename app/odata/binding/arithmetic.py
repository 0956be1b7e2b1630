"""``add``, ``sub``, ``mul``, ``div``, ``divby``, ``mod`` and ``-`` (URL Conventions 5.1.1.2).

Whole numbers stay whole (``5 div 2`` is 2, ``5 divby 2`` is 2.5), decimals are exact, and dividing
by zero gives null on both databases (docs/adr/0015), as does a double that is no number.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Date, Double
from sqlalchemy.types import TypeEngine

from app.db.types import UtcDateTime
from app.odata.binding.type_coercion import as_double, null_of, null_of_family
from app.odata.binding.values import NUMBERS, Typed
from app.odata.errors import QueryError
from app.odata.model import edm
from app.odata.sql.decimals import decimal_operation, integer_operation
from app.odata.sql.dialect_sql import DialectSql


def arithmetic(op: str, left: Typed | None, right: Typed | None, offset: int) -> Typed:
    """``left op right`` for two numbers, or for instants, dates and durations.

    Args:
        left, right: None for a null without a type, of which there is one at most.
    Raises: QueryError, the operator does not take operands of these types.
    """
    if left is None or right is None:
        left, right = _with_null(op, left, right, offset)
    kinds = left.type.family, right.type.family
    if kinds[0] in NUMBERS and kinds[1] in NUMBERS:
        return _of_numbers(op, left, right)
    make = _TIMES.get((kinds[0], op, kinds[1]))
    if make is None:
        raise QueryError(f"'{op}' does not take {left.type.name} and {right.type.name}", offset)
    sql, type_ = make(left.sql, right.sql)
    return Typed(sql, type_)


def _with_null(
    op: str, left: Typed | None, right: Typed | None, offset: int
) -> tuple[Typed, Typed]:
    """Both operands; null is of the type of the other one, or of one that the operator takes there.

    Raises: QueryError, the operator does not take the other one.
    """
    partner = left or right
    assert partner is not None
    kind = partner.type.family
    if left is None:
        operand_kinds = [first for first, at, other in _TIMES if (at, other) == (op, kind)]
    else:
        operand_kinds = [other for first, at, other in _TIMES if (first, at) == (kind, op)]
    if kind in NUMBERS or kind in operand_kinds:
        null = null_of(partner.type)
    elif operand_kinds:
        null = null_of_family(operand_kinds[0])
    else:
        raise QueryError(f"'{op}' does not take {partner.type.name} there", offset)
    return left or null, right or null


def negated(value: Typed, offset: int) -> Typed:
    """``-value`` of a number or a duration."""
    kind = value.type.family
    if kind == "double":
        return Typed(-value.sql, value.type, value.nullable)
    if kind == "decimal":
        return Typed(decimal_operation("neg", value.sql), edm.DECIMAL, value.nullable)
    if kind == "integer":
        return Typed(integer_operation("neg", value.sql), edm.INT64, value.nullable)
    if kind == "duration":
        return Typed(integer_operation("neg", value.sql), edm.DURATION, value.nullable)
    raise QueryError(f"'-' does not take {value.type.name}", offset)


def _of_numbers(op: str, left: Typed, right: Typed) -> Typed:
    kinds = {left.type.family, right.type.family}
    if "double" in kinds:
        first, second = as_double(left), as_double(right)
        return Typed(_of_doubles(op, first.sql, second.sql), edm.DOUBLE)
    nullable = left.nullable or right.nullable or op in ("div", "divby", "mod")
    if kinds == {"integer"} and op != "divby":
        return Typed(integer_operation(op, left.sql, right.sql), edm.INT64, nullable)
    name = "div" if op == "divby" else op
    return Typed(decimal_operation(name, left.sql, right.sql), edm.DECIMAL, nullable)


# The least number of two to the power of 1023, the greatest double and the least.
_HALF, _MOST, _LEAST = "8.98846567431158e307", "1.7976931348623157e308", "5e-324"
_ENDLESS, _NO_NUMBER = (f"CAST('{text}' AS DOUBLE PRECISION)" for text in ("INF", "NaN"))
# PostgreSQL refuses what is too great or too small for a double; OData, like SQLite, has INF and
# zero for it.


def _sum(x: str, sign: str, y: str) -> str:
    half = f"{x} * 0.5 {sign} {y} * 0.5"
    return (
        f"CASE WHEN (abs({x}) > 8e307 OR abs({y}) > 8e307) AND abs({half}) >= {_HALF}"
        f" THEN sign({half}) * {_ENDLESS} ELSE {x} {sign} {y} END"
    )


def _product(x: str, y: str) -> str:
    return (
        f"CASE WHEN abs({x}) > 1 AND abs({y}) > {_MOST} / abs({x})"
        f" THEN sign({x}) * sign({y}) * {_ENDLESS}"
        f" WHEN abs({x}) < 1 AND {x} <> 0 AND abs({y}) < {_LEAST} / abs({x}) THEN 0"
        f" ELSE {x} * {y} END"
    )


def _quotient(x: str, y: str) -> str:
    return (
        f"CASE WHEN {y} = 0 THEN sign({x}) * {_ENDLESS}"
        f" WHEN abs({y}) < 1 AND abs({x}) > {_MOST} * abs({y})"
        f" THEN sign({x}) * sign({y}) * {_ENDLESS}"
        f" WHEN abs({y}) > 1 AND abs({x}) < {_LEAST} * abs({y}) THEN 0 ELSE {x} / {y} END"
    )


# Operands stand in a select of their own, so that nested ones are not written several times.
_OPERANDS = (
    "(SELECT CAST({0} AS DOUBLE PRECISION) AS x, CAST({1} AS DOUBLE PRECISION) AS y OFFSET 0) AS o"
)
# By the whole part of the quotient: neither database has a remainder of doubles.
_PARTS = f"x, y, trunc({_quotient('x', 'y')}) AS q"
_WHOLE = f"(SELECT {_PARTS} FROM {_OPERANDS} OFFSET 0) AS o"  # nosec B608  # fixed text
_TAKEN = f"(SELECT x, {_product('q', 'y')} AS m FROM {_WHOLE} OFFSET 0) AS o"  # nosec B608  # fixed text
# Each operator as SQLite and as PostgreSQL has it.
_DOUBLES = {
    "add": ("({0} + {1})", _sum("x", "+", "y"), _OPERANDS),
    "sub": ("({0} - {1})", _sum("x", "-", "y"), _OPERANDS),
    "mul": ("({0} * {1})", _product("x", "y"), _OPERANDS),
    "div": ("odata_quotient({0}, {1})", _quotient("x", "y"), _OPERANDS),
    "mod": ("odata_remainder({0}, {1})", _sum("x", "-", "m"), _TAKEN),
}


def _of_doubles(op: str, left: ColumnElement[float], right: ColumnElement[float]) -> Any:
    """What is no number (NaN) is null: SQLite keeps none."""
    sqlite, value, operands = _DOUBLES["div" if op == "divby" else op]
    postgresql = f"(SELECT NULLIF({value}, {_NO_NUMBER}) FROM {operands})"  # nosec B608  # fixed text
    return DialectSql(Double(), sqlite, postgresql, left, right)


Made = tuple[ColumnElement[Any], edm.EdmType]
# In SQLite a call has the collation of its arguments, here that of exact decimals.
_AS_TEXT = "COLLATE BINARY"


def _moved(kind: str, sign: int) -> Callable[[Any, Any], Made]:
    """An instant or a date, moved by a duration."""
    sql_kind, type_, template = _MOVED[kind]
    sqlite = f"(odata_add_to_{kind}({{0}}, {'-' if sign < 0 else ''}{{1}}) {_AS_TEXT})"
    postgresql = _within_time(template, sign)
    return lambda left, right: (DialectSql(sql_kind, sqlite, postgresql, left, right), type_)


_MOVED: dict[str, tuple[TypeEngine[Any], edm.EdmType, str]] = {
    "instant": (
        UtcDateTime(), edm.DATETIME,
        "date_trunc('milliseconds', {0} ± {1} * INTERVAL '1 microsecond')",
    ),
    "date": (Date(), edm.DATE, "CAST({0} ± {1} * INTERVAL '1 microsecond' AS DATE)"),
}  # fmt: skip


def _within_time(moved: str, sign: int) -> str:
    """``moved``, or null beyond the years that have four digits: SQLite's text cannot hold them.

    The bounds are microseconds since 1970; ``±`` stands for the sign.
    """
    at = "extract(epoch FROM {0}) * 1000000 ± {1}"
    within = f"{at} BETWEEN -62135596800000000 AND 253402300799999999"
    return f"(CASE WHEN {within} THEN {moved} END)".replace("±", "-" if sign < 0 else "+")


def _durations(op: str) -> Callable[[Any, Any], Made]:
    return lambda left, right: (integer_operation(op, left, right), edm.DURATION)


def _scaled_duration(op: str) -> Callable[[Any, Any], Made]:
    """A duration times or divided by a number, to the microsecond."""

    def make(left: Any, right: Any) -> Made:
        exact = decimal_operation("round", decimal_operation(op, left, right))
        sql = DialectSql(BigInteger(), "odata_whole({0})", "CAST({0} AS BIGINT)", exact)
        return sql, edm.DURATION

    return make


def _swapped(make: Callable[[Any, Any], Made]) -> Callable[[Any, Any], Made]:
    return lambda left, right: make(right, left)


def _between(sqlite: str, postgresql: str) -> Callable[[Any, Any], Made]:
    return lambda later, earlier: (
        DialectSql(BigInteger(), sqlite, postgresql, later, earlier),
        edm.DURATION,
    )


_INSTANTS_APART = _between(
    "odata_between_instants({0}, {1})",
    "CAST(extract(epoch FROM {0} - {1}) * 1000000 AS BIGINT)",
)
_DATES_APART = _between(
    "odata_between_dates({0}, {1})", "(CAST({0} - {1} AS BIGINT) * 86400000000)"
)
_TIMES: dict[tuple[str, str, str], Callable[[Any, Any], Made]] = {
    **{(kind, "add", "duration"): _moved(kind, 1) for kind in _MOVED},
    **{(kind, "sub", "duration"): _moved(kind, -1) for kind in _MOVED},
    **{("duration", "add", kind): _swapped(_moved(kind, 1)) for kind in _MOVED},
    ("instant", "sub", "instant"): _INSTANTS_APART,
    ("date", "sub", "date"): _DATES_APART,
    ("duration", "add", "duration"): _durations("add"),
    ("duration", "sub", "duration"): _durations("sub"),
    **{
        ("duration", op, kind): _scaled_duration("div" if op == "divby" else op)
        for op in ("mul", "div", "divby")
        for kind in ("integer", "decimal")
    },
    **{
        (kind, "mul", "duration"): _swapped(_scaled_duration("mul"))
        for kind in ("integer", "decimal")
    },
}
