"""Exact decimal numbers in SQL: NUMERIC on PostgreSQL, text with a collation of ours on SQLite.

A column (``ExactDecimal``) is compared as the integer that SQLite keeps, so that its index serves.
As soon as it is multiplied or divided it becomes decimal text, which Python's ``decimal`` computes
with and ``COLLATE odata_decimal`` orders by value (docs/adr/0015).
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from sqlalchemy import ColumnElement, Dialect, Numeric, Text, case
from sqlalchemy.types import TypeDecorator, TypeEngine

from app.db.types import ExactDecimal
from app.odata.sql.dialect_sql import DialectSql

# More digits than any sum of ours has: with fewer ``to_char`` writes signs of a number.
_WIDEST = 40


class DecimalNumber(TypeDecorator[Decimal]):
    """A decimal of any scale: NUMERIC, or its plain text on SQLite."""

    impl = Numeric
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        if dialect.name == "sqlite":
            return dialect.type_descriptor(Text())
        return dialect.type_descriptor(Numeric())

    def process_bind_param(self, value: Decimal | None, dialect: Dialect) -> Any:
        if value is None or dialect.name != "sqlite":
            return value
        return format(value, "f")


def scaled_text(column: ColumnElement[Any], scale: int) -> DialectSql:
    """The decimal text of a scaled integer (12345 of scale 2: ``123.45``); null stays null."""
    return DialectSql(Text(), _printed(scale), "{0}", column)


def _printed(scale: int, least: int | None = None) -> str:
    """The template of the text in which SQLite writes a scaled integer; null stays null."""
    conversions, fillers = scaled_digits(scale, least)
    return f"(CASE WHEN {{0}} IS NOT NULL THEN printf('{conversions}', {', '.join(fillers)}) END)"


def scaled_digits(scale: int, least: int | None = None) -> tuple[str, tuple[str, ...]]:
    """How ``printf`` writes a scaled integer: the conversions, and what fills them.

    Args:
        least: digits that are always written; the last one more only where it is not 0.
    """
    unit = 10**scale
    sign, whole = "iif({0} < 0, '-', '')", f"abs({{0}}) / {unit}"
    if least is None or least == scale:
        return f"%s%d.%0{scale}d", (sign, whole, f"abs({{0}}) % {unit}")
    rest = 10 ** (scale - least)
    last = f"iif({{0}} % {rest}, abs({{0}}) % {rest}, '')"
    return f"%s%d.%0{least}d%s", (sign, whole, f"abs({{0}}) % {unit} / {rest}", last)


def written_number(kind: ExactDecimal) -> str:
    """The template of the text in which PostgreSQL writes a number of a decimal column."""
    if kind.least == kind.scale:
        return "CAST({0} AS TEXT)"
    digits = "0" * kind.least + "9" * (kind.scale - kind.least)
    return f"to_char({{0}}, 'FM{'9' * _WIDEST}0.{digits}')"


def written_text(column: ColumnElement[Any], kind: ExactDecimal) -> DialectSql:
    """The text in which a decimal column is written; null stays null."""
    return DialectSql(Text(), _printed(kind.scale, kind.least), written_number(kind), column)


def decimal_number(number: ColumnElement[Any]) -> ColumnElement[Any]:
    """A decimal column or a whole number as a ``DecimalNumber``."""
    if isinstance(number.type, DecimalNumber):
        return number
    if isinstance(number.type, ExactDecimal):
        number = scaled_text(number, number.type.scale)
        return DialectSql(DecimalNumber(), "({0} COLLATE odata_decimal)", "{0}", number)
    return DialectSql(
        DecimalNumber(), "(CAST({0} AS TEXT) COLLATE odata_decimal)", "CAST({0} AS NUMERIC)", number
    )


def decimal_literal(parameter: ColumnElement[Any]) -> DialectSql:
    """A parameter of type ``DecimalNumber`` that compares by value."""
    return DialectSql(
        DecimalNumber(), "({0} COLLATE odata_decimal)", "CAST({0} AS NUMERIC)", parameter
    )


# The quotient has at most 12 digits behind the point, rounded half away from zero. Cutting exactly
# one digit later and rounding then gives the very same on both databases.
_QUOTIENT = (
    "trim_scale(round(div(CAST({0} AS NUMERIC) * 1e13, NULLIF({1}, 0)) * 0.0000000000001, 12))"
)
_COMMON = {
    "add": ("odata_add({0}, {1})", "({0} + {1})"),
    "sub": ("odata_subtract({0}, {1})", "({0} - {1})"),
    "mul": ("odata_multiply({0}, {1})", "({0} * {1})"),
    "neg": ("odata_negate({0})", "(- {0})"),
}
_SPELLINGS = {
    **_COMMON,
    "div": ("odata_divide({0}, {1})", _QUOTIENT),
    "mod": ("odata_modulo({0}, {1})", "mod({0}, NULLIF({1}, 0))"),
    "round": ("odata_round({0})", "round({0})"),
}


_NATIVE = {"add": "({0} + {1})", "sub": "({0} - {1})", "neg": "(- {0})"}
# So many digits that no sum of two of them leaves 64 bits.
_MOST_DIGITS = 18


def of_one_unit(*numbers: ColumnElement[Any]) -> ExactDecimal | None:
    """The type of scaled integers of one unit, the widest of theirs; None where they are not."""
    kinds = [number.type for number in numbers if isinstance(number.type, ExactDecimal)]
    if len(kinds) < len(numbers) or len({kind.scale for kind in kinds}) > 1:
        return None
    return max(kinds, key=lambda kind: kind.precision)


class Product(DialectSql):
    """A product of two scaled integers.

    Attributes:
        factors: the two, which a sum of such products multiplies as integers.
    """

    inherit_cache = False

    def __init__(self, *factors: ColumnElement[Any]) -> None:
        numbers = (decimal_number(factor) for factor in factors)
        sqlite, postgresql = _SPELLINGS["mul"]
        super().__init__(DecimalNumber(), f"({sqlite} COLLATE odata_decimal)", postgresql, *numbers)
        self.factors = factors

    def sum(self) -> DialectSql:
        """The exact sum over the rows of a group; null of none."""
        kinds = (factor.type for factor in self.factors)
        scale = sum(kind.scale for kind in kinds if isinstance(kind, ExactDecimal))
        sqlite = f"(odata_sum_of_products({{0}}, {{1}}, {scale}) COLLATE odata_decimal)"
        return DialectSql(DecimalNumber(), sqlite, "sum({0} * {1})", *self.factors)


def where_true(condition: ColumnElement[bool], number: ColumnElement[Any]) -> ColumnElement[Any]:
    """A value where a condition holds; null elsewhere."""
    if isinstance(number, Product):
        first, second = number.factors
        return Product(where_true(condition, first), second)
    chosen = case((condition, number))
    chosen.type = number.type
    return with_collation(chosen)


def with_collation(number: ColumnElement[Any]) -> ColumnElement[Any]:
    """A decimal with its collation, which an aggregate or a case has lost."""
    return decimal_literal(number) if isinstance(number.type, DecimalNumber) else number


def decimal_operation(name: str, *operands: ColumnElement[Any]) -> ColumnElement[Any]:
    """Arithmetic on decimals; dividing by zero gives null on both databases."""
    kind = of_one_unit(*operands)
    if kind is not None and name in _NATIVE and kind.precision <= _MOST_DIGITS:
        wider = kind.widened(kind.precision + len(operands) - 1)
        return DialectSql(wider, _NATIVE[name], _NATIVE[name], *operands)
    if name == "mul" and all(isinstance(operand.type, ExactDecimal) for operand in operands):
        return Product(*operands)
    sqlite, postgresql = _SPELLINGS[name]
    numbers = [decimal_number(operand) for operand in operands]
    return DialectSql(DecimalNumber(), f"({sqlite} COLLATE odata_decimal)", postgresql, *numbers)


def integer_operation(name: str, *operands: ColumnElement[Any]) -> DialectSql:
    """Arithmetic on whole numbers: ``div`` truncates; beyond Int64 it is an error."""
    sqlite, postgresql = _INTEGER_SPELLINGS[name]
    wide = [DialectSql(operand.type, "{0}", "CAST({0} AS BIGINT)", operand) for operand in operands]
    return DialectSql(operands[0].type, sqlite, postgresql, *wide)


_INTEGER_SPELLINGS = {
    **_COMMON,
    "div": ("odata_truncate({0}, {1})", "({0} / NULLIF({1}, 0))"),
    "mod": ("({0} % {1})", "mod({0}, NULLIF({1}, 0))"),
}
