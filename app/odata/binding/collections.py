"""Collections opened for reading: the rows of a navigation, the members of a JSON array."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, FromClause, Select, Text, func, select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import GenericFunction

from app.odata.binding.context import Context
from app.odata.binding.protocol import Translating
from app.odata.binding.values import Bound, Elements, JsonStructure, Row, Rows, Scope, Typed
from app.odata.errors import QueryError, UnsupportedError
from app.odata.model import edm
from app.odata.sql.dialect_sql import DialectSql
from app.odata.syntax.nodes import Member, Node, Root


class _ElementsOf(GenericFunction[Any]):
    """The members of a JSON array as rows with a column ``value``."""

    name = "odata_elements"
    inherit_cache = True


@compiles(_ElementsOf)
def _compile_elements(element: _ElementsOf, compiler: Any, **options: Any) -> str:
    function = "json_each" if compiler.dialect.name == "sqlite" else "json_array_elements"
    return f"{function}({compiler.process(element.clauses, **options)})"


class _NumberedElementsOf(GenericFunction[Any]):
    """The members of a JSON array as rows with columns ``value`` and ``key``, their place."""

    name = "odata_numbered_elements"
    inherit_cache = True


@compiles(_NumberedElementsOf)
def _compile_numbered(element: _NumberedElementsOf, compiler: Any, **options: Any) -> str:
    array = compiler.process(element.clauses, **options)
    if compiler.dialect.name == "sqlite":
        return f"json_each({array})"
    numbered = f"json_array_elements({array}) WITH ORDINALITY AS e(value, key)"
    return f"(SELECT e.value, e.key FROM {numbered})"  # nosec B608  # compiled, values bound


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


def element_table(context: Context, collection: Elements, offset: int) -> tuple[FromClause, Bound]:
    """The members of a JSON array as rows, and what one of them is."""
    table = func.odata_elements(collection.sql).table_valued("value", name=context.next_name())
    return table, _element(table.c.value, collection.type.element, offset)


def numbered_elements(
    context: Context, collection: Elements, offset: int
) -> tuple[FromClause, Bound, ColumnElement[int]]:
    """As ``element_table``, and the place of a member among the others."""
    elements = func.odata_numbered_elements(collection.sql)
    table = elements.table_valued("value", "key", name=context.next_name())
    return table, _element(table.c.value, collection.type.element, offset), table.c.key


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
