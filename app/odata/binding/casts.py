"""``cast``, ``isof`` and ``case`` (URL Conventions 5.1.1.10, 5.1.1.11)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Text, and_, case, false, true

from app.odata.binding.comparison import is_null
from app.odata.binding.json_values import dynamic_value, plain_text
from app.odata.binding.paths import seen_as
from app.odata.binding.type_coercion import (
    FAMILIES,
    as_day,
    as_decimal,
    as_double,
    as_instant,
    as_numbers,
    as_time,
    fit,
    is_null_literal,
    null_of,
)
from app.odata.binding.values import (
    NUMBERS,
    Bound,
    Constant,
    Dynamic,
    JsonStructure,
    Row,
    Rows,
    Scope,
    Structure,
    Translating,
    Typed,
)
from app.odata.errors import QueryError, UnsupportedError, suggestion
from app.odata.model import edm
from app.odata.sql.decimals import DecimalNumber, decimal_operation, of_one_unit
from app.odata.sql.dialect_sql import DialectSql
from app.odata.sql.text_values import FROM_TEXT, of_text
from app.odata.syntax.nodes import Call, Case, Literal, Node, TypeCast, TypeName


def cast(translator: Translating, node: Call) -> Typed:
    """A value in another type; null where it has no such value."""
    *operands, target = node.arguments
    assert isinstance(target, TypeName)
    if not operands:
        raise UnsupportedError("cast of the instance itself is not offered", node.offset)
    container = translator.context.container
    name = target.name.removeprefix(f"{container.namespace}.")
    enum = None if target.is_collection else container.enum_types.get(name)
    if enum is not None and name != target.name:
        return _member(translator, operands[0], enum)
    target_type = _target(target)
    bound = translator.bind(operands[0])
    if is_null_literal(bound):
        return null_of(target_type)
    value = bound if isinstance(bound, Typed) else translator.typed(operands[0])
    kinds = value.type.family, target_type.family
    if value.type == target_type:
        return value
    if target_type == edm.STRING:
        # In SQLite a text made of an exact decimal would keep its collation.
        text = DialectSql(
            Text(), "({0} COLLATE BINARY)", "{0}", plain_text(value.sql, value.type)
        )  # fmt: skip
        return Typed(text, target_type, value.nullable)
    if kinds[0] == "text" and kinds[1] in FROM_TEXT:
        return _in_range(Typed(of_text(kinds[1], FAMILIES[kinds[1]].sql, value.sql), target_type))
    if kinds[0] == "enum" and kinds[1] == "integer":
        number = DialectSql(BigInteger(), "{0}", "CAST({0} AS BIGINT)", value.sql)
        return _in_range(Typed(number, target_type, value.nullable))
    if kinds[0] in NUMBERS and kinds[1] in NUMBERS:
        return _in_range(_number(value, target_type))
    if kinds == ("instant", "date"):
        return as_day(value)
    if kinds == ("instant", "time"):
        return as_time(value)
    if kinds == ("date", "instant"):
        return as_instant(value)
    raise UnsupportedError(
        f"a cast from {value.type.name} to {target_type.name} is not offered", node.offset
    )


def _member(translator: Translating, node: Node, target_type: edm.EnumType) -> Typed:
    """A whole number, or the name of a member, as one of an enumeration; null where there is none.

    Source: URL Conventions 5.1.1.10.1, rule 10.
    """
    bound = translator.bind(node)
    if is_null_literal(bound):
        return null_of(target_type)
    if isinstance(bound, Constant) and bound.literal.kind in ("string", "enum"):
        return Typed(fit(bound, null_of(target_type), translator.context.parameters), target_type)
    value = bound if isinstance(bound, Typed) else translator.typed(node)
    if value.type == target_type:
        return value
    if value.type.family != "integer":
        raise UnsupportedError(
            f"a cast from {value.type.name} to {target_type.name} is not offered", node.offset
        )
    number = DialectSql(BigInteger(), "{0}", "CAST({0} AS BIGINT)", value.sql)
    if target_type.is_flags:
        known = number.between(-(2**31), 2**31 - 1)
    else:
        known = number.in_(sorted(target_type.members.values()))
    return Typed(case((known, number)), target_type)


def isof(translator: Translating, node: Call) -> ColumnElement[bool]:
    """Whether a value is there and of exactly this type."""
    *operands, target = node.arguments
    assert isinstance(target, TypeName)
    container = translator.context.container
    name = target.name.removeprefix(f"{container.namespace}.")
    bound = translator.bind(operands[0]) if operands else Row(translator.scope)
    if isinstance(bound, Row):
        if target.name.startswith("Edm.") or name not in container.types:
            raise QueryError(f"there is no entity type {target.name}", target.offset)
        if not bound.scope.type.derives_from(name):
            return _kind_is(bound, name)
        return ~is_null(bound) if bound.scope.optional else true()
    if isinstance(bound, Structure | JsonStructure):
        own = bound.property.type if isinstance(bound, Structure) else bound.type
        return ~is_null(bound) if own.name in (target.name, name) else false()
    if target.name.startswith("Edm."):
        wanted = _target(target).family
        if isinstance(bound, Dynamic):  # a number may be of either type that has fractions
            value = dynamic_value(bound, wanted)
            is_possible = wanted in (value.type.family, "double")
            return ~is_null(value) if is_possible else false()
    actual = bound if isinstance(bound, Typed) else translator.typed(operands[0])
    matches = actual.type.name in (target.name, name)
    return ~is_null(bound) if matches else false()


def _kind_is(bound: Row, name: str) -> ColumnElement[bool]:
    """Whether a row is of the derived type ``name``, by its discriminator."""
    target_type = bound.scope.context.container.types[name]
    if not target_type.derives_from(bound.scope.type.name):
        return false()
    condition = bound.scope.is_of(target_type)
    return false() if condition is None else condition


def entity_cast(bound: Row | Rows, node: TypeCast) -> Bound:
    """``Special.Type/property``: the same entities seen as a derived type; null or none if not.

    Raises: QueryError, they cannot be of such a type.
    """
    scope = bound.owner if isinstance(bound, Rows) else bound.scope
    context = scope.context
    source = bound.type_in(context.container) if isinstance(bound, Rows) else scope.type
    target_type = seen_as(context.container, source, node.type_name, node.offset)
    if isinstance(bound, Rows):
        return replace(bound, type=target_type)
    if target_type is scope.type:
        return bound
    target = Scope(context, target_type, optional=True)
    same = (a == b for a, b in zip(scope.key_columns(), target.key_columns(), strict=True))
    return Row(scope.attach(f"{target_type.name}:", target, and_(*same)))


def choose(translator: Translating, node: Case) -> Bound:
    """``case(condition:value,...)``: the value of the first condition that holds."""
    values = [_typed_or_null(translator, value) for _, value in node.branches]
    typed = [value for value in values if value is not None]
    conditions = [translator.condition(condition) for condition, _ in node.branches]
    if not typed:
        return Constant(Literal(None, "null", offset=node.offset))
    widened = _one_type(typed, node.offset)
    first, following = widened[0], iter(widened)
    results = [null_of(first.type) if value is None else next(following) for value in values]
    pairs = zip(conditions, (result.sql for result in results), strict=True)
    sql: ColumnElement[Any] = case(*pairs)
    if isinstance(first.sql.type, DecimalNumber):
        sql = DialectSql(DecimalNumber(), "({0} COLLATE odata_decimal)", "{0}", sql)
    else:
        sql.type = of_one_unit(*(value.sql for value in widened)) or first.sql.type
    return Typed(sql, first.type, nullable=True)


def _typed_or_null(translator: Translating, node: Node) -> Typed | None:
    """A value; None for the literal null."""
    bound = translator.bind(node)  # once: each look doubles what nested ones cost
    if isinstance(bound, Typed):
        return bound
    return None if is_null_literal(bound) else translator.typed(node)


def _one_type(values: list[Typed], offset: int) -> list[Typed]:
    if all(value.type.family in NUMBERS for value in values):
        return as_numbers(*values)
    first = values[0].type
    for value in values:
        if value.type != first:
            raise QueryError(f"the values of case are {first.name} and {value.type.name}", offset)
    return values


def _target(node: TypeName) -> edm.PrimitiveType:
    primitive = edm.PRIMITIVES.get(node.name)
    if primitive is None or node.is_collection:
        hint = suggestion(node.name, edm.PRIMITIVES)
        raise QueryError(f"there is no cast to {node.name}{hint}", node.offset)
    return primitive


def _number(value: Typed, target_type: edm.PrimitiveType) -> Typed:
    kind = target_type.family
    if kind == "double":
        return Typed(as_double(value).sql, target_type, value.nullable)
    if value.type.family == "double":
        sql: ColumnElement[Any] = DialectSql(
            DecimalNumber(), "(odata_double_to_decimal({0}) COLLATE odata_decimal)",
            "(CASE WHEN {0} BETWEEN -1e300 AND 1e300 THEN CAST({0} AS NUMERIC) END)", value.sql,
        )  # fmt: skip
    else:
        sql = as_decimal(value).sql
    if kind == "decimal":
        return Typed(sql, target_type, value.nullable)
    if value.type.family == "integer":
        return Typed(value.sql, target_type, value.nullable)
    rounded = decimal_operation("round", sql)
    within = case((rounded.between(*_int64_limits()), rounded))
    whole = DialectSql(BigInteger(), "CAST({0} AS INTEGER)", "CAST({0} AS BIGINT)", within)
    return Typed(whole, target_type)


def _int64_limits() -> tuple[ColumnElement[Any], ColumnElement[Any]]:
    low, high = (
        DialectSql(DecimalNumber(), f"'{number}'", f"CAST({number} AS NUMERIC)")
        for number in (-(2**63), 2**63 - 1)
    )
    return low, high


def _in_range(value: Typed) -> Typed:
    type_ = value.type
    if not isinstance(type_, edm.PrimitiveType) or type_.limits is None or type_ == edm.INT64:
        return value
    return Typed(case((value.sql.between(*type_.limits), value.sql)), type_)
