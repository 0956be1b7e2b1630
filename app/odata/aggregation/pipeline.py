"""The transformations of ``$apply``, in the order written; those that join to rows, or put into
them, what lies behind them (Data Aggregation 3.5).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, FromClause, and_, true

from app.odata.aggregation.grouping import extremes, group, group_paths, grouping_sets, total
from app.odata.aggregation.rowset import MOST_PARTS, RowSet, copies, flat, refuse_nested, union
from app.odata.binding.collections import element_table, opened
from app.odata.binding.derived import type_of_one_row
from app.odata.binding.paths import navigation_of
from app.odata.binding.search_condition import search_condition
from app.odata.binding.translator import Translator
from app.odata.binding.values import Bound, Elements, Nested, Row, Rows, Scope
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
        named = rows.context.container.operations_called(node.name)
        if all(operation.is_action for operation in named):
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


# --- ``expand``, ``addnested`` and ``nest``: rows with collections in them

# Options are applied in this order, so transformations in another mean something else.
_STAGES = {"compute": 0, "filter": 0, "search": 0, "orderby": 1, "skip": 2, "top": 3}
_ALL = (None, None, None)
_REPEATED = ("compute", "filter", "expand")


def expand(rows: RowSet, node: nodes.ExpandTransformation) -> RowSet:
    """The rows with related entities; what follows finds only those that ``filter`` left.

    Raises: QueryError; UnsupportedError, the rows are no entities, or it does not fit.
    """
    item = _expand_item(node)
    return _add(rows, "", item, node, item.offset)


def add_nested(rows: RowSet, node: nodes.Nest) -> RowSet:
    """The rows with related entities under further names.

    Raises: as ``expand``; QueryError, a name is taken.
    """
    for nest_item in node.items:
        assert node.path is not None
        options = _options(nest_item.apply, "addnested")
        item = nodes.ExpandItem((_name(node.path),), options, offset=node.path.offset)
        _add(rows, nest_item.alias, item, node, nest_item.offset)
    return rows


def nest(rows: RowSet, node: nodes.Nest, row_sets: Sequence[RowSet]) -> RowSet:
    """One row that has each of ``row_sets`` as a collection.

    Raises: QueryError, a name occurs twice.
    """
    scope = Scope(rows.context, type_of_one_row(rows.scope.type.name))
    parts = sum(part.parts for part in row_sets)
    if parts > MOST_PARTS:
        raise QueryError(f"nest() makes more than {MOST_PARTS} parts of the rows", node.offset)
    for item, part in zip(node.items, row_sets, strict=True):
        if item.alias in scope.nested:
            raise QueryError(f"the name {item.alias} occurs twice in nest()", item.offset)
        scope.nested[item.alias] = Nested(part)
    return RowSet(scope, parts=parts)


def _add(
    rows: RowSet, alias: str, item: nodes.ExpandItem, node: nodes.Transformation, offset: int
) -> RowSet:
    """``offset`` is where the collection is given its name."""
    scope = rows.scope
    if not scope.type.key or scope.members:
        message = f"{nodes.name_of(node)}() is offered only where rows are entities"
        raise UnsupportedError(message, node.offset)
    navigation = navigation_of(scope.type, item)
    options = item.options or nodes.QueryOptions()
    if not navigation.collection and (
        alias or options != nodes.QueryOptions(expand=options.expand)
    ):
        message = f"{nodes.name_of(node)}() narrows collections, {navigation.name} is one entity"
        raise UnsupportedError(message, item.offset)
    name = alias or navigation.name
    if name in scope.nested or name in scope.computed or (
        alias and alias.lower() in scope.type.folded
    ):  # fmt: skip
        raise QueryError(f"{scope.type.name} has {name} already", offset)
    if len(scope.nested) == MOST_PARTS:
        message = f"more than {MOST_PARTS} collections are put into each row"
        raise QueryError(message, node.offset)
    source = None
    if navigation.collection and (options.top, options.skip, options.search) == _ALL:
        predicates = () if options.filter is None else (options.filter,)
        source = Rows(scope, navigation, predicates)
        # Told also where nothing shows what is nested, such as before groupby() and by /$count.
        opened(rows.translator(), source, item.offset)
    scope.nested[name] = Nested(item, source)
    return rows


def _expand_item(node: nodes.ExpandTransformation) -> nodes.ExpandItem:
    nested = tuple(_expand_item(inner) for inner in node.nested)
    options = _options(node.apply, "expand", nested)
    return nodes.ExpandItem((_name(node.path),), options, offset=node.path.offset)


def _options(
    apply: nodes.Apply | None, where: str, expand: Sequence[nodes.ExpandItem] = ()
) -> nodes.QueryOptions:
    """Transformations as the options of ``$expand`` that do the same."""
    values: dict[str, Any] = {"expand": tuple(expand)}
    stage = 0
    for node in () if apply is None else apply.transformations:
        for name, value in _option(node, where):
            if _STAGES.get(name, stage) < stage or (name in values and name not in _REPEATED):
                message = f"{nodes.name_of(node)}() is not offered at this place inside {where}()"
                raise UnsupportedError(message, node.offset)
            stage = _STAGES.get(name, stage)
            values[name] = _joined(name, values[name], value) if name in values else value
    return nodes.QueryOptions(**values)


def _joined(name: str, before: Any, value: Any) -> Any:
    if name == "filter":
        return nodes.Binary("and", before, value, offset=value.offset)
    return (*before, *value)


def _option(node: nodes.Transformation, where: str) -> Iterator[tuple[str, Any]]:
    match node:
        case nodes.Identity():
            return
        case nodes.OptionTransformation(option=name, value=value):
            yield name, value
        case nodes.ExpandTransformation():
            yield "expand", (_expand_item(node),)
        case _:
            raise UnsupportedError(
                f"{nodes.name_of(node)}() is not offered inside {where}()", node.offset
            )


def _name(path: nodes.Node) -> str:
    if isinstance(path, nodes.Member) and path.base is None:
        return path.name
    raise UnsupportedError("only a navigation property of the row itself is offered", path.offset)
