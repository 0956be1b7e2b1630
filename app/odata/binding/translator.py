"""Syntax nodes to typed SQL expressions: one function per kind of node (style: the visitor)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

from sqlalchemy import Boolean, ColumnElement, and_, false, literal_column, not_, or_

from app.odata.binding.aggregates import aggregate_call
from app.odata.binding.arithmetic import arithmetic, negated
from app.odata.binding.bound_calls import bound_call
from app.odata.binding.calls import call, text_match
from app.odata.binding.casts import cast, choose, entity_cast, isof
from app.odata.binding.collections import count_rows, lambda_condition, members
from app.odata.binding.comparison import compare, is_in, with_literal, with_parts
from app.odata.binding.context import Context
from app.odata.binding.json_values import dynamic_value, member_text
from app.odata.binding.paths import filtered, keyed, member
from app.odata.binding.type_coercion import fit, is_null_literal, natural, null_of, null_of_family
from app.odata.binding.values import (
    Bound,
    Constant,
    Dynamic,
    Elements,
    JsonStructure,
    Row,
    Rows,
    Scope,
    Structure,
    Typed,
    truth,
)
from app.odata.errors import QueryError, UnsupportedError
from app.odata.model import edm
from app.odata.sql.dialect_sql import estimated_size, spell
from app.odata.syntax import nodes

# What SQLite's parser takes of functions in functions, with room for those that one becomes.
DEEPEST = 20
_COMPARISONS = frozenset(("eq", "ne", "gt", "ge", "lt", "le"))
_MOVABLE = frozenset(("instant", "date", "duration"))
_NULL = nodes.Literal(None, "null")


class Translator:
    """An expression's surroundings (see ``protocol.Translating``), and its translation."""

    def __init__(
        self,
        context: Context,
        scope: Scope,
        *,
        it: Scope | None = None,
        variables: Mapping[str, Bound] | None = None,
        this: Bound | None = None,
        it_is_member: bool = False,
    ) -> None:
        self.context = context
        self.scope = scope
        self.it = it or scope
        self.variables: Mapping[str, Bound] = variables or {}
        # A member of a collection that is no entity, where options are evaluated on such; it is
        # ``$it`` as well where the path of the request leads to the collection.
        self.this = this
        self._it: Bound = this if it_is_member and this is not None else Row(self.it)
        self._open_aliases: set[str] = set()
        self._depth = 0

    def within(self, scope: Scope, variables: Mapping[str, Bound] | None = None) -> Translator:
        inner = copy(self)
        inner.scope = scope
        inner.variables = self.variables if variables is None else variables
        inner.this = self.this if scope is self.scope else None
        return inner

    def on_member(self, this: Bound) -> Translator:
        inner = copy(self)
        inner.this = this
        return inner

    # --- conditions

    def condition(self, node: nodes.Node, *, exact: bool = False) -> ColumnElement[bool]:
        match node:
            case nodes.Binary(op="and" | "or", left=left, right=right):
                join = and_ if node.op == "and" else or_
                return join(self.condition(left, exact=exact), self.condition(right, exact=exact))
            case nodes.Unary(op="not", operand=operand):
                return not_(self.condition(operand, exact=True))
            case nodes.Binary(op=op) if op in _COMPARISONS:
                return self._comparison(node, exact=exact)
            case nodes.In():
                return self._membership(node, exact=exact)
            case nodes.Lambda():
                return lambda_condition(self, node)
            case nodes.Call(name="isof"):
                return isof(self, node)
            case nodes.Call(name="contains" | "startswith" | "endswith"):
                return text_match(self, node, indexed=not exact)
        bound = self.bind(node)
        if is_null_literal(bound):
            return null_of(edm.BOOLEAN).sql if exact else false()
        if isinstance(bound, Dynamic):
            bound = dynamic_value(bound, "boolean")
        value = self._as_typed(bound, node)
        if value.type != edm.BOOLEAN:
            raise QueryError(f"expected a condition, this is {value.type.name}", node.offset)
        sql: ColumnElement[bool] = value.sql
        return sql

    def _comparison(self, node: nodes.Binary, *, exact: bool) -> ColumnElement[bool]:
        condition = with_literal(self, node)
        if condition is not None:
            return condition
        left, right = self.bind(node.left), self.bind(node.right)
        if (
            not isinstance(left, Typed)
            and (condition := with_parts(self, node, left, right)) is not None
        ):
            return condition
        if isinstance(left, Constant) and isinstance(right, Constant):  # else they fit a value
            left = self._as_typed(left, node.left) if left.literal.kind == "enum" else left
            right = self._as_typed(right, node.right) if right.literal.kind == "enum" else right
        parameters = self.context.parameters
        return compare(node.op, left, right, parameters, exact=exact, offset=node.offset)

    def _membership(self, node: nodes.In, *, exact: bool) -> ColumnElement[bool]:
        right = self.unaliased(node.right)
        if isinstance(right, nodes.Collection):
            items = [self.bind(item) for item in right.items]
            constants = [item for item in items if isinstance(item, Constant)]
            if len(constants) != len(items):
                raise QueryError("a list after 'in' holds only literals", right.offset)
            left = self.bind(node.left)
            if isinstance(left, Constant):
                left = self._as_typed(left, node.left)
            parameters = self.context.parameters
            return is_in(left, constants, parameters, exact=exact, offset=node.offset)
        collection, member_ = members(self, right)
        left = self.bind(node.left)
        equal = compare(
            "eq", left, member_, self.context.parameters, exact=False, offset=node.offset
        )
        collection.conditions.append(equal)
        return collection.select(literal_column("1")).exists()

    def _has(self, node: nodes.Binary) -> Typed:
        """Whether all flags of the right side are set (URL Conventions 5.1.1.1.9)."""
        left, right = self.typed(node.left), self.bind(node.right)
        if not isinstance(left.type, edm.EnumType):
            raise QueryError(f"'has' takes an enumeration, not {left.type.name}", node.offset)
        if is_null_literal(right):
            flags = null_of(left.type)
        elif isinstance(right, Constant):
            flags = Typed(fit(right, left, self.context.parameters), left.type, nullable=False)
        else:
            flags = self._as_typed(right, node.right)
        if flags.type != left.type:
            message = f"'has' does not take {left.type.name} and {flags.type.name}"
            raise QueryError(message, node.offset)
        has = spell(Boolean(), "({0} & {1} = {1})", left.sql, flags.sql)
        return Typed(has, edm.BOOLEAN, left.nullable or flags.nullable)

    def compute(self, items: Sequence[nodes.ComputeItem]) -> None:
        """Give the rows of the scope values with names of their own (Protocol 11.2.5.3); a later
        one may use an earlier one.

        Raises: QueryError, the name is taken.
        """
        scope = self.scope
        for item in items:
            taken = item.alias in scope.computed or item.alias in scope.nested
            if taken or item.alias.lower() in scope.type.folded:
                message = f"{scope.type.name} has a property {item.alias} already"
                raise QueryError(message, item.offset)
            value = scope.computed[item.alias] = self.typed(item.expression)
            scope.context.budget.use(estimated_size(value.sql), item.offset)  # it may be shown, too

    # --- values

    def typed(self, node: nodes.Node) -> Typed:
        return self._as_typed(self.bind(node), node)

    def argument(self, node: nodes.Node, function: str, *families: str) -> Typed:
        bound = self.bind(node)
        if is_null_literal(bound):
            return null_of_family(families[0])
        if isinstance(bound, Dynamic):
            bound = dynamic_value(bound, families[0])
        value = self._as_typed(bound, node)
        if isinstance(bound, Constant) and "duration" in families and value.type.family == "text":
            wanted = Typed(value.sql, edm.DURATION)
            return Typed(fit(bound, wanted, self.context.parameters), edm.DURATION, False)
        if value.type.family not in families:
            raise QueryError(f"{function} does not take {value.type.name}", node.offset)
        return value

    def _as_typed(self, bound: Bound, node: nodes.Node) -> Typed:
        match bound:
            case Typed():
                return bound
            case Constant(literal=literal):
                parameters, container = self.context.parameters, self.context.container
                prefix = f"{container.namespace}."
                enum = container.enum_types.get((literal.type_name or "").removeprefix(prefix))
                if literal.kind != "enum" or enum is None:
                    return natural(bound, parameters)
                return Typed(fit(bound, null_of(enum), parameters), enum, nullable=False)
            case Dynamic():  # nothing beside it tells its type: it is as it is written
                return Typed(member_text(bound), edm.STRING)
            case Row(scope=scope):
                raise QueryError(
                    f"this is an entity ({scope.type.name}): name one of its properties",
                    node.offset,
                )
            case Rows() | Elements():
                raise QueryError("this is a collection: use any(), all() or $count", node.offset)
            case Structure() | JsonStructure():
                raise QueryError("this is a complex value: name one of its properties", node.offset)

    def bind(self, node: nodes.Node) -> Bound:
        translate = _PLACES.get(type(node))
        if translate is None:
            raise UnsupportedError(
                f"an expression of this kind is not offered ({type(node).__name__})", node.offset
            )
        if self._depth == DEEPEST:
            raise QueryError(
                f"operators and functions are nested more than {DEEPEST} levels deep", node.offset
            )
        self._depth += 1
        self.context.budget.visit(node.offset)
        try:
            translated = translate(self, node)
        finally:
            self._depth -= 1
        if isinstance(translated, Typed):
            self.context.budget.check(translated.sql, node.offset)
        return translated

    def unaliased(self, node: nodes.Node) -> nodes.Node:
        """What a parameter alias stands for; null without a value (Protocol 11.2.6.1.3).

        A value stands where the alias does: it is there that it does not fit.
        """
        seen, at = set(), node.offset
        while isinstance(node, nodes.Alias):
            if node.name in seen:
                raise QueryError(f"@{node.name} stands for itself", node.offset)
            seen.add(node.name)
            node = _moved(self.context.aliases.get(node.name, _NULL), at)
            if isinstance(node, nodes.Collection):
                self.context.budget.use(len(node.items), at)
        return node

    def _alias(self, node: nodes.Alias) -> Bound:
        if node.name in self._open_aliases:
            raise QueryError(f"@{node.name} stands for itself", node.offset)
        self._open_aliases.add(node.name)
        try:
            bound = self.bind(self.unaliased(node))
        except QueryError as error:
            raise error.in_option(f"@{node.name}") from None
        finally:
            self._open_aliases.remove(node.name)
        self.context.budget.use(
            estimated_size(bound.sql) if isinstance(bound, Typed) else 1, node.offset
        )
        return bound

    def _binary(self, node: nodes.Binary) -> Bound:
        if node.op in _COMPARISONS or node.op in ("and", "or"):
            return truth(self.condition(node, exact=True))
        if node.op == "has":
            return self._has(node)
        places = self.bind(node.left), self.bind(node.right)  # once: see ``choose``
        if all(map(is_null_literal, places)):
            return places[0]
        left = self._operand(node.left, *places)
        right = self._operand(node.right, *reversed(places))
        return arithmetic(node.op, left, right, node.offset)

    def _operand(self, node: nodes.Node, bound: Bound, partner: Bound) -> Typed | None:
        """An operand of arithmetic; a text beside an instant or a date is a duration.

        None stands for the literal null, whose type the other operand decides.
        """
        if is_null_literal(bound):
            return None
        if isinstance(bound, Dynamic):
            return dynamic_value(bound, "decimal")
        is_text = isinstance(bound, Constant) and bound.literal.kind == "string"
        if is_text and isinstance(partner, Typed) and partner.type.family in _MOVABLE:
            return self.argument(node, "", "duration")
        return self._as_typed(bound, node)

    def _unary(self, node: nodes.Unary) -> Bound:
        if node.op == "not":
            return truth(self.condition(node, exact=True))
        bound = self.bind(node.operand)
        if is_null_literal(bound):
            return bound
        if isinstance(bound, Dynamic):
            return negated(dynamic_value(bound, "decimal"), node.offset)
        return negated(self._as_typed(bound, node.operand), node.offset)

    def _call(self, node: nodes.Call) -> Bound:
        if node.name == "cast":
            return cast(self, node)
        if node.name == "isof":
            return truth(isof(self, node), nullable=False)
        return call(self, node)

    def _type_cast(self, node: nodes.TypeCast) -> Bound:
        base: Bound = Row(self.scope) if node.base is None else self.bind(node.base)
        if isinstance(base, Row | Rows):
            return entity_cast(base, node)
        raise UnsupportedError(f"a cast to {node.type_name} is not offered here", node.offset)


def _moved(node: nodes.Node, offset: int) -> nodes.Node:
    """A literal, or a list of them, as if written at ``offset``; other nodes as they are."""
    match node:
        case nodes.Literal():
            return replace(node, offset=offset)
        case nodes.Collection(items=items):
            return replace(node, items=tuple(_moved(item, offset) for item in items), offset=offset)
    return node


Translate = Callable[[Translator, Any], Bound]

_PLACES: dict[type[nodes.Node], Translate] = {
    nodes.Literal: lambda translator, node: Constant(node),
    nodes.Member: member,
    nodes.KeyPredicate: keyed,
    nodes.FilterSegment: filtered,
    nodes.It: lambda translator, node: translator._it,
    nodes.This: lambda translator, node: translator.this or Row(translator.scope),
    nodes.Alias: Translator._alias,
    nodes.Binary: Translator._binary,
    nodes.Unary: Translator._unary,
    nodes.Call: Translator._call,
    nodes.BoundCall: bound_call,
    nodes.Case: choose,
    nodes.Count: count_rows,
    nodes.AggregateCall: aggregate_call,
    nodes.TypeCast: Translator._type_cast,
    nodes.In: lambda translator, node: truth(translator.condition(node, exact=True)),
    nodes.Lambda: lambda translator, node: truth(
        lambda_condition(translator, node), nullable=False
    ),
}
