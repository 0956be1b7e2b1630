"""Paths: names resolved against the model, and what each step leads to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sqlalchemy import ColumnElement, and_, bindparam, true

from app.odata.binding.context import Context
from app.odata.binding.json_values import inner_json, json_member
from app.odata.binding.key_values import check_key_literal, key_parts, own_key
from app.odata.binding.type_coercion import fit
from app.odata.binding.values import (
    Bound,
    Constant,
    Dynamic,
    Elements,
    JsonStructure,
    Nested,
    Row,
    Rows,
    Scope,
    Structure,
    Translating,
    Typed,
)
from app.odata.errors import QueryError, UnsupportedError, suggestion
from app.odata.model import edm
from app.odata.sql.dialect_sql import estimated_size
from app.odata.syntax import nodes


def member(translator: Translating, node: nodes.Member) -> Bound:
    """A step by its name, from the current instance where the path begins with it."""
    if node.base is None:
        if node.name in translator.variables:
            return translator.variables[node.name]
        if translator.this is not None:
            return _inside(translator.this, node)
        return step(translator.scope, node.name, node.offset)
    if isinstance(node.base, nodes.Root):
        return of_root(translator, node.name, node.offset)
    return _inside(translator.bind(node.base), node)


def _inside(base: Bound, node: nodes.Member) -> Bound:
    match base:
        case Row(scope=scope):
            return step(scope, node.name, node.offset)
        case Structure(scope=scope, property=property_):
            return in_columns(scope, property_, node)
        case JsonStructure(sql=sql, type=type_):
            return json_member(sql, type_, node.name, node.offset)
        case Dynamic(sql=sql, name=name):
            return Dynamic(inner_json(sql, name), node.name)
        case Rows(navigation=navigation):
            raise QueryError(
                f"{navigation.name} is a collection:"
                f" use {navigation.name}/any(x:x/{node.name} ...)",
                node.offset,
            )
        case Elements():
            raise QueryError("the path goes on after a collection: use any() or all()", node.offset)
    raise QueryError(f"'{node.name}': the value before it has no properties", node.offset)


def step(scope: Scope, name: str, offset: int) -> Bound:
    """What a property or navigation property of a row is.

    Raises: QueryError, the type has no such name; ForbiddenError, the target may not be read.
    """
    type_ = scope.type
    if name in scope.computed:
        value = scope.computed[name]
        scope.context.budget.use(estimated_size(value.sql), offset)
        return value
    if name in scope.members:
        return scope.members[name]
    known = name
    if name not in type_.properties and name not in type_.navigation:
        known = type_.folded.get(name.lower(), "")
    if known in type_.properties:
        if type_.properties[known].on_request:
            raise QueryError(f"{known} can only be selected", offset)
        return of_property(scope, type_.properties[known], offset)
    if known in type_.navigation:
        navigation = type_.navigation[known]
        if not navigation.collection:
            return Row(scope.join(navigation))
        nested = scope.nested.get(known)
        return Rows(scope, navigation) if nested is None else _of_nested(nested, known, offset)
    if name in scope.nested:
        return _of_nested(scope.nested[name], name, offset)
    raise unknown_name(type_, name, offset)


def _of_nested(nested: Nested, name: str, offset: int) -> Bound:
    if nested.bound is None:
        raise UnsupportedError(f"what $apply made of {name} is shown, not used further", offset)
    return nested.bound


def unknown_name(type_: edm.EntityType | edm.ComplexType, name: str, offset: int) -> QueryError:
    """The error that a type has no such property, with the name that was perhaps meant."""
    known = [*type_.properties]
    if isinstance(type_, edm.EntityType):
        known += type_.navigation
    message = f"{type_.name} has no property '{name}'{suggestion(name, known)}"
    return QueryError(message, offset)


def of_property(scope: Scope, property_: edm.Property, offset: int | None = None) -> Bound:
    if property_.columns is not None:
        return Structure(scope, property_)
    if property_.type == edm.STREAM:
        raise QueryError(f"{property_.name} is a stream: it has no value to compute with", offset)
    sql = property_sql(scope, property_)
    if isinstance(property_.type, edm.ComplexType):
        return JsonStructure(sql, property_.type)
    if isinstance(property_.type, edm.CollectionType):
        return Elements(sql, property_.type)
    nullable = property_.nullable or scope.optional
    return Typed(
        sql,
        property_.type,
        nullable,
        plain=property_.allowed is not None,
        trigrams=scope.type.trigrams if property_.searchable else None,
    )


def property_sql(scope: Scope, property_: edm.Property) -> ColumnElement[Any]:
    """The column of a property, or the expression that computes it."""
    if property_.expression is not None:
        value = property_.expression(scope.columns, scope.context.caller.rights)
        return value if property_.nullable else scope.where_there(value)
    column: ColumnElement[Any] = scope.columns[property_.attribute]
    return column


def in_columns(scope: Scope, property_: edm.Property, node: nodes.Member) -> Bound:
    type_ = property_.type
    assert isinstance(type_, edm.ComplexType) and property_.columns is not None
    inner = type_.property_called(node.name)
    if inner is None:
        error = unknown_name(type_, node.name, node.offset)
        error.message += f": {property_.name}/{node.name}"
        raise error
    if inner.columns is not None:
        return Structure(scope, inner)
    sql = scope.columns[property_.columns[inner.name]]
    return Typed(sql, inner.type, nullable=True, plain=inner.allowed is not None)


def keyed(translator: Translating, node: nodes.KeyPredicate) -> Bound:
    """``Contacts(5)`` or ``$root/Clients(1)`` in an expression: one entity, or nothing."""
    rows = translator.bind(node.base)
    if not isinstance(rows, Rows):
        raise QueryError("a key can only follow a collection of entities", node.offset)
    target = Scope(translator.context, rows.type_in(translator.context.container), optional=True)
    own = own_key(target.type, rows.navigation)
    parts = key_parts(target.type, node.arguments, node.offset, own)
    condition = and_(
        rows.navigation.join(rows.owner.columns, target.columns),
        key_condition(translator, target, parts),
        *(translator.within(target).condition(predicate) for predicate in rows.predicates),
    )
    # The arguments tell a key predicate from all others of a query, whatever option it stands in.
    name = f"{rows.navigation.name}/{id(node.arguments)}"
    return Row(rows.owner.attach(name, target, condition))


def key_condition(
    translator: Translating, target: Scope, parts: Mapping[str, nodes.Node]
) -> ColumnElement[bool]:
    """That a row is the one with these parts of a key (``key_parts``)."""
    type_ = target.type
    conditions = []
    for name, value in parts.items():
        part = of_property(target, type_.properties[name])
        assert isinstance(part, Typed)
        literal = translator.bind(value)
        if not isinstance(literal, Constant) or not isinstance(literal.literal, nodes.Literal):
            raise QueryError("a key is written as a literal", value.offset)
        check_key_literal(type_.properties[name], literal.literal)
        conditions.append(part.sql == fit(literal, part, translator.context.parameters))
    return and_(*conditions)


def filtered(translator: Translating, node: nodes.FilterSegment) -> Bound:
    """``Contacts/$filter(...)``: a collection less those that do not pass."""
    rows = translator.bind(node.base)
    if not isinstance(rows, Rows | Elements):
        raise QueryError("$filter can only follow a collection", node.offset)
    return replace(rows, predicates=(*rows.predicates, node.predicate))


def navigation_of(type_: edm.EntityType, item: nodes.ExpandItem) -> edm.NavigationProperty:
    """The navigation property that an item names.

    Raises: QueryError, it is none.
    """
    name, *following = item.path
    known = name if name in type_.navigation else type_.folded.get(name.lower(), name)
    navigation = type_.navigation.get(known)
    if navigation is None:
        if known in type_.properties:
            raise QueryError(f"{known} is not a navigation property", item.offset)
        raise unknown_name(type_, name, item.offset)
    if any("." not in step for step in following) or len(following) > 1:
        raise QueryError(
            f"write {name}($expand={'/'.join(following)}) to go on from {name}", item.offset
        )
    return navigation


def seen_as(
    container: edm.EntityContainer, type_: edm.EntityType, name: str, offset: int
) -> edm.EntityType:
    """The type that a cast names: that of the entities, or one derived from it.

    Raises: QueryError, they cannot be of such a type.
    """
    target = container.seen_as(type_, name)
    if target is None:
        raise QueryError(f"no {type_.name} is of the type {name}", offset)
    return target


def singleton_scope(context: Context, singleton: edm.Singleton, *, optional: bool = False) -> Scope:
    """The one row of a singleton; its key is looked up when the plan runs."""
    scope = Scope(context, singleton.type, optional=optional)
    (column,) = scope.key_columns()
    key = bindparam(f"run_singleton_{singleton.name}", type_=column.type, required=True)
    scope.conditions.append(column == key)
    return scope


def of_root(translator: Translating, name: str, offset: int) -> Row | Rows:
    """``$root/Clients`` or ``$root/Me``: all entities of a set, or the one of a singleton.

    Raises: QueryError, there is neither; ForbiddenError, it may not be read.
    """
    container = translator.context.container
    if singleton := container.singletons.get(name):
        scope = singleton_scope(translator.context, singleton, optional=True)
        return Row(translator.it.attach(f"$root/{name}", scope, true()))
    target_set = container.set_called(name)
    if target_set is None:
        hint = suggestion(name, [*container.sets, *container.singletons])
        raise QueryError(f"there is no entity set '{name}'{hint}", offset)
    everything = edm.NavigationProperty(
        name=f"$root/{target_set.name}",
        target=target_set.type.name,
        collection=True,
        join=lambda source, target: true(),
    )
    return Rows(translator.it, everything)
