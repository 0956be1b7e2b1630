"""Values inside a complex value or a collection that is kept as JSON."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Text
from sqlalchemy.types import TypeEngine

from app.odata.binding.type_coercion import FAMILIES
from app.odata.binding.values import Bound, Dynamic, Elements, JsonStructure, Typed
from app.odata.errors import QueryError, UnsupportedError, suggestion
from app.odata.model import edm
from app.odata.sql.dialect_sql import DialectSql

# ``{0}`` is the JSON, ``{1}`` a name. Of an undeclared property only a value of the JSON type that
# is wanted counts.
_DYNAMIC = {
    "text": (
        "(CASE json_type({0}, {1}) WHEN 'text' THEN json_extract({0}, {1}) END)",
        "(CASE json_typeof({0} -> {1}) WHEN 'string' THEN {0} ->> {1} END)",
    ),
    "decimal": (
        "(CASE WHEN json_type({0}, {1}) IN ('integer', 'real') THEN {0} -> {1} END"
        " COLLATE odata_decimal)",
        "(CASE json_typeof({0} -> {1}) WHEN 'number' THEN CAST({0} ->> {1} AS NUMERIC) END)",
    ),
    "boolean": (
        "(CASE WHEN json_type({0}, {1}) IN ('true', 'false') THEN json_extract({0}, {1}) END)",
        "(CASE json_typeof({0} -> {1}) WHEN 'boolean' THEN CAST({0} ->> {1} AS BOOLEAN) END)",
    ),
}
# Any value as the text that it is by itself; SQLite would make a number of a number, and writes
# what ``->`` gave as the JSON that it was.
_ANY_TEXT = (
    Text(),
    "(CASE json_type({0}, {1}) WHEN 'text' THEN json_extract({0}, {1})"
    " ELSE NULLIF({0} -> {1}, 'null') || '' END)",
    "({0} ->> {1})",
)


def json_member(sql: ColumnElement[Any], type_: edm.ComplexType, name: str, offset: int) -> Bound:
    """A property of a complex value; of an open one also a property that is not declared.

    Raises: QueryError, the type has no such property and is not open.
    """
    declared = type_.property_called(name)
    if declared is None:
        if type_.is_open:
            return Dynamic(sql, name)
        raise QueryError(
            f"{type_.name} has no property '{name}'{suggestion(name, type_.all_properties)}", offset
        )
    if isinstance(declared.type, edm.ComplexType):
        return JsonStructure(inner_json(sql, declared.name), declared.type)
    if isinstance(declared.type, edm.CollectionType):
        return Elements(inner_json(sql, declared.name), declared.type)
    family = FAMILIES.get(declared.type.family)
    if family is None or family.member is None:
        raise UnsupportedError(f"{declared.name} cannot be used in an expression", offset)
    spelling = (family.sql, family.member, f"CAST({{0}} ->> {{1}} AS {family.postgresql})")
    member = _member_as(spelling, sql, declared.name)
    return Typed(member, declared.type, plain=declared.allowed is not None)


def dynamic_value(dynamic: Dynamic, wanted: str) -> Typed:
    """An undeclared property as a value of a family; null where it is something else."""
    kind = "decimal" if wanted in ("integer", "double") else wanted
    kind = kind if kind in _DYNAMIC else "text"
    family = FAMILIES[kind]
    member = _member_as((family.sql, *_DYNAMIC[kind]), dynamic.sql, dynamic.name)
    return Typed(member, family.type)


def member_text(dynamic: Dynamic) -> DialectSql:
    """An undeclared property as text, whatever it is; null where there is none."""
    return _member_as(_ANY_TEXT, dynamic.sql, dynamic.name)


def inner_json(sql: ColumnElement[Any], name: str) -> DialectSql:
    """A member of a JSON object as the JSON that it is; null where it is not there."""
    return _member_as((Text(), "({0} -> {1})", "({0} -> {1})"), sql, name)


def _member_as(
    spelling: tuple[TypeEngine[Any], str, str], sql: ColumnElement[Any], name: str
) -> DialectSql:
    path = DialectSql(Text(), "('$.\"' || {0} || '\"')", "{0}", name)
    return DialectSql(*spelling, sql, path)
