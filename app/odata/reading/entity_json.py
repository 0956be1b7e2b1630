"""The JSON of an entity as SQL: what a projection shows, written by the database."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Text,
    and_,
    bindparam,
    func,
    literal_column,
    not_,
    or_,
    select,
)

from app.odata.binding.comparison import is_null
from app.odata.binding.json_values import (
    inner_json,
    json_parts,
    kept_json,
    member_text,
    or_null,
    plain_text,
    with_text_numbers,
)
from app.odata.binding.paths import of_property
from app.odata.binding.values import (
    Bound,
    Dynamic,
    Elements,
    JsonStructure,
    Scope,
    Structure,
    Typed,
)
from app.odata.model import edm
from app.odata.protocol.negotiation import Format
from app.odata.reading.bound import (
    BoundQuery,
    ComputedMember,
    ExpandMember,
    Member,
    Parts,
    Projection,
    PropertyMember,
    ShownMembers,
)
from app.odata.reading.control import (
    Declared,
    Piece,
    dynamic_annotation,
    dynamic_member,
    entity_control,
    navigation_links,
    only_of,
    own_type,
    stream_link,
    type_annotation,
)
from app.odata.reading.expansion_links import KEYS
from app.odata.reading.keyset import continues_by_key, key_json
from app.odata.reading.statement import RUN
from app.odata.sql.dialect_sql import DialectSql, Part, Template, spell


def entity_json(projection: Projection, format_: Format) -> ColumnElement[str]:
    """One JSON object; nothing stands beside it."""
    members = [
        *entity_control(projection, format_),
        *(piece for member in projection.members for piece in _member(member, projection, format_)),
        *navigation_links(projection, format_),
    ]
    return _object(members, alone=True)


def _object(members: Sequence[Piece], *, alone: bool = False) -> ColumnElement[str]:
    """A JSON object; ``alone`` as in ``Template``."""
    if any(member.absent is not None for member in members):
        return _with_absent(members, alone=alone)
    pieces: list[Part] = []
    for member in members:
        pieces += [",", *member.parts] if pieces else member.parts
    return Template(["{", *pieces, "}"], alone=alone)


def _with_absent(members: Sequence[Piece], *, alone: bool) -> ColumnElement[str]:
    """An object some members of which may be left out, each with a comma of its own.

    The commas stand on the side of a member that is always there. Whatever is expanded stands in
    no function: there it would be too deep for SQLite's parser.
    """
    always = next((at for at, member in enumerate(members) if member.absent is None), None)
    if always is None:
        text = Template(
            [part for member in members for part in _optional(member, [",", *member.parts])]
        )
        return spell(Text(), "('{' || substr({0}, 2) || '}')", text)
    pieces: list[Part] = []
    for at, member in enumerate(members):
        if at < always:
            pieces += _optional(member, [*member.parts, ","])
        else:
            pieces += _optional(member, [",", *member.parts] if at > always else member.parts)
    return Template(["{", *pieces, "}"], alone=alone)


def _optional(member: Piece, parts: Sequence[Part]) -> Sequence[Part]:
    if member.absent is None:
        return parts
    text = Template(parts)
    return [spell(Text(), "CASE WHEN {0} THEN '' ELSE {1} END", member.absent, text)]


def reference_json(projection: Projection, format_: Format) -> ColumnElement[str]:
    """``{"@odata.id":"Clients(1)"}``."""
    return Template([f'{{"{format_.control("id")}":"', *projection.address, '"}'])


def property_json(
    bound: Bound, parts: frozenset[str] | None, format_: Format
) -> ColumnElement[str]:
    """The JSON of one value by itself, or of some parts of a complex one; SQL's null where it is
    null.
    """
    return spell(Text(), "NULLIF({0}, 'null')", Template(_json(bound, parts, format_)))


def raw_value(bound: Bound) -> ColumnElement[str]:
    """One primitive value as plain text."""
    if isinstance(bound, Dynamic):
        return member_text(bound)
    assert isinstance(bound, Typed)
    return plain_text(bound.sql, bound.type)


def _member(member: Member, projection: Projection, format_: Format) -> Iterator[Piece]:
    """What a member writes, the annotation of its type before it."""
    match member:
        case ComputedMember():
            yield from _computed(member, format_)
            return
        case PropertyMember():
            pieces = _of_property(member, projection, format_)
        case ExpandMember():
            pieces = _expanded(member, format_)
    yield from only_of(member.of or projection.scope.type, pieces, projection.scope)


def _computed(member: ComputedMember, format_: Format) -> Iterator[Piece]:
    value, null = member.value, None
    if format_.omit_nulls and value.nullable:
        value, null = replace(value, nullable=False), is_null(value)
    yield from _undeclared(member.name, value.type, _value(value, format_), format_, null)


def _undeclared(
    name: str, type_: edm.EdmType, value: Sequence[Part], format_: Format,
    absent: ColumnElement[bool] | None,
) -> Iterator[Piece]:  # fmt: skip
    """A value that nothing declares, its type before it."""
    if annotation := dynamic_annotation(name, type_, format_):
        yield Piece(annotation, absent)
    yield Piece(dynamic_member(name, type_, value, format_), absent)


def _of_property(
    member: PropertyMember, projection: Projection, format_: Format
) -> Iterator[Piece]:
    property_, scope = member.property, projection.scope
    name, type_ = property_.name, property_.type
    if type_ == edm.STREAM:
        yield Piece(stream_link(projection, property_, format_, member.of or scope.type))
        return
    bound = of_property(scope, property_)
    if isinstance(member.parts, ShownMembers):
        yield from _members(name, member.parts, bound, format_)
        return
    currency = property_.currency_property if format_.currencies else None
    optional = bound.nullable if isinstance(bound, Typed) else not isinstance(bound, Elements)
    # What has an annotation is not left out (Protocol 8.2.8.6).
    is_left_out = format_.omit_nulls and optional and currency is None
    declared = Declared.of(scope)
    value = _json(
        bound, member.parts, format_,
        declared=None if declared is None else declared.inside(name),
        nullable=not is_left_out and (property_.nullable or not isinstance(bound, Elements)),
    )  # fmt: skip
    absent = _missing(scope, property_)
    if is_left_out:
        absent = is_null(bound) if absent is None else or_(absent, is_null(bound))
    if declared is not None and not declared.has(name, type_):
        yield from _undeclared(name, type_, value, format_, absent)
        return
    if annotation := type_annotation(name, type_, format_):
        yield Piece(annotation, absent)
    if currency is not None:
        text = _json(of_property(scope, scope.type.properties[currency]), None, format_)
        yield Piece([f'"{name}@Measures.ISOCurrency":', *text], absent)
    yield Piece([f'"{name}":', *value], absent)


def _value(value: Typed, format_: Format) -> Sequence[Part]:
    return json_parts(
        value.sql, value.type, nullable=value.nullable, plain=value.plain, ieee754=format_.ieee754
    )


def _json(
    bound: Bound, parts: Parts, format_: Format, *,
    declared: Declared | None = None, nullable: bool = True,
) -> Sequence[Part]:  # fmt: skip
    """The JSON of a value, or of some parts of a complex one; the word ``null`` where it is null.

    Args:
        declared: what is declared of a complex value, where ``$apply`` made it.
        nullable: whether it is written where it is null, too.
    """
    chosen = parts if isinstance(parts, frozenset) else None
    match bound:
        case Typed():
            return _value(replace(bound, nullable=bound.nullable and nullable), format_)
        case Structure():
            return [_columns_json(bound, chosen, format_, declared, nullable=nullable)]
        case JsonStructure(sql=sql, type=type_):
            own = own_type(type_, format_)
            if chosen is not None:
                return [_json_parts_of(sql, type_, chosen, format_, own)]
            return [_json_object(kept_json(sql, type_, ieee754=format_.ieee754), own)]
        case Elements(sql=sql, type=type_):
            text = kept_json(sql, type_, ieee754=format_.ieee754)
            return [or_null(text) if nullable else text]
        case Dynamic(sql=sql, name=name):
            return [or_null(inner_json(sql, name))]
    raise TypeError(type(bound).__name__)


def _members(name: str, members: ShownMembers, bound: Bound, format_: Format) -> Iterator[Piece]:
    """Some members of a collection, by themselves without a name; before them the number of those
    that pass if asked for.
    """
    assert isinstance(bound, Elements)
    if annotation := type_annotation(name, bound.type, format_):
        yield Piece(annotation)
    if members.count:
        number = json_parts(members.number(), edm.INT64, nullable=False, ieee754=format_.ieee754)
        yield Piece([f'"{format_.control("count", name)}":', *number])
    yield Piece([f'"{name or "value"}":', _array(members, bound, format_)])


def _array(members: ShownMembers, bound: Elements, format_: Format) -> ColumnElement[str]:
    each = members.rows(_one_member(members, format_)).subquery(members.name)
    joined = spell(Text(), "coalesce({0}, '')", joined_texts(each.c.j))
    array = select(joined).select_from(each).correlate_except(each).scalar_subquery()
    whole = Template(["[", array, "]"])
    return spell(Text(), "(CASE WHEN {0} IS NULL THEN 'null' ELSE {1} END)", bound.sql, whole)


def members_json(members: ShownMembers, bound: Elements, format_: Format) -> ColumnElement[str]:
    """Some members of a collection by themselves, and their number if asked for."""
    return _object(list(_members("", members, bound, format_)))


def _one_member(members: ShownMembers, format_: Format) -> ColumnElement[str]:
    if isinstance(members.member, Typed):
        return Template(_value(members.member, format_))
    assert isinstance(members.member, JsonStructure)
    sql, parts = members.member.sql, members.parts
    if parts is None:
        return kept_json(sql, members.member.type, ieee754=format_.ieee754)
    return _json_parts_of(sql, members.member.type, parts, format_)


def _columns_json(
    bound: Structure,
    parts: frozenset[str] | None,
    format_: Format,
    declared: Declared | None = None,
    *,
    nullable: bool = True,
) -> ColumnElement[str]:
    """A complex value of columns; null where all of them are.

    Args:
        declared: what is declared of it, where ``$apply`` made it.
        nullable: whether it is written where it is null, too.
    """
    type_ = bound.property.type
    assert isinstance(type_, edm.ComplexType) and bound.property.columns is not None
    missing = {
        name: _missing(bound.scope, property_) for name, property_ in type_.properties.items()
    }
    own = "" if declared is not None else own_type(type_, format_)
    members = [Piece([own])] if own else []
    for name, inner in type_.properties.items():
        if parts is not None and name not in parts:
            continue
        text: Sequence[Part]
        if inner.columns is not None:
            inside = None if declared is None else declared.inside(name)
            text = [_columns_json(Structure(bound.scope, inner), None, format_, inside)]
        else:
            column = bound.scope.columns[bound.property.columns[name]]
            text = json_parts(column, inner.type, nullable=True, ieee754=format_.ieee754)
            if declared is not None and not declared.has(name, inner.type):
                members += _undeclared(name, inner.type, text, format_, missing[name])
                continue
            if annotation := type_annotation(name, inner.type, format_):
                members.append(Piece(annotation, missing[name]))
        members.append(Piece([f'"{name}":', *text], missing[name]))
    whole = _object(members)
    if not (nullable and bound.property.nullable):
        return whole
    # A value without one of its parts is no null: it would not be told from one with null in them.
    there = [not_(condition) for condition in missing.values() if condition is not None]
    null = and_(is_null(bound), *there)
    return spell(Text(), "(CASE WHEN {0} THEN 'null' ELSE {1} END)", null, whole)


def _missing(scope: Scope, property_: edm.Property) -> ColumnElement[bool] | None:
    """That a row made by ``$apply`` does not have a property, or any part of it; None for never."""
    if property_.absent is not None:
        column: ColumnElement[Any] = scope.columns[property_.absent]
        return column == 1
    if property_.columns is None or not isinstance(property_.type, edm.ComplexType):
        return None
    parts = [_missing(scope, part) for part in property_.type.properties.values()]
    known = {id(part): part for part in parts if part is not None}
    return and_(*known.values()) if len(known) == len(parts) else None


def _json_object(text: ColumnElement[str], own: str) -> ColumnElement[str]:
    """The JSON of a complex value, ``own`` as its first member."""
    if not own:
        return or_null(text)
    template = (
        f"(CASE WHEN {{0}} IS NULL THEN 'null' WHEN {{0}} = '{{}}' THEN '{{{own}}}'"
        f" ELSE '{{{own},' || substr({{0}}, 2) END)"
    )
    return spell(Text(), template, text)


def _json_parts_of(
    sql: ColumnElement[str],
    type_: edm.ComplexType,
    parts: frozenset[str],
    format_: Format,
    own: str = "",
) -> ColumnElement[str]:
    """Some members of a complex value kept as JSON, those of an open type by any name."""
    pieces: list[Part] = ["{", *([own] if own else [])]
    declared = type_.all_properties
    for name in [*(name for name in declared if name in parts),
                 *sorted(parts - set(declared))]:  # fmt: skip
        pieces += [f'{"," if len(pieces) > 1 else ""}"{name}":', or_null(inner_json(sql, name))]
    whole: ColumnElement[str] = Template([*pieces, "}"])
    if format_.ieee754:
        whole = with_text_numbers(whole, type_)
    return spell(Text(), "(CASE WHEN {0} IS NULL THEN 'null' ELSE {1} END)", sql, whole)


def _expanded(member: ExpandMember, format_: Format) -> Iterator[Piece]:
    name, query = member.name, member.query
    if query.count or member.count_only:
        yield Piece([f'"{format_.control("count", name)}":', *number_of(query, format_)])
    if member.count_only:
        return
    projection = query.projection
    assert projection is not None
    writer = reference_json if member.ref else entity_json
    text = writer(projection, format_)
    if member.remainder is not None:
        text = with_keys(text, query)
    rows = query.within(text.label("j"))
    if not member.collection:
        yield Piece([f'"{name}":', or_null(rows.limit(1).scalar_subquery())])
        return
    rows = rows.order_by(*(key.clause() for key in query.order)).limit(limit_of(query))
    if query.skip is not None:
        rows = rows.offset(query.skip)
    each = rows.subquery(query.translator.context.next_name())
    joined = spell(Text(), "coalesce({0}, '')", joined_texts(each.c.j))
    piece = joined if member.remainder is None else with_mark(joined, member, format_)
    array = select(piece).select_from(each).correlate_except(each)
    yield Piece([f'"{name}":[', array.scalar_subquery(), "]"])


def joined_texts(text: ColumnElement[str]) -> ColumnElement[str]:
    """The texts of all rows with commas between; null where there is no row."""
    return DialectSql(Text(), "group_concat({0}, ',')", "string_agg({0}, ',')", text)


# How many related entities a row shows at most.
_PAGE = bindparam(f"{RUN}expanded", type_=BigInteger(), required=True)


def with_keys(text: ColumnElement[str], query: BoundQuery) -> ColumnElement[str]:
    """A member, and behind it the sort keys that a link begins after where it is the last one.

    They stand behind each: which is the last is known when all are joined.
    """
    if not continues_by_key(query):
        return text
    return Template([text, KEYS, *key_json(query.order), KEYS], alone=True)


def with_mark(
    joined: ColumnElement[str], member: ExpandMember, format_: Format
) -> ColumnElement[str]:
    """The members, and behind a full page of them the mark of a link to others.

    They are counted while they are joined. Whether there are others is looked up only then, and
    not on the deepest levels: SQLite's parser takes no deeper query.
    """
    query, remainder = member.query, member.remainder
    assert remainder is not None
    mark = Template(remainder.mark(format_.control("nextLink", member.name)))
    full = func.count() >= _PAGE
    if query.top is not None:
        full = and_(full, query.top > _PAGE)
    if not remainder.is_deep:
        before = _PAGE if query.skip is None else _PAGE + query.skip
        constant: ColumnElement[int] = literal_column("1")
        others = query.within(constant)
        full = and_(full, others.limit(1).offset(before).exists())
    return spell(Text(), "{0} || CASE WHEN {1} THEN {2} ELSE '' END", joined, full, mark)


def limit_of(query: BoundQuery) -> ColumnElement[int]:
    if query.top is None:
        return _PAGE
    return DialectSql(BigInteger(), "min({0}, {1})", "least({0}, {1})", query.top, _PAGE)


def number_of(query: BoundQuery, format_: Format) -> Sequence[Part]:
    """How many related entities there are, ``$skip`` and ``$top`` aside."""
    count = query.within(func.count())
    number = count.scalar_subquery()
    return json_parts(number, edm.INT64, nullable=False, ieee754=format_.ieee754)
