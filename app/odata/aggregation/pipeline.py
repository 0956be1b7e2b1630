"""The transformations of ``$apply``, in the order written."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import BigInteger, ColumnElement

from app.odata.aggregation.extremes import extremes
from app.odata.aggregation.grouping import group, group_paths, grouping_sets, total
from app.odata.aggregation.joining import join
from app.odata.aggregation.nesting import add_nested, expand, nest
from app.odata.aggregation.rowset import RowSet, copies, flat, union
from app.odata.binding.search_condition import search_condition
from app.odata.errors import QueryError, UnsupportedError
from app.odata.syntax.apply_nodes import (
    Aggregate,
    Apply,
    ComputeTransformation,
    Concat,
    ExpandTransformation,
    FilterTransformation,
    FunctionTransformation,
    GroupBy,
    Identity,
    Join,
    Nest,
    OrderByTransformation,
    SearchTransformation,
    SkipTransformation,
    TopBottom,
    TopTransformation,
    Transformation,
    name_of,
)
from app.odata.syntax.nodes import Literal

# concat() and nest() inside one another: beyond this SQLite's parser takes no statement of it.
DEEPEST_CONCAT = 3


def transformed(rows: RowSet, apply: Apply, depth: int = 0) -> RowSet:
    """What the transformations make of ``rows``.

    Args:
        depth: how many ``concat`` and ``nest`` they stand in.
    Raises: QueryError; UnsupportedError, a transformation is not offered.
    """
    for node in apply.transformations:
        try:
            rows = _apply(rows, node, depth)
        except QueryError as error:
            if error.offset is None:
                error.offset = node.offset
            raise
    return flat(rows)


def _apply(rows: RowSet, node: Transformation, depth: int) -> RowSet:
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
            rows.translator().compute(items)
            return rows
        case OrderByTransformation(items=order):
            rows.order = order
            return rows
        case TopTransformation(count=count):
            return rows.limited(limit=_number(rows, count))
        case SkipTransformation(count=count):
            return rows.limited(offset=_number(rows, count))
        case TopBottom():
            return extremes(rows, node)
        case Aggregate(items=aggregates):
            return total(rows, aggregates)
        case GroupBy():
            return _group_by(rows, node)
        case Join():
            return join(rows, node)
        case Concat(sequences=sequences):
            return union(_parts(rows, node, sequences, depth))
        case ExpandTransformation():
            return expand(rows, node)
        case Nest(path=None, items=nests):
            return nest(rows, node, _parts(rows, node, [item.apply for item in nests], depth))
        case Nest():
            return add_nested(rows, node)
    if isinstance(node, FunctionTransformation):
        bare = node.name.removeprefix(f"{rows.context.container.namespace}.")
        if all(
            operation.is_action or operation.name != bare
            for operation in rows.context.container.operations
        ):
            raise QueryError(f"there is no function {node.name}", node.offset)
    raise UnsupportedError(f"{name_of(node)}() is not offered", node.offset)


def _parts(
    rows: RowSet, node: Transformation, sequences: Sequence[Apply], depth: int
) -> list[RowSet]:
    """The rows transformed in several ways, each for itself."""
    if depth == DEEPEST_CONCAT:
        message = f"{name_of(node)}() is nested more than {DEEPEST_CONCAT} levels deep"
        raise QueryError(message, node.offset)
    return [
        transformed(copy, sequence, depth + 1)
        for copy, sequence in zip(copies(rows, len(sequences)), sequences, strict=True)
    ]


def _group_by(rows: RowSet, node: GroupBy) -> RowSet:
    sets = grouping_sets(node)
    if len(sets) == 1:
        return group(rows, sets[0], node)
    parts = [
        group(copy, keys, node) for copy, keys in zip(copies(rows, len(sets)), sets, strict=True)
    ]
    return union(parts, by=group_paths(node))


def _number(rows: RowSet, literal: Literal) -> ColumnElement[int]:
    return rows.context.parameters.bind(literal, BigInteger)
