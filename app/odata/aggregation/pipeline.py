"""The transformations of ``$apply``, in the order written."""

from __future__ import annotations

from sqlalchemy import BigInteger, ColumnElement

from app.odata.aggregation.grouping import group, grouping_sets, total
from app.odata.aggregation.joining import join
from app.odata.aggregation.rowset import RowSet, copies, flat, union
from app.odata.apply_nodes import (
    Aggregate,
    Apply,
    ComputeTransformation,
    Concat,
    FilterTransformation,
    GroupBy,
    Identity,
    Join,
    OrderByTransformation,
    SearchTransformation,
    SkipTransformation,
    TopBottom,
    TopTransformation,
    Transformation,
)
from app.odata.binding.searching import search_condition
from app.odata.errors import QueryError, UnsupportedError
from app.odata.nodes import Literal, OrderItem
from app.odata.reading.computing import compute


def transformed(rows: RowSet, apply: Apply) -> RowSet:
    """What the transformations make of ``rows``.

    Raises: QueryError; UnsupportedError, a transformation is not offered.
    """
    for node in apply.transformations:
        rows = _apply(rows, node)
    return flat(rows)


def _apply(rows: RowSet, node: Transformation) -> RowSet:
    match node:
        case Identity():
            return rows
        case FilterTransformation(predicate=predicate):
            rows.conditions.append(rows.translator().condition(predicate))
            return rows
        case SearchTransformation(search=search):
            rows.conditions.append(search_condition(rows.scope, search, node.offset))
            return rows
        case ComputeTransformation(items=items):
            compute(rows.translator(), items)
            return rows
        case OrderByTransformation(items=order):
            rows.order = order
            return rows
        case TopTransformation(count=count):
            return rows.limited(limit=_number(rows, count))
        case SkipTransformation(count=count):
            return rows.limited(offset=_number(rows, count))
        case TopBottom():
            return _extreme(rows, node)
        case Aggregate(items=aggregates):
            return total(rows, aggregates)
        case GroupBy():
            return _group_by(rows, node)
        case Join():
            return join(rows, node)
        case Concat(sequences=sequences):
            parts = [
                transformed(copy, sequence)
                for copy, sequence in zip(copies(rows, len(sequences)), sequences, strict=True)
            ]
            return union(rows.context, rows.scope.type.name, parts)
    raise UnsupportedError("this transformation is not offered", node.offset)


def _group_by(rows: RowSet, node: GroupBy) -> RowSet:
    sets = grouping_sets(node)
    if len(sets) == 1:
        return group(rows, sets[0], node)
    parts = [
        group(copy, keys, node) for copy, keys in zip(copies(rows, len(sets)), sets, strict=True)
    ]
    return union(rows.context, rows.scope.type.name, parts)


def _extreme(rows: RowSet, node: TopBottom) -> RowSet:
    """``topcount`` and ``bottomcount``: the rows with the greatest or least values."""
    if node.kind not in ("topcount", "bottomcount"):
        raise UnsupportedError(f"{node.kind} is not offered", node.offset)
    if not isinstance(node.amount, Literal) or node.amount.kind != "integer":
        raise QueryError(f"{node.kind} takes a whole number first", node.amount.offset)
    descending = node.kind == "topcount"
    rows.order = (OrderItem(node.expression, descending, offset=node.expression.offset),)
    return rows.limited(limit=_number(rows, node.amount))


def _number(rows: RowSet, literal: Literal) -> ColumnElement[int]:
    return rows.context.parameters.bind(literal, BigInteger)
