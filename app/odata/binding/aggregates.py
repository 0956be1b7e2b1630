"""Many values made one: ``sum``, ``min``, ``max``, ``average``, counts (Data Aggregation 3.2.1).

Custom methods (3.2.1.3) have names of the model's namespace: ``median``, ``percentile1`` to
``percentile99``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import chain
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    FromClause,
    Select,
    and_,
    case,
    distinct,
    func,
    literal,
    null,
    select,
)

from app.db.types import ExactDecimal
from app.odata.binding.collections import Opened, count_rows, opened
from app.odata.binding.type_coercion import as_decimal
from app.odata.binding.values import (
    NUMBERS,
    Bound,
    Dynamic,
    Row,
    Rows,
    Translating,
    Typed,
)
from app.odata.errors import QueryError, UnsupportedError
from app.odata.model import edm
from app.odata.sql.aggregates import (
    decimal_percentile,
    double_average,
    double_percentile,
    double_sum,
)
from app.odata.sql.decimals import (
    DecimalNumber,
    Product,
    decimal_operation,
    where_true,
    with_collation,
)
from app.odata.sql.dialect_sql import DialectSql
from app.odata.syntax.nodes import AggregateCall, AggregateFrom, AggregateItem, Count, Member, Node
from app.odata.syntax.parser import Parser

_ORDERED = (*NUMBERS, "text", "date", "instant", "time", "duration", "enum")


def aggregated(
    method: str, value: Typed, offset: int, *, where: ColumnElement[bool] | None = None
) -> Typed:
    """``value with method`` over the rows of a group; nulls do not count.

    Args:
        where: only rows that fulfil it count.
    Raises: QueryError, the method does not take values of this type; UnsupportedError.
    """
    kind = value.type.family
    if where is not None:
        value = Typed(where_true(where, value.sql), value.type)
    if method == "countdistinct" and kind != "other":
        return Typed(func.count(distinct(value.sql)), edm.INT64, nullable=False)
    if method in ("min", "max"):
        if kind not in _ORDERED:
            raise QueryError(f"{method} does not take {value.type.name}", offset)
        aggregate = getattr(func, method)(value.sql, type_=value.sql.type)
        return Typed(with_collation(aggregate), value.type)
    if kind not in NUMBERS:
        raise QueryError(f"{method} does not take {value.type.name}", offset)
    if method in ("sum", "average"):
        return _sum(value, kind) if method == "sum" else _average(value, kind)
    percent = _percent_of(method, offset)
    if kind == "double":
        return Typed(double_percentile(value.sql, percent), edm.DOUBLE)
    return Typed(decimal_percentile(value.sql, percent), edm.DECIMAL)


def counted(where: ColumnElement[bool] | None = None) -> Typed:
    """``$count``: how many rows there are."""
    count = func.count() if where is None else func.count(case((where, 1)))
    return Typed(count, edm.INT64, nullable=False)


def _sum(value: Typed, kind: str) -> Typed:
    if kind == "integer":
        total = DialectSql(
            BigInteger(), "sum({0})", "CAST(sum(CAST({0} AS BIGINT)) AS BIGINT)", value.sql
        )
        return Typed(total, edm.INT64)
    if kind == "double":
        return Typed(double_sum(value.sql), edm.DOUBLE)
    if isinstance(value.sql.type, ExactDecimal):
        # A sum of scaled integers is one itself, of any number of digits that fit.
        return Typed(func.sum(value.sql, type_=value.sql.type.widened(18)), edm.DECIMAL)
    if isinstance(value.sql, Product):
        return Typed(value.sql.sum(), edm.DECIMAL)
    sum_ = DialectSql(
        DecimalNumber(), "(odata_sum({0}) COLLATE odata_decimal)", "sum({0})", value.sql
    )
    return Typed(sum_, edm.DECIMAL)


def _average(value: Typed, kind: str) -> Typed:
    """The quotient of sum and number of values, rounded as every quotient is."""
    if kind == "double":
        return Typed(double_average(value.sql), edm.DOUBLE)
    total = as_decimal(_sum(value, kind))
    number = DialectSql(BigInteger(), "count({0})", "count({0})", value.sql)
    return Typed(decimal_operation("div", total.sql, number), edm.DECIMAL)


def custom_methods(container: edm.EntityContainer) -> Iterator[str]:
    """The qualified names of the methods beside those of the standard."""
    yield f"{container.namespace}.median"
    for percent in range(1, 100):
        yield f"{container.namespace}.percentile{percent}"


def _own_name(translator: Translating, method: str, offset: int) -> str:
    """The name of a method, a custom one without its namespace.

    Raises: UnsupportedError, it is of another namespace.
    """
    namespace, dot, name = method.rpartition(".")
    if not dot:
        return method
    if namespace != translator.context.container.namespace:
        raise UnsupportedError(f"the method {method} is not offered", offset)
    _percent_of(name, offset)
    return name


def _percent_of(method: str, offset: int) -> int:
    """How many of a hundred values lie below that of a custom method: 50 for ``median``.

    Raises: UnsupportedError, it is another.
    """
    if method == "median":
        return 50
    percent = method.removeprefix("percentile")
    if percent == method or not percent.isdecimal() or not 0 < int(percent) < 100:
        raise UnsupportedError(
            f"the method {method} is not offered; median and percentile1 to percentile99 are",
            offset,
        )
    return int(percent)


def aggregate_item(
    translator: Translating, item: AggregateItem, *, where: ColumnElement[bool] | None = None
) -> Typed:
    """``expression with method``, or ``$count``, over the rows of a group.

    A path through a collection is aggregated for each row first: a sum of sums is the sum of all.
    """
    expression = item.expression
    if isinstance(expression, Count):
        if expression.source is None:
            return counted(where)
        each = count_rows(translator, expression)
        total = aggregated("sum", each, item.offset, where=where)
        return Typed(func.coalesce(total.sql, 0, type_=BigInteger()), edm.INT64, nullable=False)
    source = _collection(translator, expression)
    if item.method is None:
        return custom_aggregate(translator, source, expression, item.offset, where=where)
    method = _own_name(translator, item.method, item.offset)
    if source is None:
        if method != "countdistinct" and isinstance(translator.bind(expression), Dynamic):
            message = f"{method} needs a type: cast(...,Edm.Decimal) with {method}"
            raise QueryError(message, expression.offset)
        return aggregated(method, translator.typed(expression), item.offset, where=where)
    if method not in ("sum", "min", "max"):
        raise UnsupportedError(
            f"{item.method} is not offered on what lies behind a collection", item.offset
        )
    assert isinstance(expression, Member)
    inner = replace(item, expression=Member(None, expression.name, offset=expression.offset))
    return aggregated(method, _over(translator, source, inner), item.offset, where=where)


def custom_aggregate(
    translator: Translating, source: Rows | None, named: Node, offset: int, *,
    where: ColumnElement[bool] | None = None,
) -> Typed:  # fmt: skip
    """A figure that the model defines (``edm.CustomAggregate``) over the rows of a group.

    Args:
        source: the collection of each row that it is of, if it is not of the rows themselves.
    Raises: QueryError, the model has no such figure; UnsupportedError, of amounts in a collection.
    """
    assert isinstance(named, Member)
    if source is not None:
        figure = source.type_in(translator.context.container).aggregates.get(named.name)
        if figure is not None and figure.currency is not None:
            # A sum of the figures of several rows would not know their currencies any more.
            raise UnsupportedError(f"{named.name} is not offered behind a collection", offset)
        inner = AggregateItem(Member(None, named.name, offset=named.offset), offset=offset)
        return aggregated("sum", _over(translator, source, inner), offset, where=where)
    if named.base is not None:
        row = translator.bind(named.base)
        if not isinstance(row, Row):
            raise QueryError("say how to aggregate: 'with sum', 'with max' ...", offset)
        translator = translator.within(row.scope)
    known = translator.scope.type.aggregates
    figure = known.get(named.name)
    if figure is None:
        names = f", or name one of: {', '.join(known)}" if known else ""
        raise QueryError(f"say how to aggregate: 'with sum', 'with max' ...{names}", offset)
    if figure.where is not None:
        condition = translator.condition(_definition(figure.where))
        where = condition if where is None else and_(where, condition)
    if figure.value is None:
        return counted(where)
    total = aggregated("sum", translator.typed(_definition(figure.value)), offset, where=where)
    sql: ColumnElement[Any] = func.coalesce(total.sql, literal(0, total.sql.type))
    if figure.currency is not None:
        currency = translator.typed(_definition(figure.currency))
        first, last = (
            aggregated(method, currency, offset, where=where).sql for method in ("min", "max")
        )
        sql = case((first != last, null()), else_=sql)
    sql.type = total.sql.type
    return Typed(with_collation(sql), total.type)


@cache
def _definition(text: str) -> Node:
    """An expression of the model; its literals are its own, never those of a query."""
    parser = Parser(text, lifts_literals=False)
    return parser.whole(parser.parse_expression)


def aggregate_call(translator: Translating, node: AggregateCall) -> Typed:
    """``source/aggregate(total with sum)`` as a value of a row (Data Aggregation 4.3)."""
    return _over(translator, translator.bind(node.source), node.item)


def _over(translator: Translating, source: Bound, item: AggregateItem) -> Typed:
    rows = opened(translator, source, item.offset)
    if not isinstance(rows.member, Row):
        raise QueryError("only a collection of entities can be aggregated", item.offset)
    inner = translator.within(rows.member.scope)
    if item.origins:
        return _in_steps(inner, rows, item)
    value = aggregate_item(inner, item)
    typed = with_collation(rows.select(value.sql).scalar_subquery())
    return Typed(typed, value.type, value.nullable)


def _in_steps(translator: Translating, rows: Opened, item: AggregateItem) -> Typed:
    """``A from p with g``: A of each group of ``p``, then g of these (Data Aggregation 3.2.1.5)."""
    value = aggregate_item(translator, replace(item, origins=()))
    keys = {
        key: translator.typed(key) for key in chain(*(source.properties for source in item.origins))
    }
    read: Callable[..., Select[Any]] = rows.select
    for index, origin in enumerate(item.origins):
        left = dict.fromkeys(chain(*(source.properties for source in item.origins[index:])))
        groups = {key: keys[key].sql.label(f"k{at}") for at, key in enumerate(left)}
        step = read(*groups.values(), value.sql.label("step"))
        step_rows = step.group_by(*(keys[key].sql for key in left)).subquery()
        keys = {
            key: replace(keys[key], sql=step_rows.c[group.name]) for key, group in groups.items()
        }
        method = _own_name(translator, method_from(origin), item.offset)
        value = aggregated(
            method, replace(value, sql=with_collation(step_rows.c.step)), item.offset
        )
        read = _reader(step_rows)
    return Typed(with_collation(read(value.sql).scalar_subquery()), value.type)


def _reader(source: FromClause) -> Callable[..., Select[Any]]:
    return lambda *columns: select(*columns).select_from(source).correlate_except(source)


def method_from(origin: AggregateFrom) -> str:
    """How the values of a step are put together.

    Raises: QueryError, it does not say.
    """
    if origin.method is None:
        raise QueryError("say how to aggregate: 'with average' ...", origin.offset)
    return origin.method


def _collection(translator: Translating, expression: Node) -> Rows | None:
    """The collection that the last step but one of a path leads to."""
    if not isinstance(expression, Member) or expression.base is None:
        return None
    base = translator.bind(expression.base)
    return base if isinstance(base, Rows) else None
