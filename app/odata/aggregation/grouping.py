"""Rows made few: ``aggregate`` and ``groupby`` (Data Aggregation 3.2.1, 3.2.3), ``topcount`` and
its five siblings (3.3).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from sqlalchemy import BigInteger, BindParameter, ColumnElement, and_, false, func, or_, true
from sqlalchemy.sql.base import ReadOnlyColumnCollection

from app.db.types import ExactDecimal
from app.odata.aggregation.rowset import MOST_PARTS, RowSet, derived_rowset
from app.odata.binding.aggregates import aggregate_item, method_from
from app.odata.binding.arithmetic import arithmetic
from app.odata.binding.comparison import compare
from app.odata.binding.derived import Output, is_entity, labelled, outputs_of
from app.odata.binding.ordering import order_keys
from app.odata.binding.search_condition import search_condition
from app.odata.binding.values import NUMBERS, Constant, Typed
from app.odata.errors import QueryError, UnsupportedError
from app.odata.model import edm
from app.odata.sql.aggregates import double_sum
from app.odata.sql.dialect_sql import DialectSql
from app.odata.syntax import nodes
from app.odata.syntax.nodes import Literal, Member, OrderItem, TopBottom

# The name of a value between two steps: no property and no alias is spelled like this.
_STEP = "$step"
_PLACE = "place"


def total(rows: RowSet, items: Sequence[nodes.AggregateItem]) -> RowSet:
    """``aggregate(...)``: one row of everything."""
    return _grouped(rows, [], _Inner(items=list(items)))


def group(rows: RowSet, keys: Sequence[nodes.Node], node: nodes.GroupBy) -> RowSet:
    """``groupby((keys),...)`` with one set of keys."""
    rows, inner = _inner(rows, keys, node.apply)
    if node.apply is None or inner.items:
        return _grouped(rows, keys, inner)
    # The rows of all groups, with all they have (Data Aggregation 3.2.3.2).
    rows = replace(rows, order=())
    return rows if inner.where is None else _with(rows, inner.where)


def grouping_sets(node: nodes.GroupBy) -> list[list[nodes.Node]]:
    """The sets of keys that a ``groupby`` with ``rollup`` stands for, the longest first."""
    sets: list[list[nodes.Node]] = [[]]
    for key in node.keys:
        if not isinstance(key, nodes.Rollup):
            sets = [[*before, key] for before in sets]
            continue
        if len(key.properties) == 1 and not key.with_total:
            raise UnsupportedError("there are no hierarchies to roll up", key.offset)
        least = 0 if key.with_total else 1
        lengths = range(len(key.properties), least - 1, -1)
        sets = [[*before, *key.properties[:length]] for before in sets for length in lengths]
    return sets


def group_paths(node: nodes.GroupBy) -> list[tuple[str, ...]]:
    """What the rows of ``groupby`` with ``rollup`` are sorted by, the totals before what they are
    of; nothing where they are the rows of groups and not made of them.
    """
    inside = node.apply.transformations if node.apply is not None else ()
    if inside and not any(isinstance(step, nodes.Aggregate) for step in inside):
        return []
    keys = chain(
        *(key.properties if isinstance(key, nodes.Rollup) else (key,) for key in node.keys)
    )
    return list(dict.fromkeys(tuple(_path(key)) for key in keys))


@dataclass
class _Inner:
    """What happens inside each group: rows that count, in an order, then the values made of them.

    ``where`` is kept apart from the conditions of the rows: a group of which nothing is left is
    there all the same.
    """

    where: ColumnElement[bool] | None = None
    order: tuple[nodes.OrderItem, ...] = ()
    items: list[nodes.AggregateItem] = field(default_factory=list)

    def narrow(self, condition: ColumnElement[bool]) -> None:
        """Count only rows that fulfil the condition, too."""
        self.where = condition if self.where is None else and_(self.where, condition)


def _inner(
    rows: RowSet, keys: Sequence[nodes.Node], apply: nodes.Apply | None
) -> tuple[RowSet, _Inner]:
    """What the transformations of a group make, and the rows that they are done with."""
    inner = _Inner(order=tuple(rows.order))
    for node in apply.transformations if apply is not None else ():
        if inner.items:
            raise UnsupportedError("nothing is offered after aggregate() in groupby", node.offset)
        match node:
            case nodes.OptionTransformation(option="filter", value=predicate):
                inner.narrow(rows.translator().condition(predicate))
            case nodes.OptionTransformation(option="search", value=search):
                inner.narrow(search_condition(rows.scope, search, node.offset))
            case nodes.OptionTransformation(option="compute", value=items):
                rows.translator().compute(items)
            case nodes.OptionTransformation(option="orderby", value=order):
                inner.order = (*order, *inner.order)
            case nodes.OptionTransformation(option="top" | "skip", value=count):
                limit = rows.context.parameters.bind(count, BigInteger)
                rows = _cut(rows, keys, inner, node, limit, is_rest=node.option == "skip")
            case nodes.TopBottom(kind="topcount" | "bottomcount", expression=value):
                inner.order = (
                    nodes.OrderItem(value, node.kind == "topcount", offset=value.offset),
                )
                rows = _cut(rows, keys, inner, node, count_of(rows, node))
                inner.order = ()
            case nodes.Aggregate(items=aggregates):
                inner.items = list(aggregates)
            case nodes.Identity():
                pass
            case _:
                raise UnsupportedError(
                    f"{nodes.name_of(node)}() is not offered inside groupby", node.offset
                )
    return rows, inner


def _cut(
    rows: RowSet, keys: Sequence[nodes.Node], inner: _Inner, node: nodes.Transformation,
    limit: ColumnElement[int], *, is_rest: bool = False,
) -> RowSet:  # fmt: skip
    """Keep of each group the first rows in its order, or those behind them."""
    counted = rows if inner.where is None else _with(rows, inner.where)
    groups = [_key(counted, key).sql for key in keys]
    order = [key.clause() for key in order_keys(counted.translator(), inner.order)]
    row_number = func.row_number(type_=BigInteger()).over(
        partition_by=groups, order_by=order or None
    )

    def is_kept(figures: ReadOnlyColumnCollection[str, Any]) -> ColumnElement[bool]:
        number: ColumnElement[int] = figures[_PLACE]
        return number > limit if is_rest else number <= limit

    numbered = [row_number.label(_PLACE)]
    narrowed = replace(counted, order=()).narrowed(
        numbered, is_kept, nodes.name_of(node), node.offset
    )
    if is_entity(rows.scope):
        (inner.where,) = narrowed.conditions
        return rows
    if inner.where is not None:
        message = f"{nodes.name_of(node)}() is not offered in groupby behind filter() of such rows"
        raise UnsupportedError(message, node.offset)
    return narrowed


def _with(rows: RowSet, condition: ColumnElement[bool]) -> RowSet:
    return replace(rows, conditions=[*rows.conditions, condition])


def _grouped(rows: RowSet, keys: Sequence[nodes.Node], inner: _Inner) -> RowSet:
    if any(item.origins for item in inner.items):
        return _in_steps(rows, keys, inner)
    groups = [_key(rows, key) for key in keys]
    for index, key in enumerate(keys):
        if any(groups[index].path == before.path for before in groups[:index]):
            name = "/".join(groups[index].path)
            raise QueryError(f"rows are grouped by {name} already", key.offset)
    outputs = [*groups, *_aggregates(rows, inner)]
    # A group without keys is there even where nothing is made of it.
    statement = rows.select(labelled(outputs) or [func.count().label("c0")])
    if groups:
        statement = statement.group_by(*(output.sql for output in groups))
        outputs[: len(groups)] = [replace(group, unique=True) for group in groups]
    return derived_rowset(rows, statement, outputs)


# --- from


def _in_steps(rows: RowSet, keys: Sequence[nodes.Node], inner: _Inner) -> RowSet:
    """Groups of which some values are made in steps: each joined to the group that it is of.

    Raises: QueryError, there are too many of them.
    """
    steps = [item for item in inner.items if item.origins]
    if rows.parts * len(steps) >= MOST_PARTS:
        raise QueryError(f"'from' makes more than {MOST_PARTS} parts of the rows", steps[0].offset)
    whole = [item for item in inner.items if not item.origins]
    groups = _grouped(rows, keys, replace(inner, items=whole))
    values = {output.path: output for output in outputs_of(groups.scope)}
    paths = list(dict.fromkeys(tuple(_path(key)) for key in keys))
    outputs = [replace(values[path], unique=True) for path in paths]
    for index, item in enumerate(steps):
        scope = _stepwise(rows, keys, item, inner.where).scope
        scope.optional = True
        own = {output.path: output for output in outputs_of(scope)}
        same = [values[path].sql.is_not_distinct_from(own[path].sql) for path in paths]
        groups.scope.attach(f"from/{index}", scope, and_(true(), *same))
        values[(item.alias or "",)] = replace(own[(item.alias or "",)], nullable=True)
    outputs += [values[(item.alias or "",)] for item in inner.items]
    return derived_rowset(groups, groups.select(labelled(outputs)), outputs)


def _stepwise(
    rows: RowSet,
    keys: Sequence[nodes.Node],
    item: nodes.AggregateItem,
    where: ColumnElement[bool] | None,
) -> RowSet:
    """``A from p with g as D``: ``groupby((p),aggregate(A as X))/aggregate(X with g as D)``."""
    rows = rows if where is None else _with(rows, where)
    step = replace(item, origins=(), alias=_STEP)
    for index, origin in enumerate(item.origins):
        finer = [property_ for later in item.origins[index:] for property_ in later.properties]
        distinct = {tuple(_path(key)): key for key in (*keys, *finer)}
        rows = _grouped(rows, list(distinct.values()), _Inner(items=[step]))
        step = nodes.AggregateItem(
            nodes.Member(None, _STEP), method_from(origin), _STEP, offset=item.offset
        )
    return _grouped(rows, keys, _Inner(items=[replace(step, alias=item.alias)]))


def _aggregates(rows: RowSet, inner: _Inner) -> Iterator[Output]:
    translator = rows.translator()
    for item in inner.items:
        value = aggregate_item(translator, item, where=inner.where)
        name = item.alias
        if name is None:  # a custom aggregate keeps its own
            assert isinstance(item.expression, nodes.Member)
            name = item.expression.name
        yield Output((name,), value.type, value.sql, value.nullable, offset=item.offset)


def _key(rows: RowSet, node: nodes.Node) -> Output:
    value = rows.translator().typed(node)
    if value.type.family == "other":
        raise QueryError(f"rows cannot be grouped by {value.type.name}", node.offset)
    return Output(tuple(_path(node)), value.type, value.sql, value.nullable, offset=node.offset)


def _path(node: nodes.Node) -> Iterator[str]:
    """Where the value stands in the result, where it has no derived type any more."""
    if not isinstance(node, nodes.Member | nodes.TypeCast):
        raise QueryError("rows are grouped by properties", node.offset)
    if node.base is not None:
        yield from _path(node.base)
    if isinstance(node, nodes.Member):
        yield node.name


# --- the rows with the greatest or the least values. Those of equal value follow each other by
# their keys, so that the same rows are found every time and on both databases.

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
