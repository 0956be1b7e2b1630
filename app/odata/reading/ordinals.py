"""A member of a collection property by its place: ``Clients(1)/tags/0`` (URL Conventions 4.10)."""

from __future__ import annotations

from sqlalchemy import BigInteger, ColumnElement, Text

from app.errors import NotFoundError
from app.odata.binding.values import Bound, Elements, JsonStructure, Scope, Typed
from app.odata.model import edm
from app.odata.sql.dialect_sql import DialectSql, Predicate
from app.odata.syntax.nodes import Argument, Literal


def member_at(scope: Scope, collection: Bound, arguments: tuple[Argument, ...], name: str) -> Bound:
    """The member that a number in the path names; -1 is the last one.

    Raises: NotFoundError, ``collection`` has no members, or this is no number.
    """
    literal = arguments[0].value if len(arguments) == 1 and not arguments[0].name else None
    if (
        not isinstance(collection, Elements)
        or not isinstance(literal, Literal)
        or literal.kind != "integer"
    ):
        raise NotFoundError(f"{name} is followed by what is no part of it.")
    number = scope.context.parameters.bind(literal, BigInteger)
    # Behind the end, and before the beginning, there is nothing: no row, which is 404.
    there = Predicate(
        "(json_array_length({0}) > max({1}, -1 - {1}))",
        "(json_array_length({0}) > greatest({1}, -1 - {1}))",
        collection.sql,
        number,
    )
    scope.conditions.append(there)
    element = collection.type.element
    if isinstance(element, edm.ComplexType):
        return JsonStructure(_at(collection.sql, number, "->"), element)
    assert isinstance(element, edm.PrimitiveType)
    return Typed(_at(collection.sql, number, "->>"), element)


def _at(array: ColumnElement[str], number: ColumnElement[int], arrow: str) -> ColumnElement[str]:
    """The member as JSON by ``->``, as text by ``->>``; SQLite counts from the end by ``#``."""
    return DialectSql(
        Text(),
        f"({{0}} {arrow} ('$[' || (CASE WHEN {{1}} < 0 THEN '#' ELSE '' END) || {{1}} || ']'))",
        f"({{0}} {arrow} CAST(greatest(least({{1}}, 2147483647), -2147483647) AS INTEGER))",
        array,
        number,
    )
