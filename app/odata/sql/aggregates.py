"""Sums and averages of doubles, and percentiles, alike on both databases (docs/adr/0015).

A percentile of n values in their order is the one at (n - 1) * p / 100, between two if need be. It
is interpolated as spreadsheets and ``percentile_cont`` do, but exactly: the latter computes with
floating point numbers whatever it is given.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Double, func

from app.db.types import ExactDecimal
from app.odata.sql.decimals import DecimalNumber
from app.odata.sql.dialect_sql import DialectSql, spell
from app.odata.sql.sqlite_numbers import WIDE, plain

_Over = Callable[[Any], ColumnElement[Any]]

# PostgreSQL refuses a sum that leaves the range, be it on the way, and a product that is too small.
# So greater numbers than these, of which there are never enough, are summed in units of 2**100.
_GREAT = "1e288"
_UNIT = "1125899906842624.0"  # its root
_NO_UNITS = "1e-250"  # too few to count beside a great number
_MOST_UNITS = repr(sys.float_info.max / 2**100)
_ENDLESS, _NO_NUMBER = (f"CAST('{text}' AS DOUBLE PRECISION)" for text in ("INF", "NaN"))

_IN_UNITS = f"CASE WHEN abs({{0}}) > {_NO_UNITS} THEN {{0}} / {_UNIT} / {_UNIT} END"
# Of the sum, the sum in units, and the greatest number.
_ON_SQLITE = f"(CASE WHEN {{2}} < {_GREAT} THEN {{0}} ELSE {{1}} * {_UNIT} * {_UNIT} END)"
_ON_POSTGRESQL = (
    f"NULLIF(CASE WHEN {{2}} < {_GREAT} THEN {{0}}"
    f" WHEN abs({{1}}) > {_MOST_UNITS} THEN sign({{1}}) * {_ENDLESS}"
    f" ELSE {{1}} * {_UNIT} * {_UNIT} END, {_NO_NUMBER})"
)
# Of a sum and the number of its values; PostgreSQL refuses what is too small.
_MEAN = "CASE WHEN abs({0}) < CAST(5e-324 AS DOUBLE PRECISION) * {1} THEN 0.0 ELSE {0} / {1} END"


def double_sum(value: ColumnElement[Any], over: _Over = lambda total: total) -> ColumnElement[Any]:
    """The sum of doubles; null of none, and where it is no number.

    Args:
        over: makes of an aggregate what is wanted of it, such as a running one.
    """
    plain, units, greatest = _parts(value)
    return DialectSql(
        Double(), _ON_SQLITE, _ON_POSTGRESQL, over(plain), over(units), over(greatest)
    )  # fmt: skip


def double_average(value: ColumnElement[Any]) -> ColumnElement[Any]:
    """The average of doubles, which is as far from the ends of the range as they are."""
    plain, units, greatest = _parts(value)
    number = func.count(value, type_=BigInteger())
    means = [spell(Double(), f"({_MEAN})", total, number) for total in (plain, units)]
    return DialectSql(Double(), _ON_SQLITE, _ON_POSTGRESQL, *means, greatest)


def _parts(value: ColumnElement[Any]) -> tuple[Any, Any, Any]:
    """The sum of numbers that are not great, the sum of all in units, and the greatest."""
    double = DialectSql(Double(), "CAST({0} AS REAL)", "CAST({0} AS DOUBLE PRECISION)", value)
    safe = spell(Double(), f"CASE WHEN abs({{0}}) < {_GREAT} THEN {{0}} END", double)
    units = spell(Double(), _IN_UNITS, double)
    return (
        func.sum(safe, type_=Double()),
        func.sum(units, type_=Double()),
        func.max(func.abs(double), type_=Double()),
    )


# A part of a double below this is none: PostgreSQL refuses what is too small to be kept.
_LEAST = 1e-290

_VALUES = "(array_agg({{0}} ORDER BY {{0}}) FILTER (WHERE {{0}} IS NOT NULL))"
_PLACE = "((count({{0}}) - 1) * {percent})"
_LOWER = f"{_VALUES}[CAST({_PLACE} / 100 + 1 AS INTEGER)]"
_UPPER = f"{_VALUES}[CAST(({_PLACE} + 99) / 100 + 1 AS INTEGER)]"
_REST = f"({_PLACE} % 100)"
_DECIMAL = f"trim_scale({_LOWER} + CAST({_UPPER} - {_LOWER} AS NUMERIC) * {_REST} * 0.01)"
_SHARE = f"(CAST({_REST} AS DOUBLE PRECISION) / 100)"


def _part(of: str, share: str) -> str:
    return f"CASE WHEN abs({of}) < {_LEAST} THEN 0 ELSE {of} * {share} END"


_DOUBLE = (
    f"NULLIF(CASE WHEN {_LOWER} = {_UPPER} THEN {_LOWER}"
    f" ELSE {_part(_LOWER, f'(1 - {_SHARE})')} + {_part(_UPPER, _SHARE)} END,"
    " CAST('NaN' AS DOUBLE PRECISION))"
)


def decimal_percentile(value: ColumnElement[Any], percent: int) -> ColumnElement[Any]:
    """Of whole numbers or decimals; null of none.

    Args:
        percent: from 1 to 99; 50 is the median.
    """
    scale = value.type.scale if isinstance(value.type, ExactDecimal) else 0
    return DialectSql(
        DecimalNumber(),
        f"(odata_percentile({{0}}, {percent}, {scale}) COLLATE odata_decimal)",
        _DECIMAL.format(percent=percent),
        value,
    )


def double_percentile(value: ColumnElement[Any], percent: int) -> ColumnElement[Any]:
    """Of doubles; null of none, and where it is no number."""
    return DialectSql(
        Double(), f"odata_percentile({{0}}, {percent}, 0)", _DOUBLE.format(percent=percent), value
    )


class Percentile:
    """The aggregate ``odata_percentile(value, percent, scale)`` of SQLite.

    Values are scaled integers, texts of decimals, or doubles; the answer is a text or a double.
    """

    def __init__(self) -> None:
        self._values: list[Any] = []
        self._percent = self._scale = 0

    def step(self, value: Any, percent: int, scale: int, /) -> None:
        if value is not None:
            self._values.append(Decimal(value) if isinstance(value, str) else value)
        self._percent, self._scale = percent, scale

    def finalize(self) -> str | float | None:
        if not self._values:
            return None
        values = sorted(self._values)
        index, rest = divmod((len(values) - 1) * self._percent, 100)
        lower, upper = values[index], values[index + (rest > 0)]
        if isinstance(lower, float):
            return _between(lower, upper, rest / 100)
        hundredfold = WIDE.add(
            WIDE.multiply(lower, 100), WIDE.multiply(WIDE.subtract(upper, lower), rest)
        )
        return plain(hundredfold.scaleb(-2 - self._scale, WIDE))


def _between(lower: float, upper: float, share: float) -> float | None:
    if lower == upper:
        return lower
    parts = ((lower, 1 - share), (upper, share))
    value = sum(0.0 if abs(end) < _LEAST else end * weight for end, weight in parts)
    return None if math.isnan(value) else value
