"""Sums and averages of doubles, INF beyond the range on both databases (docs/adr/0015)."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Double, func

from app.odata.sql.dialect_sql import DialectSql, spell

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
