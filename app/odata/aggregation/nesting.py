"""``expand``, ``addnested`` and ``nest``: rows with collections in them (Data Aggregation 3.5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import literal_column, select

from app.odata.aggregation.rowset import MOST_PARTS, RowSet
from app.odata.binding.collections import opened
from app.odata.binding.paths import navigation_of
from app.odata.binding.values import Nested, Rows, Scope
from app.odata.errors import QueryError, UnsupportedError
from app.odata.model import edm
from app.odata.syntax import nodes

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
    single_row = select(literal_column("1").label("c0")).subquery()
    type_ = edm.EntityType(name=rows.scope.type.name, table=single_row, key=(), properties={})
    scope = Scope(rows.context, type_)
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
