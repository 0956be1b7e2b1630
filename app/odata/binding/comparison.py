"""Comparisons with OData's meaning of null, in the form that an index can serve.

OData's comparisons are true or false, never null: ``null eq null`` and ``null ne 'x'`` are true,
``gt`` and its siblings with a null operand false (URL Conventions 5.1.1.1). SQL's are null then.
Where null and false come to the same, directly under WHERE, the plain comparison is kept.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from datetime import UTC

from sqlalchemy import ColumnElement, Date, and_, false, not_, or_, true

from app.odata.binding.calls import two_arrays
from app.odata.binding.context import Parameters
from app.odata.binding.json_values import dynamic_value, member_text
from app.odata.binding.paths import in_columns, unknown_name
from app.odata.binding.type_coercion import (
    as_day,
    as_instant,
    describe,
    end_of_day,
    fit,
    is_null_literal,
    natural,
    start_of_day,
    unified,
)
from app.odata.binding.values import (
    Bound,
    Constant,
    Dynamic,
    Elements,
    JsonStructure,
    Row,
    Rows,
    Structure,
    Translating,
    Typed,
    is_true,
)
from app.odata.errors import QueryError, UnsupportedError
from app.odata.model import edm
from app.odata.sql.dialect_sql import Predicate
from app.odata.sql.operands import ROUNDING, InstantOperand
from app.odata.syntax.nodes import Binary, Collection, JsonObject, Member

Condition = ColumnElement[bool]

_OPERATORS = {name: getattr(operator, name) for name in ("eq", "ne", "gt", "ge", "lt", "le")}
_MIRRORED = {"gt": "lt", "lt": "gt", "ge": "le", "le": "ge", "eq": "eq", "ne": "ne"}


def compare(
    op: str, left: Bound, right: Bound, parameters: Parameters, *, exact: bool, offset: int
) -> Condition:
    """``left op right``.

    Args:
        exact: the result must be true or false; else null may stand for false.
        offset: of the operator, for errors.
    """
    if is_null_literal(right):
        return _compare_with_null(op, left, offset)
    if is_null_literal(left):
        return _compare_with_null(_MIRRORED[op], right, offset)
    left, right = _known(left, right, parameters), _known(right, left, parameters)
    if isinstance(left, Constant) and isinstance(right, Constant):
        if _is_nan(left) or _is_nan(right):
            return true() if op == "ne" else false()  # NaN is equal to nothing, not even to itself
        left, right = natural(left, parameters), natural(right, parameters)
    if isinstance(left, Constant):
        return compare(_MIRRORED[op], right, left, parameters, exact=exact, offset=offset)
    if not isinstance(left, Typed):
        raise QueryError(f"{_described(left)} can only be compared with null", offset)
    if isinstance(right, Constant) and right.literal.kind == "boolean" and op not in ("eq", "ne"):
        right = natural(right, parameters)  # beside "=" it is plain, so that an index serves
    if isinstance(right, Constant):
        return _compare_with_literal(op, left, right, parameters, exact=exact)
    if not isinstance(right, Typed):
        raise QueryError(f"{_described(right)} can only be compared with null", offset)
    if op in ("eq", "ne") and {left.type.family, right.type.family} == {"date", "instant"}:
        left, right = as_day(left), as_day(right)
    first, second = unified(left, right, offset)
    return _two_valued(op, first, second, exact=exact)


def is_in(
    left: Bound, items: Sequence[Constant], parameters: Parameters, *, exact: bool, offset: int
) -> Condition:
    if isinstance(left, Dynamic):
        left = _known(left, items[0] if items else left, parameters)
    if not isinstance(left, Typed):
        raise QueryError(f"{_described(left)} cannot be an operand of 'in'", offset)
    values, others = [], []
    for item in items:
        apart = (item.literal.kind, left.type.family) == ("date", "instant")
        if is_null_literal(item) or _is_nan(item) or apart:
            others.append(compare("eq", left, item, parameters, exact=exact, offset=offset))
        else:
            values.append(fit(item, left, parameters))
    conditions = others
    if values:
        membership = left.sql.in_(values)
        conditions.append(is_true(membership) if exact and left.nullable else membership)
    return or_(false(), *conditions)


def is_null(bound: Bound, offset: int = 0) -> Condition:
    """Whether there is no value, no related entity, or nothing in a complex value."""
    match bound:
        case Constant():
            return true() if is_null_literal(bound) else false()
        case Typed(sql=sql) | JsonStructure(sql=sql):
            return sql.is_(None)
        case Dynamic():
            return member_text(bound).is_(None)
        case Row(scope=scope):
            return scope.key_columns()[0].is_(None)
        case Structure(scope=scope, property=property_):
            return and_(*(scope.columns[name].is_(None) for name in property_.lies_in()))
    raise QueryError("a collection is never null: use $count or any()", offset)


def _known(bound: Bound, partner: Bound, parameters: Parameters) -> Bound:
    """``bound``; a dynamic property as a value of the kind that its partner is."""
    if not isinstance(bound, Dynamic):
        return bound
    if isinstance(partner, Constant):
        partner = natural(partner, parameters)
    wanted = partner.type.family if isinstance(partner, Typed) else "text"
    return dynamic_value(bound, wanted)


def _is_nan(bound: Constant) -> bool:
    value = bound.literal.value
    return isinstance(value, float) and value != value


def _compare_with_null(op: str, bound: Bound, offset: int) -> Condition:
    if op == "eq":
        return is_null(bound, offset)
    if op == "ne":
        return ~is_null(bound, offset)
    return false()


def _compare_with_literal(
    op: str, left: Typed, right: Constant, parameters: Parameters, *, exact: bool
) -> Condition:
    literal = right.literal
    if _is_nan(right):
        return true() if op == "ne" else false()
    if literal.kind == "date" and left.type.family == "instant" and op in ("eq", "ne"):
        first = parameters.bind(literal, InstantOperand("down"), start_of_day)
        last = parameters.bind(literal, InstantOperand("down"), end_of_day)
        within = and_(left.sql >= first, left.sql <= last)
        if op == "ne":
            return ~is_true(within) if left.nullable else ~within
        return is_true(within) if exact and left.nullable else within
    if literal.kind == "datetime" and left.type.family == "date":
        if op in ("eq", "ne"):  # an instant lies in a day, whichever of the two is written
            sql = parameters.bind(literal, Date, lambda instant: instant.astimezone(UTC).date())
            day = Typed(sql, left.type, nullable=False)
            return _two_valued(op, left, day, exact=exact)
        left = as_instant(left)
    value = fit(right, left, parameters, ROUNDING.get(op, "none"))
    return _two_valued(op, left, Typed(value, left.type, nullable=False), exact=exact)


def _two_valued(op: str, left: Typed, right: Typed, *, exact: bool) -> Condition:
    either = left.nullable or right.nullable
    if op == "ne" and either:
        return left.sql.is_distinct_from(right.sql)
    if op == "eq" and left.nullable and right.nullable:
        if exact:
            return left.sql.is_not_distinct_from(right.sql)
        both = and_(left.sql.is_(None), right.sql.is_(None))
        return or_(left.sql == right.sql, both)
    plain: Condition = _OPERATORS[op](left.sql, right.sql)
    return is_true(plain) if exact and either else plain


def _described(bound: Bound) -> str:
    match bound:
        case Typed(type=type_):
            return type_.name
        case Constant():
            return describe(bound)
        case Row(scope=scope):
            return f"an entity ({scope.type.name})"
        case Rows(navigation=navigation):
            return f"the collection {navigation.name}"
        case Structure(property=property_):
            return f"the complex value {property_.name}"
        case JsonStructure(type=type_):
            return f"a complex value ({type_.name})"
        case Elements(type=type_):
            return type_.name
        case Dynamic(name=name):
            return name


# --- ``eq`` and ``ne`` of what has parts: entities, complex values, collections (5.1.1.1.1)

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
