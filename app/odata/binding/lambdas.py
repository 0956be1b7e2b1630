"""``any``, ``all`` and ``$count`` over a collection, as conditions and values of a row."""

from __future__ import annotations

from sqlalchemy import BigInteger, ColumnElement, func, literal_column, not_

from app.odata.binding.collections import opened
from app.odata.binding.comparison import is_true
from app.odata.binding.protocol import Translating
from app.odata.binding.search_condition import search_condition
from app.odata.binding.values import Elements, Row, Typed
from app.odata.errors import QueryError
from app.odata.model import edm
from app.odata.sql.dialect_sql import spell
from app.odata.syntax.nodes import Count, Lambda


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
