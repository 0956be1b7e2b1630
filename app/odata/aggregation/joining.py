"""``join`` and ``outerjoin``: a row for each member of a collection (Data Aggregation 3.4)."""

from __future__ import annotations

from sqlalchemy import ColumnElement, FromClause, and_, true

from app.odata.aggregation.rowset import RowSet, refuse_nested
from app.odata.binding.collections import element_table
from app.odata.binding.translator import Translator
from app.odata.binding.values import Bound, Elements, Row, Rows, Scope
from app.odata.errors import QueryError, UnsupportedError
from app.odata.syntax.apply_nodes import Apply, FilterTransformation, Identity, Join, name_of
from app.odata.syntax.nodes import Node

# Each multiplies the rows by the members of one more collection.
MOST_JOINS = 4


def join(rows: RowSet, node: Join) -> RowSet:
    """The rows, each once for every member of a collection of it; ``outerjoin`` keeps those
    whose collection is empty.

    Raises: QueryError, no collection, or the name is taken; ForbiddenError; UnsupportedError.
    """
    scope = rows.scope
    refuse_nested(rows, name_of(node), node.offset)
    if node.alias.lower() in scope.type.folded or node.alias in (*scope.computed, *scope.members):
        raise QueryError(f"{scope.type.name} has a property {node.alias} already", node.offset)
    if len(scope.members) == MOST_JOINS:
        raise QueryError(f"at most {MOST_JOINS} collections are joined to a row", node.offset)
    rows.context.multiplied = True
    member, source, condition = _opened(rows, rows.translator().bind(node.path), node)
    scope.repeat(node.alias, member, source, condition, outer=node.outer)
    return rows


def _opened(
    rows: RowSet, collection: Bound, node: Join
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


def _predicates(apply: Apply | None) -> list[Node]:
    predicates: list[Node] = []
    for node in () if apply is None else apply.transformations:
        if isinstance(node, FilterTransformation):
            predicates.append(node.predicate)
        elif not isinstance(node, Identity):
            raise UnsupportedError("only filter() is offered inside join()", node.offset)
    return predicates
