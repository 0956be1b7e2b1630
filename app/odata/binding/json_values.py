"""JSON in SQL: values inside what is kept as such, and the JSON of a value (JSON Format 7.1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Column, ColumnElement, Text, literal_column
from sqlalchemy.types import TypeEngine

from app.db.types import ExactDecimal
from app.odata.binding.type_coercion import FAMILIES
from app.odata.binding.values import Bound, Dynamic, Elements, JsonStructure, Typed
from app.odata.errors import QueryError, UnsupportedError, suggestion
from app.odata.model import edm
from app.odata.sql.decimals import scaled_digits, written_number, written_text
from app.odata.sql.dialect_sql import Conversions, DialectSql, Part, spell
from app.odata.sql.sqlite_functions import NUMBER_BEHIND

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
            f"{type_.name} has no property '{name}'{suggestion(name, type_.properties)}", offset
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


# Beyond what a double holds exactly: strings where the client asked for IEEE754Compatible.
_LONG_NUMBERS = (edm.INT64, edm.DECIMAL)


def json_parts(
    value: ColumnElement[Any],
    type_: edm.EdmType,
    *,
    nullable: bool,
    plain: bool = False,
    ieee754: bool = False,
) -> Sequence[Part]:
    """The pieces of text that make the JSON of ``value``; null is ``null``.

    Args:
        plain: the text is known to need no escaping, such as that of an enumeration.
        ieee754: Int64 and Decimal are written as strings.
    """
    kind = type_.family
    if kind in ("integer", "decimal"):
        quoted = ieee754 and type_ in _LONG_NUMBERS
        if nullable and isinstance(value.type, ExactDecimal):
            return (_scaled_or_null(value, value.type, quoted=quoted),)
        text = _number_text(value)
        if quoted:
            return _quoted(text, nullable)
        return (or_null(text) if nullable else text,)
    if kind == "boolean":
        return (_boolean(value, nullable),)
    if (family := FAMILIES.get(kind)) is not None and family.text is not None:
        return _quoted(DialectSql(Text(), *family.text, value), nullable)
    if isinstance(type_, edm.EnumType):
        return _quoted(_members(value, type_), nullable)
    if kind == "double":
        return (_double(value, type_.name, nullable),)
    if kind == "text":
        return _quoted(value, nullable) if plain else (_string(value, nullable),)
    text = kept_json(value, type_, ieee754=ieee754)
    return (or_null(text) if nullable else text,)


def kept_json(
    value: ColumnElement[Any], type_: edm.EdmType, *, ieee754: bool
) -> ColumnElement[str]:
    """A collection or a complex value, which is kept as the JSON that it is."""
    text = DialectSql(Text(), "{0}", "CAST({0} AS TEXT)", value)
    return with_text_numbers(text, type_) if ieee754 else text


def with_text_numbers(text: ColumnElement[str], type_: edm.EdmType) -> ColumnElement[str]:
    """The JSON of a complex value or of several, their Int64 and Decimal made strings."""
    names = "|".join(sorted(_long_numbers(type_)))
    if not names:
        return text
    return DialectSql(
        Text(),
        f"odata_number_texts({{0}}, '{names}')",
        f"regexp_replace({{0}}, '{NUMBER_BEHIND.format(names)}', '\\1\"\\2\"', 'g')",
        text,
    )


def _long_numbers(type_: edm.EdmType) -> Iterator[str]:
    """The names of the properties of such types, at any depth."""
    if isinstance(type_, edm.CollectionType):
        type_ = type_.element
    for name, inner in getattr(type_, "properties", {}).items():
        if inner.type in _LONG_NUMBERS:
            yield name
        yield from _long_numbers(inner.type)


def plain_text(value: ColumnElement[Any], type_: edm.EdmType) -> ColumnElement[str]:
    """A value as text without quotes, null as null: what ``cast`` to Edm.String gives."""
    if type_ == edm.STRING:
        return value
    if type_ == edm.BOOLEAN:
        words = "(CASE WHEN {0} THEN 'true' WHEN NOT {0} THEN 'false' END)"
        return DialectSql(Text(), words, words, value)
    text = _text_of(value, type_)
    if isinstance(value, Column):
        return DialectSql(Text(), "CAST({0} AS TEXT)", '(CAST({0} AS TEXT) COLLATE "C")', text)
    # What is computed stands in a select of its own: templates write it several times.
    inner = _text_of(literal_column("o.v", value.type), type_)
    alone = '(SELECT CAST({1} AS TEXT) COLLATE "C" FROM (SELECT {2} AS v OFFSET 0) AS o)'  # nosec B608
    return DialectSql(Text(), "CAST({0} AS TEXT)", alone, text, inner, value)


def _text_of(value: ColumnElement[Any], type_: edm.EdmType) -> Part:
    if isinstance(value.type, ExactDecimal):
        return written_text(value, value.type)
    parts = json_parts(value, type_, nullable=False, plain=True)
    return next(part for part in parts if not isinstance(part, str))


def or_null(text: ColumnElement[Any]) -> DialectSql:
    """``text``, or the word ``null``."""
    return DialectSql(Text(), "ifnull({0}, 'null')", "coalesce(CAST({0} AS TEXT), 'null')", text)


def _quoted(text: ColumnElement[Any], nullable: bool) -> Sequence[Part]:
    if not nullable:
        return '"', text, '"'
    return (spell(Text(), "coalesce('\"' || {0} || '\"', 'null')", text),)


def _number_text(value: ColumnElement[Any]) -> ColumnElement[Any]:
    if not isinstance(value.type, ExactDecimal):
        return value
    kind = value.type
    postgresql = "{0}" if kind.least == kind.scale else written_number(kind)
    return Conversions(*scaled_digits(kind.scale, kind.least), postgresql, value)


def _scaled_or_null(value: ColumnElement[Any], kind: ExactDecimal, *, quoted: bool) -> DialectSql:
    """A decimal column or ``null``.

    In as few calls as there can be: inside five levels of ``$expand`` SQLite's parser has no room
    for more.
    """
    quote = '"' if quoted else ""
    conversions, fillers = scaled_digits(kind.scale, kind.least)
    written = f"printf('{quote}{conversions}{quote}', {', '.join(fillers)})"
    text = written_number(kind)
    return DialectSql(
        Text(),
        f"iif({{0}} IS NULL, 'null', {written})",
        f"coalesce('{quote}' || {text} || '{quote}', 'null')"
        if quoted
        else f"coalesce({text}, 'null')",
        value,
    )


def _boolean(value: ColumnElement[Any], nullable: bool) -> DialectSql:
    if nullable:
        sqlite = "CASE {0} WHEN 1 THEN 'true' WHEN 0 THEN 'false' ELSE 'null' END"
        return DialectSql(Text(), sqlite, "coalesce(CAST({0} AS TEXT), 'null')", value)
    return DialectSql(Text(), "iif({0}, 'true', 'false')", "CAST({0} AS TEXT)", value)


def _string(value: ColumnElement[Any], nullable: bool) -> DialectSql:
    """Escaped alike: the short escapes, then ``\\u00..`` in lower case for control characters."""
    postgresql = "CAST(to_json({0}) AS TEXT)"
    if nullable:
        postgresql = f"coalesce({postgresql}, 'null')"
    return DialectSql(Text(), "json_quote({0})", postgresql, value)


def _members(value: ColumnElement[Any], type_: edm.EnumType) -> DialectSql:
    """The name of a member; the names of the flags that are set, with commas between."""
    if not type_.is_flags:
        cases = " ".join(f"WHEN {number} THEN '{name}'" for name, number in type_.members.items())
        template = f"(CASE {{0}} {cases} ELSE CAST({{0}} AS TEXT) END)"
        return DialectSql(Text(), template, template, value)
    flags = " || ".join(
        f"CASE WHEN {{0}} & {number} = {number} THEN ',{name}' ELSE '' END"
        for name, number in type_.members.items()
        if number
    )
    zero = next((name for name, number in type_.members.items() if number == 0), "0")
    some = f"WHEN {{0}} IS NOT NULL THEN ltrim({flags}, ',')"
    template = f"(CASE WHEN {{0}} = 0 THEN '{zero}' {some} END)"
    return DialectSql(Text(), template, template, value)


def _double(value: ColumnElement[Any], name: str, nullable: bool) -> DialectSql:
    """The shortest text that reads back as the same number; NaN, INF and -INF as strings.

    A zero has no sign: SQLite does not keep it.
    """
    kind = "REAL" if name == "Edm.Single" else "DOUBLE PRECISION"
    number = f"(CAST({{0}} AS {kind}) + CAST(0 AS {kind}))"
    postgresql = (
        f"CASE {number} WHEN 'NaN' THEN '\"NaN\"' WHEN 'Infinity' THEN '\"INF\"'"
        f" WHEN '-Infinity' THEN '\"-INF\"' ELSE CAST({number} AS TEXT) END"
    )
    function = "odata_single_text" if name == "Edm.Single" else "odata_double_text"
    text = DialectSql(Text(), f"{function}({{0}})", postgresql, value)
    return or_null(text) if nullable else text
