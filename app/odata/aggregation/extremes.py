"""``topcount`` and its five siblings: the rows with the greatest or the least values.

Source: Data Aggregation 3.3. Rows of equal value follow each other by their keys, so that the same
rows are found every time and on both databases.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import BigInteger, BindParameter, ColumnElement, false, func, or_
from sqlalchemy.sql.base import ReadOnlyColumnCollection

from app.db.types import ExactDecimal
from app.odata.aggregation.rowset import RowSet
from app.odata.binding.arithmetic import arithmetic
from app.odata.binding.comparison import compare
from app.odata.binding.ordering import order_keys
from app.odata.binding.values import NUMBERS, Constant, Typed
from app.odata.errors import QueryError, UnsupportedError
from app.odata.model import edm
from app.odata.sql.aggregates import double_sum
from app.odata.sql.dialect_sql import DialectSql
from app.odata.syntax.nodes import Literal, Member, OrderItem, TopBottom

_AMOUNTS = ("integer", "decimal", "double")
_ALL = 100  # percent
_HUNDRED = Literal(_ALL, "integer")
# Digits behind the point of a computed decimal that are summed up.
_SCALE = 6


def extremes(rows: RowSet, node: TopBottom) -> RowSet:
    """The rows that ``node`` leaves.

    Raises: QueryError, the amount is no number, or the values are none.
    """
    rows.order = (
        OrderItem(node.expression, node.kind.startswith("top"), offset=node.expression.offset),
    )
    if node.kind.endswith("count"):
        return rows.limited(limit=count_of(rows, node))
    amount = _amount(rows, node, *_AMOUNTS)
    decide = rows.context.parameters.decide
    if node.kind.endswith("percent") and not decide(amount, lambda value: 0 < value <= _ALL):
        message = f"{node.kind} takes a number above 0 and up to {_ALL} first"
        raise QueryError(message, node.amount.offset)
    if not decide(amount, lambda value: value == value):
        raise QueryError(f"{node.kind} takes a number first", node.amount.offset)
    return _reaching(rows, node, amount)


def count_of(rows: RowSet, node: TopBottom) -> BindParameter[int]:
    """How many rows ``topcount`` leaves."""

    def checked(count: int) -> int:
        if count < 1:
            raise QueryError(f"{node.kind} takes a whole number from 1 on")
        return count

    amount = _amount(rows, node, "integer")
    return rows.context.parameters.bind(amount, BigInteger, checked)


def _amount(rows: RowSet, node: TopBottom, *kinds: str) -> Literal:
    """The first parameter, which is one value for all rows (Data Aggregation 3.3.1)."""
    amount = rows.translator().unaliased(node.amount)
    kind = "a whole number" if kinds == ("integer",) else "a number"
    if not isinstance(amount, Literal | Member):
        message = f"{node.kind} is offered with {kind} written out first"
        raise UnsupportedError(message, node.amount.offset)
    if not isinstance(amount, Literal) or amount.kind not in kinds:
        raise QueryError(f"{node.kind} takes {kind} first", node.amount.offset)
    return amount


def _reaching(rows: RowSet, node: TopBottom, amount: Literal) -> RowSet:
    """The fewest rows, from the first on, whose values add up to the amount; rows without a
    value add nothing.
    """
    translator = rows.translator()
    value = translator.typed(node.expression)
    if value.type.family not in NUMBERS:
        message = f"{node.kind} does not take {value.type.name}"
        raise QueryError(message, node.expression.offset)
    if not rows.context.parameters.decide(amount, lambda value: value > 0):
        rows.conditions.append(false())
        return rows
    if value.nullable:
        rows.conditions.append(value.sql.is_not(None))
    order = [key.clause() for key in order_keys(translator, rows.order)]
    type_, before, total = _sums(value, order)

    def is_within(figures: ReadOnlyColumnCollection[str, Any]) -> ColumnElement[bool]:
        sum_before = Typed(figures.before, type_)
        goal: Typed | Constant = Constant(amount)
        if node.kind.endswith("percent"):
            sum_before = arithmetic("mul", sum_before, translator.typed(_HUNDRED), node.offset)
            whole = Typed(figures.total, type_)
            goal = arithmetic("mul", whole, translator.typed(amount), node.offset)
        parameters = rows.context.parameters
        less = compare("lt", sum_before, goal, parameters, exact=False, offset=node.offset)
        return or_(figures.before.is_(None), less)

    sums = [before.label("before"), total.label("total")]
    return rows.narrowed(sums, is_within, node.kind, node.offset)


def _sums(
    value: Typed, order: list[ColumnElement[Any]]
) -> tuple[edm.EdmType, ColumnElement[Any], ColumnElement[Any]]:
    """The type of a sum, that of the values before a row in the order, and that of all values."""
    sql = value.sql

    def before(total: Any) -> ColumnElement[Any]:
        return total.over(order_by=order, rows=(None, -1))  # type: ignore[no-any-return]

    def whole(total: Any) -> ColumnElement[Any]:
        return total.over()  # type: ignore[no-any-return]

    if value.type.family == "double":
        return edm.DOUBLE, double_sum(sql, before), double_sum(sql, whole)
    if value.type.family == "integer":
        total = DialectSql(BigInteger(), "sum({0})", "sum(CAST({0} AS BIGINT))", sql)
        return edm.INT64, before(total), whole(total)
    column = sql if isinstance(sql.type, ExactDecimal) else _as_column(sql)
    assert isinstance(column.type, ExactDecimal)
    decimals = func.sum(column, type_=column.type.widened(18))
    return edm.DECIMAL, before(decimals), whole(decimals)


def _as_column(number: ColumnElement[Any]) -> ColumnElement[Any]:
    """A computed decimal in the form of a column, ``_SCALE`` digits behind the point.

    SQLite sums those by itself; a function of ours cannot be the sum of a window.
    """
    return DialectSql(
        ExactDecimal(18, _SCALE),
        f"CAST(odata_round(odata_multiply({{0}}, '{10**_SCALE}')) AS INTEGER)",
        f"round({{0}}, {_SCALE})",
        number,
    )
