"""The transformations of ``$apply``, in the order written."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import BigInteger, ColumnElement, FromClause, and_, true

from app.odata.aggregation.extremes import extremes
from app.odata.aggregation.grouping import group, group_paths, grouping_sets, total
from app.odata.aggregation.nesting import add_nested, expand, nest
from app.odata.aggregation.rowset import RowSet, copies, flat, refuse_nested, union
from app.odata.binding.collections import element_table
from app.odata.binding.search_condition import search_condition
from app.odata.binding.translator import Translator
from app.odata.binding.values import Bound, Elements, Row, Rows, Scope
from app.odata.errors import QueryError, UnsupportedError
from app.odata.syntax import nodes

# Each multiplies the rows by the members of one more collection.
MOST_JOINS = 4
# concat() and nest() inside one another: beyond this SQLite's parser takes no statement of it.
DEEPEST_CONCAT = 3


def transformed(rows: RowSet, apply: nodes.Apply, depth: int = 0) -> RowSet:
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


def _apply(rows: RowSet, node: nodes.Transformation, depth: int) -> RowSet:
    match node:
        case nodes.Identity():
            return rows
        case nodes.OptionTransformation(option="filter", value=predicate):
            rows.conditions.append(rows.translator().condition(predicate))
            return rows
        case nodes.OptionTransformation(option="search", value=search):
            rows.conditions.append(search_condition(rows.scope, search, node.offset))
            return rows
        case nodes.OptionTransformation(option="compute", value=items):
            rows.translator().compute(items)
            return rows
        case nodes.OptionTransformation(option="orderby", value=order):
            rows.order = order
            return rows
        case nodes.OptionTransformation(option="top", value=count):
            return rows.limited(limit=_number(rows, count))
        case nodes.OptionTransformation(option="skip", value=count):
            return rows.limited(offset=_number(rows, count))
        case nodes.TopBottom():
            return extremes(rows, node)
        case nodes.Aggregate(items=aggregates):
            return total(rows, aggregates)
        case nodes.GroupBy():
            return _group_by(rows, node)
        case nodes.Join():
            return join(rows, node)
        case nodes.Concat(sequences=sequences):
            return union(_parts(rows, node, sequences, depth))
        case nodes.ExpandTransformation():
            return expand(rows, node)
        case nodes.Nest(path=None, items=nests):
            return nest(rows, node, _parts(rows, node, [item.apply for item in nests], depth))
        case nodes.Nest():
            return add_nested(rows, node)
    if isinstance(node, nodes.FunctionTransformation):
        bare = node.name.removeprefix(f"{rows.context.container.namespace}.")
        if all(
            operation.is_action or operation.name != bare
            for operation in rows.context.container.operations
        ):
            raise QueryError(f"there is no function {node.name}", node.offset)
    raise UnsupportedError(f"{nodes.name_of(node)}() is not offered", node.offset)


def _parts(
    rows: RowSet, node: nodes.Transformation, sequences: Sequence[nodes.Apply], depth: int
) -> list[RowSet]:
    """The rows transformed in several ways, each for itself."""
    if depth == DEEPEST_CONCAT:
        message = f"{nodes.name_of(node)}() is nested more than {DEEPEST_CONCAT} levels deep"
        raise QueryError(message, node.offset)
    return [
        transformed(copy, sequence, depth + 1)
        for copy, sequence in zip(copies(rows, len(sequences)), sequences, strict=True)
    ]


def _group_by(rows: RowSet, node: nodes.GroupBy) -> RowSet:
    sets = grouping_sets(node)
    if len(sets) == 1:
        return group(rows, sets[0], node)
    parts = [
        group(copy, keys, node) for copy, keys in zip(copies(rows, len(sets)), sets, strict=True)
    ]
    return union(parts, by=group_paths(node))


def _number(rows: RowSet, literal: nodes.Literal) -> ColumnElement[int]:
    return rows.context.parameters.bind(literal, BigInteger)


def join(rows: RowSet, node: nodes.Join) -> RowSet:
    """The rows, each once for every member of a collection of it; ``outerjoin`` keeps those
    whose collection is empty.

    Raises: QueryError, no collection, or the name is taken; ForbiddenError; UnsupportedError.
    """
    scope = rows.scope
    refuse_nested(rows, nodes.name_of(node), node.offset)
    if node.alias.lower() in scope.type.folded or node.alias in (*scope.computed, *scope.members):
        raise QueryError(f"{scope.type.name} has a property {node.alias} already", node.offset)
    if len(scope.members) == MOST_JOINS:
        raise QueryError(f"at most {MOST_JOINS} collections are joined to a row", node.offset)
    rows.context.multiplied = True
    member, source, condition = _opened(rows, rows.translator().bind(node.path), node)
    scope.repeat(node.alias, member, source, condition, outer=node.outer)
    return rows


def _opened(
    rows: RowSet, collection: Bound, node: nodes.Join
) -> tuple[Bound, FromClause, ColumnElement[bool]]:
    """A member, where it is selected from, and what ties it to its row."""
    predicates = list(_predicates(node.apply))
    if isinstance(collection, Elements) and not predicates and not collection.predicates:
        table, member = element_table(rows.context, collection, node.offset)
        return member, table, true()
    if not isinstance(collection, Rows):
        raise QueryError("join() takes a collection of the row", node.offset)
    if collection.owner is not rows.scope:
        raise UnsupportedError("only a collection of the row itself is joined", node.offset)
    navigation = collection.navigation
    target = Scope(rows.context, rows.context.container.target(navigation), optional=True)
    inner = Translator(rows.context, target)
    conditions = [navigation.join(rows.scope.columns, target.columns), *target.conditions]
    for predicate in (*collection.predicates, *predicates):
        conditions.append(inner.condition(predicate))
        if target.has_joins:
            raise UnsupportedError("a filter in join() looks at the member alone", node.offset)
    return Row(target), target.table, and_(*conditions)


def _predicates(apply: nodes.Apply | None) -> list[nodes.Node]:
    predicates: list[nodes.Node] = []
    for node in () if apply is None else apply.transformations:
        if isinstance(node, nodes.OptionTransformation) and node.option == "filter":
            predicates.append(node.value)
        elif not isinstance(node, nodes.Identity):
            raise UnsupportedError("only filter() is offered inside join()", node.offset)
    return predicates
