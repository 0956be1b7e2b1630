"""Collections opened for reading, the rows of a navigation and the members of a JSON array alike:
``any``, ``all``, ``$count`` and ``in`` over them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    FromClause,
    Select,
    Text,
    func,
    literal_column,
    not_,
    select,
)

from app.odata.binding.context import Context
from app.odata.binding.search_condition import search_condition
from app.odata.binding.values import (
    Bound,
    Elements,
    JsonStructure,
    Row,
    Rows,
    Scope,
    Translating,
    Typed,
    is_true,
)
from app.odata.errors import QueryError, UnsupportedError
from app.odata.model import edm
from app.odata.sql.dialect_sql import DialectSql, spell
from app.odata.syntax.nodes import Count, Lambda, Member, Node, Root

# The members of a JSON array as rows: ``value``, and in the second ``key``, its place.
_ELEMENTS = ("json_each({0})", "json_array_elements({0})")
_NUMBERED = (
    "json_each({0})",
    "(SELECT e.value, e.key FROM json_array_elements({0}) WITH ORDINALITY AS e(value, key))",
)


@dataclass
class Opened:
    """A collection as something to select from; ``member`` is one of it."""

    member: Bound
    source: Callable[[], FromClause]
    conditions: list[ColumnElement[bool]]

    def select(self, *columns: ColumnElement[Any]) -> Select[Any]:
        """A correlated select of the members that fulfil all conditions so far."""
        source = self.source()
        return select(*columns).select_from(source).where(*self.conditions).correlate_except(source)


def opened(translator: Translating, collection: Bound, offset: int) -> Opened:
    """``collection`` ready to be counted or searched through.

    Raises: QueryError, it is none; ForbiddenError, its entities may not be read.
    """
    if isinstance(collection, Rows):
        return _opened_rows(translator, collection)
    if isinstance(collection, Elements):
        table, member = element_table(translator.context, collection, offset)
        inner = translator.on_member(member)
        conditions = [inner.condition(predicate) for predicate in collection.predicates]
        return Opened(member, lambda: table, conditions)
    raise QueryError("any, all and $count need a collection before them", offset)


def members(translator: Translating, node: Node) -> tuple[Opened, Bound]:
    """The collection after ``in``, and what of each member is compared.

    That is the member itself, or a property of it: ``Contacts/email``, ``$root/Clients/taxId``.
    """
    if isinstance(node, Member) and node.base is not None and not isinstance(node.base, Root):
        base = translator.bind(node.base)
        if isinstance(base, Rows):
            rows = _opened_rows(translator, base)
            assert isinstance(rows.member, Row)
            inner = Member(None, node.name, offset=node.offset)
            return rows, translator.within(rows.member.scope, {}).bind(inner)
    bound = translator.bind(node)
    if not isinstance(bound, Rows | Elements):
        raise QueryError("expected a list in parentheses or a collection after 'in'", node.offset)
    collection = opened(translator, bound, node.offset)
    return collection, collection.member


def element_table(
    context: Context, collection: Elements, offset: int, *, numbered: bool = False
) -> tuple[FromClause, Bound]:
    """The members of a JSON array as rows, and what one of them is.

    Args:
        numbered: with the place of each among the others, as the column ``key``.
    """
    columns = ("value", "key") if numbered else ("value",)
    elements = DialectSql(Text(), *(_NUMBERED if numbered else _ELEMENTS), collection.sql)
    table = elements.table_valued(*columns, name=context.next_name())
    return table, _element(table.c.value, collection.type.element, offset)


def _opened_rows(translator: Translating, rows: Rows) -> Opened:
    navigation = rows.navigation
    scope = Scope(translator.context, rows.type_in(translator.context.container))
    conditions = [navigation.join(rows.owner.columns, scope.columns), *scope.conditions]
    inner = translator.within(scope)
    conditions += [inner.condition(predicate) for predicate in rows.predicates]
    return Opened(Row(scope), scope.from_clause, conditions)


def _element(value: ColumnElement[Any], type_: edm.EdmType, offset: int) -> Bound:
    if isinstance(type_, edm.ComplexType):
        return JsonStructure(value, type_)
    if type_ == edm.STRING:
        text = DialectSql(Text(), "{0}", "({0} #>> '{}')", value)
        return Typed(text, edm.STRING, nullable=False)
    raise UnsupportedError("only collections of texts and complex values can be searched", offset)


def lambda_condition(translator: Translating, node: Lambda) -> ColumnElement[bool]:
    """``source/any(x:predicate)``: true or false, never null (URL Conventions 5.1.1.13)."""
    rows = opened(translator, translator.bind(node.source), node.offset)
    if node.variable is not None and node.predicate is not None:
        variables = {**translator.variables, node.variable: rows.member}
        predicate = translator.within(translator.scope, variables).condition(node.predicate)
        rows.conditions.append(not_(is_true(predicate)) if node.op == "all" else predicate)
    condition = rows.select(literal_column("1")).exists()
    return not_(condition) if node.op == "all" else condition


def count_rows(translator: Translating, node: Count) -> Typed:
    """``source/$count($filter=...;$search=...)``."""
    if node.source is None:
        raise QueryError("$count stands alone only inside aggregate()", node.offset)
    source = translator.bind(node.source)
    plain = node.filter is None and node.search is None
    if isinstance(source, Elements) and plain and not source.predicates:
        return Typed(spell(BigInteger, "json_array_length({0})", source.sql), edm.INT64)
    rows = opened(translator, source, node.offset)
    member = rows.member
    if node.filter is not None:
        inner = (
            translator.within(member.scope)
            if isinstance(member, Row)
            else translator.on_member(member)
        )
        rows.conditions.append(inner.condition(node.filter))
    if node.search is not None:
        if not isinstance(member, Row):
            raise QueryError("$search takes a collection of entities", node.offset)
        rows.conditions.append(search_condition(member.scope, node.search, node.offset))
    return Typed(rows.select(func.count()).scalar_subquery(), edm.INT64, nullable=False)
