"""``eq`` and ``ne`` of what has parts: entities, complex values, collections (URL 5.1.1.1.1)."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import ColumnElement, and_, not_, true

from app.odata.binding.comparison import compare, is_null, is_true
from app.odata.binding.paths import in_columns, unknown_name
from app.odata.binding.sequences import two_arrays
from app.odata.binding.values import (
    Bound,
    Elements,
    JsonStructure,
    Row,
    Structure,
    Translating,
    Typed,
)
from app.odata.errors import QueryError, UnsupportedError
from app.odata.model import edm
from app.odata.sql.dialect_sql import Predicate
from app.odata.syntax.nodes import Binary, Collection, JsonObject, Member

_SAME = ("odata_members_same({0}, {1})", "(CAST({0} AS JSONB) = CAST({1} AS JSONB))")


def with_literal(translator: Translating, node: Binary) -> ColumnElement[bool] | None:
    """A comparison with ``{"city":"Bonn"}`` or ``["a","b"]``; None where none is written.

    Raises: QueryError, it is no ``eq`` or ``ne``, or the other side is not alike.
    """
    left, right = translator.unaliased(node.left), translator.unaliased(node.right)
    if isinstance(left, Collection) or isinstance(right, Collection):
        return _same_members(translator, node)
    if isinstance(left, JsonObject):
        left, right = right, left
    if not isinstance(right, JsonObject):
        return None
    bound = translator.bind(left)
    if isinstance(bound, JsonStructure):
        raise UnsupportedError("only complex values in columns are compared", node.offset)
    if not isinstance(bound, Structure):
        raise QueryError("an object is compared with a complex value", node.offset)
    return _same(node, and_(true(), *_alike(translator, bound, right)))


def with_parts(
    translator: Translating, node: Binary, left: Bound, right: Bound
) -> ColumnElement[bool] | None:
    """Two entities, complex values or collections compared; None where they are none."""
    match left, right:
        case Row(scope=left_scope), Row(scope=other):
            names = ({type_.name for type_ in scope.type.lineage} for scope in (left_scope, other))
            if not set.intersection(*names):
                raise QueryError("entities of two types are never the same", node.offset)
            pairs = zip(left_scope.key_columns(), other.key_columns(), strict=True)
            same = and_(true(), *(a.is_not_distinct_from(b) for a, b in pairs))
        case Structure(), Structure():
            same = and_(true(), *_equal_parts(left, right, node.offset))
        case Elements(), Elements():
            return _same_members(translator, node)
        case _:
            return None
    return _same(node, same)


def _same(node: Binary, condition: ColumnElement[bool]) -> ColumnElement[bool]:
    """A comparison, of what ``condition`` tells to be the same."""
    if node.op not in ("eq", "ne"):
        raise QueryError(f"'{node.op}' does not take what has parts: only eq and ne", node.offset)
    return condition if node.op == "eq" else not_(condition)


def _same_members(translator: Translating, node: Binary) -> ColumnElement[bool]:
    arrays = two_arrays(translator, node, ordered=True)
    return _same(node, is_true(Predicate(*_SAME, *arrays)))


def _alike(
    translator: Translating, bound: Structure, wanted: JsonObject
) -> Iterator[ColumnElement[bool]]:
    """That each part is as in an object; what the object leaves out is null."""
    type_ = bound.property.type
    assert isinstance(type_, edm.ComplexType)
    members = {name: value for name, value in wanted.members if not name.startswith("@")}
    for name in members:
        if name not in type_.properties:
            raise unknown_name(type_, name, wanted.offset)
    for name in type_.properties:
        part = in_columns(bound.scope, bound.property, Member(None, name, offset=wanted.offset))
        value = members.get(name)
        if isinstance(value, JsonObject):
            if not isinstance(part, Structure):
                raise QueryError(f"{name} is no object", value.offset)
            yield from _alike(translator, part, value)
        elif value is None:
            yield is_null(part)
        else:
            parameters = translator.context.parameters
            constant = translator.bind(value)
            yield compare("eq", part, constant, parameters, exact=True, offset=value.offset)


def _equal_parts(left: Structure, right: Structure, offset: int) -> Iterator[ColumnElement[bool]]:
    type_ = left.property.type
    assert isinstance(type_, edm.ComplexType)
    if type_ is not right.property.type:
        raise QueryError("complex values of two types are never equal", offset)
    for name in type_.properties:
        left_part, other = (
            in_columns(side.scope, side.property, Member(None, name, offset=offset))
            for side in (left, right)
        )
        if isinstance(left_part, Structure) and isinstance(other, Structure):
            yield from _equal_parts(left_part, other, offset)
        elif isinstance(left_part, Typed) and isinstance(other, Typed):
            yield left_part.sql.is_not_distinct_from(other.sql)
