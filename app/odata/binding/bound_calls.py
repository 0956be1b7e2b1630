"""Functions of the model in expressions, such as ``Namespace.DaysOverdue(asOf=2026-01-01) gt 30``.

Those can be called that their declaration gives as SQL (``edm.Operation``): a value of one row or
of a collection, ``Makers/Namespace.MeanRank() gt 2``, or entities, ``Namespace.Rivals()/any()``.
A function that is bound to nothing is called by its own name, or by its import behind ``$root``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import ColumnElement

from app.odata.binding.collections import opened
from app.odata.binding.paths import keyed
from app.odata.binding.type_coercion import fit, null_of
from app.odata.binding.values import (
    Bound,
    Constant,
    Row,
    Rows,
    Scope,
    Translating,
    Typed,
)
from app.odata.errors import QueryError, UnsupportedError, suggestion
from app.odata.model import edm
from app.odata.syntax.nodes import Argument, BoundCall, KeyPredicate, Member, Root
from app.permissions import require


def bound_call(translator: Translating, node: BoundCall) -> Bound:
    """A function of the model; or a key written by name, ``Contacts(id=1)``.

    Raises: QueryError, there is no such function, or it does not take these parameters;
        UnsupportedError, it has no expression; ForbiddenError, the caller may not call it.
    """
    container = translator.context.container
    if isinstance(node.base, Root):
        if container.set_called(node.name) is not None:
            return _by_key(translator, node)
        if node.name not in container.imports:
            raise QueryError(f"there is no '{node.name}'", node.offset)
        return _unbound(translator, node, container.imports[node.name])
    if node.base is None and (named := _of_nothing(container, translator.scope.type, node)):
        return _unbound(translator, node, named)
    base: Bound = Row(translator.scope) if node.base is None else translator.bind(node.base)
    if isinstance(base, Rows):
        return _of_rows(translator, node, base)
    if not isinstance(base, Row):
        raise QueryError(f"'{node.name}' cannot be called on this", node.offset)
    type_ = base.scope.type
    if "." not in node.name and type_.folded.get(node.name.lower()) in type_.navigation:
        return _by_key(translator, node)
    return _called(translator, node, _overload(container, type_, node), base.scope)


def _called(
    translator: Translating, node: BoundCall, function: edm.Operation, scope: Scope | None
) -> Bound:
    """What a function gives: a value, or entities; ``scope`` has the row that it is bound to."""
    arguments = _arguments(translator, node, function)
    if function.expression is not None and isinstance(function.returns, edm.PrimitiveType):
        if scope is None:
            return Typed(function.expression(None, arguments), function.returns)
        value = function.expression(scope.columns, arguments)
        return Typed(scope.where_there(value), function.returns)
    if function.members is None or not isinstance(function.returns, edm.EntityType):
        raise _not_here(node)
    # The entities, as if a navigation property led to them.
    members, target = function.members, function.returns.name
    leading = edm.NavigationProperty(
        name=target if scope is not None else f"$root/{function.name}",
        target=target,
        collection=True,
        join=lambda source, other: members(source, other, arguments),
    )
    return Rows(scope or translator.it, leading)


def _of_nothing(
    container: edm.EntityContainer, type_: edm.EntityType, node: BoundCall
) -> list[edm.Operation]:
    """The functions of this qualified name that are bound to nothing; none where one is bound."""
    named = [each for each in container.operations_called(node.name) if not each.is_action]
    if any(overload.is_bound_to(type_) for overload in named):
        return []
    return [overload for overload in named if overload.bound_to is None]


def _unbound(translator: Translating, node: BoundCall, named: Sequence[edm.Operation]) -> Bound:
    """A function that is bound to nothing: a value, or entities, of its arguments alone."""
    if named[0].is_action:
        raise QueryError(f"{node.name} is an action: it is called by POST", node.offset)
    return _called(translator, node, _matching(named, node), None)


def _of_rows(translator: Translating, node: BoundCall, rows: Rows) -> Typed:
    """A function that is bound to a collection: an aggregate over its rows."""
    container = translator.context.container
    function = _overload(container, rows.type_in(container), node, of_collection=True)
    arguments = _arguments(translator, node, function)
    if function.expression is None or not isinstance(function.returns, edm.PrimitiveType):
        raise _not_here(node)
    collection = opened(translator, rows, node.offset)
    assert isinstance(collection.member, Row)
    value = function.expression(collection.member.scope.columns, arguments)
    return Typed(collection.select(value).scalar_subquery(), function.returns)


def _by_key(translator: Translating, node: BoundCall) -> Bound:
    collection = Member(node.base, node.name, offset=node.offset)
    return keyed(translator, KeyPredicate(collection, node.arguments, offset=node.offset))


def _not_here(node: BoundCall) -> UnsupportedError:
    return UnsupportedError(f"{node.name} cannot be called in an expression", node.offset)


def _overload(
    container: edm.EntityContainer,
    type_: edm.EntityType,
    node: BoundCall,
    *,
    of_collection: bool = False,
) -> edm.Operation:
    """The function of this name that is bound to the type and has these parameters."""

    def functions(operations: Iterable[edm.Operation]) -> list[edm.Operation]:
        bound = (each for each in operations if each.is_bound_to(type_, collection=of_collection))
        return [operation for operation in bound if not operation.is_action]

    if named := functions(container.operations_called(node.name)):
        return _matching(named, node)
    what = f"a collection of {type_.name}" if of_collection else type_.name
    name = node.name.removeprefix(f"{container.namespace}.")
    hint = suggestion(name, [function.name for function in functions(container.operations)])
    raise QueryError(f"{what} has no function '{node.name}'{hint}", node.offset)


def _matching(named: Sequence[edm.Operation], node: BoundCall) -> edm.Operation:
    """The overload that has these parameters, and needs no others."""
    names = {argument.name or "" for argument in node.arguments}
    if operation := edm.overload_for(named, names):
        return operation
    expected = " or ".join(operation.signature for operation in named)
    raise QueryError(
        f"{named[0].name} does not take these parameters: it is {expected}", node.offset
    )


def _arguments(
    translator: Translating, node: BoundCall, function: edm.Operation
) -> dict[str, ColumnElement[object]]:
    """The arguments of a call, by name; null for an optional parameter is as if left out.

    Raises: ForbiddenError, the caller may not call the function; QueryError, one does not fit.
    """
    for permission in function.permissions:
        require(translator.context.caller, permission)
    known = {parameter.name: parameter for parameter in function.parameters}
    bound_arguments = {
        argument.name or "": _argument(translator, argument, known[argument.name or ""])
        for argument in node.arguments
    }
    return {name: value for name, value in bound_arguments.items() if value is not None}


def _argument(
    translator: Translating, argument: Argument, parameter: edm.Parameter
) -> ColumnElement[object] | None:
    assert isinstance(parameter.type, edm.PrimitiveType)
    bound = translator.bind(argument.value)
    if isinstance(bound, Constant):
        if bound.literal.value is None and parameter.optional:
            return None
        wanted = null_of(parameter.type)
        return fit(bound, wanted, translator.context.parameters)
    value = bound if isinstance(bound, Typed) else translator.typed(argument.value)
    if value.type.family != parameter.type.family:
        message = f"{parameter.name} does not take {value.type.name}"
        raise QueryError(message, argument.offset)
    return value.sql
