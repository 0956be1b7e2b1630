"""The JSON of an entity as SQL: what a projection shows, written by the database, with the control
information inside it: its tag, type, address and links (JSON Format 4.6).

What ``$compute`` and ``$apply`` make is declared nowhere. A client reads the JSON of such a value
by itself: text as Edm.String, a number as Edm.Double. Where it is something else, its type stands
beside it (JSON Format 4.6.3, decision 0023).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Select,
    Text,
    and_,
    bindparam,
    case,
    func,
    literal_column,
    not_,
    or_,
    select,
    true,
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
from app.odata.reading.keyset import continues_by_key, key_json
from app.odata.reading.statement import RUN
from app.odata.sql.dialect_sql import DialectSql, Part, Template, spell
from app.odata.syntax.literals import quoted

# What JSON itself tells: no annotation is needed (JSON Format 4.6.3).
_EVIDENT = frozenset(("Edm.String", "Edm.Boolean", "Edm.Double"))
# How many related entities a row shows at most.
_PAGE = bindparam(f"{RUN}expanded", type_=BigInteger(), required=True)


@dataclass(frozen=True, slots=True)
class Piece:
    """``"name":value``; ``absent`` is the condition that it is left out, where it may be."""

    parts: Sequence[Part]
    absent: ColumnElement[bool] | None = None


@dataclass(frozen=True, slots=True)
class EntityWriter:
    """Writes what projections show, in one form of JSON."""

    format: Format

    def entity(self, projection: Projection) -> ColumnElement[str]:
        """One JSON object; nothing stands beside it."""
        members = [
            *self._control(projection),
            *(piece for member in projection.members for piece in self._member(member, projection)),
            *self._navigation_links(projection),
        ]
        return _object(members, alone=True)

    def reference(self, projection: Projection) -> ColumnElement[str]:
        """``{"@odata.id":"Clients(1)"}``."""
        return Template([f'{{"{self.format.control("id")}":"', *projection.address, '"}'])

    def property(self, bound: Bound, parts: frozenset[str] | None) -> ColumnElement[str]:
        """The JSON of one value, or of some parts of a complex one; SQL's null where it is null."""
        return spell(Text(), "NULLIF({0}, 'null')", Template(self._json(bound, parts)))

    def members(self, members: ShownMembers, bound: Elements) -> ColumnElement[str]:
        """Some members of a collection by themselves, and their number if asked for."""
        return _object(list(self._members("", members, bound)))

    def _control(self, projection: Projection) -> Iterator[Piece]:
        """What stands before the properties: the tag unless ``none``, type and address if ``full``.

        The address is there as well where a part of the key is not shown, from which it would
        follow (JSON Format 4.6.8; 4.5.8 of 4.0).
        """
        scope = projection.scope
        type_ = scope.type
        if self.format.metadata == "none" or not type_.key:  # what $apply made is no entity
            return
        full = self.format.metadata == "full"
        yield from self._type(scope)
        if full or self.format.mixed or not _shows_key(projection):
            yield Piece([f'"{self.format.control("id")}":"', *projection.address, '"'])
        if type_.etag is not None:
            tag = scope.columns[type_.etag]
            yield Piece([f'"{self.format.control("etag")}":"W/\\"', tag, '\\""'])
        if full:
            yield Piece([f'"{self.format.control("editLink")}":"', *projection.address, '"'])
        if type_.has_stream:
            yield Piece(
                [f'"{self.format.control("mediaReadLink")}":"', *projection.address, '/$value"']
            )
        for each, properties, _ in scope.context.container.each_adds(type_):
            own: list[Piece] = []
            if full:
                streams = (property_ for property_ in properties if property_.type == edm.STREAM)
                own += (Piece(self._stream_link(projection, stream, each)) for stream in streams)
            if full or projection.operations is not None:
                own += _actions(projection, each, full=full)
            yield from only_of(each, own, scope)

    def _type(self, scope: Scope) -> Iterator[Piece]:
        """The type if ``full``, else that of rows that are of a derived one (JSON Format 4.6.3)."""
        type_, container = scope.type, scope.context.container
        derived = {
            value: kind for value, kind in container.kinds(type_).items() if kind is not type_
        }
        full = self.format.metadata == "full" or self.format.mixed or scope.is_announced
        if not full and not derived:
            return
        start = f'"{self.format.control("type")}":"#{container.namespace}.'
        if not derived:
            yield Piece([f'{start}{type_.name}"'])
            return
        attribute = next(kind.discriminator[0] for kind in derived.values() if kind.discriminator)
        names = {value: kind.name for value, kind in derived.items()}
        name = case(names, value=scope.columns[attribute], else_=type_.name)
        plain = None if full else scope.columns[attribute].not_in(list(names))
        yield Piece([start, name, '"'], plain)

    def _navigation_links(self, projection: Projection) -> Iterator[Piece]:
        """Where related entities and the relations to them are read, if ``full``.

        Rows without a key, such as combinations, have no address that these could continue.
        """
        scope = projection.scope
        if self.format.metadata != "full" or not scope.type.key:
            return
        expanded = {
            member.name for member in projection.members if isinstance(member, ExpandMember)
        }
        for type_, _, navigation in scope.context.container.each_adds(scope.type):
            own: list[Piece] = []
            for name in (each.name for each in navigation):
                url = [*_seen_as(projection, type_), f"/{name}"]
                own.append(
                    Piece([f'"{self.format.control("associationLink", name)}":"', *url, '/$ref"'])
                )
                if name not in expanded:
                    own.append(
                        Piece([f'"{self.format.control("navigationLink", name)}":"', *url, '"'])
                    )
            yield from only_of(type_, own, scope)

    def _stream_link(
        self, projection: Projection, property_: edm.Property, type_: edm.EntityType
    ) -> Sequence[Part]:
        """Where the bytes of a stream property of a type are read."""
        name, address = property_.name, _seen_as(projection, type_)
        return [f'"{self.format.control("mediaReadLink", name)}":"', *address, f'/{name}"']

    def type_annotation(self, name: str, type_: edm.EdmType) -> Sequence[Part]:
        """The type of a value whose JSON does not tell it, if ``full``.

        It is that of the answer without a name. A complex value has it inside, see ``_own_type``.
        """
        is_inside = isinstance(type_, edm.ComplexType)
        text = "" if is_inside else type_text(type_, self.format)
        return [f'"{self.format.control("type", name)}":"{text}"'] if text else ()

    def _own_type(self, type_: edm.ComplexType) -> str:
        """The type as the first member of a complex value, if ``full``; else the empty text."""
        text = type_text(type_, self.format)
        return f'"{self.format.control("type")}":"{text}"' if text else ""

    def _dynamic_annotation(self, name: str, type_: edm.EdmType) -> Sequence[Part]:
        """The type of an undeclared value, if its JSON does not tell it; not if ``none``."""
        if self.format.metadata == "none":
            return ()
        return EntityWriter(self.format._replace(metadata="full")).type_annotation(name, type_)

    def _dynamic_member(
        self, name: str, type_: edm.EdmType, value: Sequence[Part]
    ) -> Sequence[Part]:
        """``"name":value``; beside INF and NaN, which are text, stands that it is a Double.

        The value is in the SQL once.
        """
        plain = f'"{name}":'
        if type_ != edm.DOUBLE or self.format.metadata == "none":
            return [plain, *value]
        parts = f'"{self.format.control("type", name)}":"#Double",{plain}"'
        template = f"replace('{plain}' || {{0}}, '{plain}\"', '{parts}')"
        return [spell(Text(), template, Template(value))]

    def _member(self, member: Member, projection: Projection) -> Iterator[Piece]:
        """What a member writes, the annotation of its type before it."""
        match member:
            case ComputedMember():
                yield from self._computed(member)
                return
            case PropertyMember():
                pieces = self._of_property(member, projection)
            case ExpandMember():
                pieces = self._expanded(member)
        yield from only_of(member.of or projection.scope.type, pieces, projection.scope)

    def _computed(self, member: ComputedMember) -> Iterator[Piece]:
        value, null = member.value, None
        if self.format.omit_nulls and value.nullable:
            value, null = replace(value, nullable=False), is_null(value)
        yield from self._undeclared(member.name, value.type, self._value(value), null)

    def _undeclared(
        self,
        name: str,
        type_: edm.EdmType,
        value: Sequence[Part],
        absent: ColumnElement[bool] | None,
    ) -> Iterator[Piece]:
        """A value that nothing declares, its type before it."""
        if annotation := self._dynamic_annotation(name, type_):
            yield Piece(annotation, absent)
        yield Piece(self._dynamic_member(name, type_, value), absent)

    def _of_property(self, member: PropertyMember, projection: Projection) -> Iterator[Piece]:
        property_, scope = member.property, projection.scope
        name, type_ = property_.name, property_.type
        if type_ == edm.STREAM:
            yield Piece(self._stream_link(projection, property_, member.of or scope.type))
            return
        bound = of_property(scope, property_)
        if isinstance(member.parts, ShownMembers):
            yield from self._members(name, member.parts, bound)
            return
        currency = property_.currency_property if self.format.currencies else None
        optional = bound.nullable if isinstance(bound, Typed) else not isinstance(bound, Elements)
        # What has an annotation is not left out (Protocol 8.2.8.6).
        is_left_out = self.format.omit_nulls and optional and currency is None
        declared = Declared.of(scope)
        value = self._json(
            bound, member.parts, declared=None if declared is None else declared.inside(name),
            nullable=not is_left_out and (property_.nullable or not isinstance(bound, Elements)),
        )  # fmt: skip
        absent = _missing(scope, property_)
        if is_left_out:
            absent = is_null(bound) if absent is None else or_(absent, is_null(bound))
        if declared is not None and not declared.has(name, type_):
            yield from self._undeclared(name, type_, value, absent)
            return
        if annotation := self.type_annotation(name, type_):
            yield Piece(annotation, absent)
        if currency is not None:
            text = self._json(of_property(scope, scope.type.properties[currency]), None)
            yield Piece([f'"{name}@Measures.ISOCurrency":', *text], absent)
        yield Piece([f'"{name}":', *value], absent)

    def _value(self, value: Typed) -> Sequence[Part]:
        return json_parts(
            value.sql,
            value.type,
            nullable=value.nullable,
            plain=value.plain,
            ieee754=self.format.ieee754,
        )

    def _json(
        self,
        bound: Bound,
        parts: Parts,
        *,
        declared: Declared | None = None,
        nullable: bool = True,
    ) -> Sequence[Part]:
        """The JSON of a value, or of some parts of a complex one; the word ``null`` for null.

        Args:
            declared: what is declared of a complex value, where ``$apply`` made it.
            nullable: whether it is written where it is null, too.
        """
        chosen = parts if isinstance(parts, frozenset) else None
        match bound:
            case Typed():
                return self._value(replace(bound, nullable=bound.nullable and nullable))
            case Structure():
                return [self._columns_json(bound, chosen, declared, nullable=nullable)]
            case JsonStructure(sql=sql, type=type_):
                own = self._own_type(type_)
                if chosen is not None:
                    return [self._json_parts_of(sql, type_, chosen, own)]
                return [_json_object(kept_json(sql, type_, ieee754=self.format.ieee754), own)]
            case Elements(sql=sql, type=type_):
                text = kept_json(sql, type_, ieee754=self.format.ieee754)
                return [or_null(text) if nullable else text]
            case Dynamic(sql=sql, name=name):
                return [or_null(inner_json(sql, name))]
        raise TypeError(type(bound).__name__)

    def _members(self, name: str, members: ShownMembers, bound: Bound) -> Iterator[Piece]:
        """Some members of a collection, by themselves without a name; before them, if asked for,
        the number of those that pass.
        """
        assert isinstance(bound, Elements)
        if annotation := self.type_annotation(name, bound.type):
            yield Piece(annotation)
        if members.count:
            yield self._count(name, members.number())
        yield Piece([f'"{name or "value"}":', self._array(members, bound)])

    def _array(self, members: ShownMembers, bound: Elements) -> ColumnElement[str]:
        each = members.rows(self._one_member(members)).subquery(members.name)
        joined = spell(Text(), "coalesce({0}, '')", joined_texts(each.c.j))
        array = select(joined).select_from(each).correlate_except(each).scalar_subquery()
        whole = Template(["[", array, "]"])
        return spell(Text(), "(CASE WHEN {0} IS NULL THEN 'null' ELSE {1} END)", bound.sql, whole)

    def _one_member(self, members: ShownMembers) -> ColumnElement[str]:
        if isinstance(members.member, Typed):
            return Template(self._value(members.member))
        assert isinstance(members.member, JsonStructure)
        sql, parts = members.member.sql, members.parts
        if parts is None:
            return kept_json(sql, members.member.type, ieee754=self.format.ieee754)
        return self._json_parts_of(sql, members.member.type, parts)

    def _columns_json(
        self,
        bound: Structure,
        parts: frozenset[str] | None,
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
        own = "" if declared is not None else self._own_type(type_)
        members = [Piece([own])] if own else []
        for name, inner in type_.properties.items():
            if parts is not None and name not in parts:
                continue
            text: Sequence[Part]
            if inner.columns is not None:
                inside = None if declared is None else declared.inside(name)
                text = [self._columns_json(Structure(bound.scope, inner), None, inside)]
            else:
                column = bound.scope.columns[bound.property.columns[name]]
                text = json_parts(column, inner.type, nullable=True, ieee754=self.format.ieee754)
                if declared is not None and not declared.has(name, inner.type):
                    members += self._undeclared(name, inner.type, text, missing[name])
                    continue
                if annotation := self.type_annotation(name, inner.type):
                    members.append(Piece(annotation, missing[name]))
            members.append(Piece([f'"{name}":', *text], missing[name]))
        whole = _object(members)
        if not (nullable and bound.property.nullable):
            return whole
        # A value without one of its parts is no null: it would not be told from one with nulls.
        there = [not_(condition) for condition in missing.values() if condition is not None]
        null = and_(is_null(bound), *there)
        return spell(Text(), "(CASE WHEN {0} THEN 'null' ELSE {1} END)", null, whole)

    def _json_parts_of(
        self,
        sql: ColumnElement[str],
        type_: edm.ComplexType,
        parts: frozenset[str],
        own: str = "",
    ) -> ColumnElement[str]:
        """Some members of a complex value kept as JSON, those of an open type by any name."""
        pieces: list[Part] = ["{", *([own] if own else [])]
        declared = type_.properties
        for name in [*(name for name in declared if name in parts),
                     *sorted(parts - set(declared))]:  # fmt: skip
            pieces += [f'{"," if len(pieces) > 1 else ""}"{name}":', or_null(inner_json(sql, name))]
        whole: ColumnElement[str] = Template([*pieces, "}"])
        if self.format.ieee754:
            whole = with_text_numbers(whole, type_)
        return spell(Text(), "(CASE WHEN {0} IS NULL THEN 'null' ELSE {1} END)", sql, whole)

    def _expanded(self, member: ExpandMember) -> Iterator[Piece]:
        name, query = member.name, member.query
        if query.count or member.count_only:
            # ``$skip`` and ``$top`` aside.
            yield self._count(name, query.within(func.count()).scalar_subquery())
        if member.count_only:
            return
        projection = query.projection
        assert projection is not None
        writer = self.reference if member.ref else self.entity
        text = writer(projection).label("j")
        if not member.collection:
            yield Piece([f'"{name}":', or_null(query.within(text).limit(1).scalar_subquery())])
            return
        rows = _ordered(query, text).limit(limit_of(query))
        if query.skip is not None:
            rows = rows.offset(query.skip)
        each = rows.subquery(query.translator.context.next_name())
        joined = spell(Text(), "coalesce({0}, '')", joined_texts(each.c.j))
        piece = joined if member.remainder is None else self._with_mark(joined, member)
        array = select(piece).select_from(each).correlate_except(each)
        yield Piece([f'"{name}":[', array.scalar_subquery(), "]"])

    def _with_mark(self, joined: ColumnElement[str], member: ExpandMember) -> ColumnElement[str]:
        """The members, and behind a full page of them, if there are others, the mark of a link.

        They are counted while they are joined. Others and the sort keys of the last member are
        looked up only where the page is full.
        """
        query, remainder = member.query, member.remainder
        assert remainder is not None
        nothing: ColumnElement[str] = literal_column("''")
        constant: ColumnElement[int] = literal_column("1")
        before = _PAGE if query.skip is None else _PAGE + query.skip
        is_whole = func.count() < _PAGE
        if query.top is not None:
            is_whole = or_(is_whole, query.top <= _PAGE)
        keys: list[Part] = []
        if continues_by_key(query):
            last = _ordered(query, Template(key_json(query.order), alone=True))
            keys = [last.limit(1).offset(before - 1).scalar_subquery()]
        mark = Template(remainder.mark(self.format.control("nextLink", member.name), keys))
        link = case((is_whole, nothing), else_=mark)
        if not remainder.is_deep:
            others = query.within(constant).limit(1).offset(before).exists()
            link = case((is_whole, nothing), (others, mark), else_=nothing)
        return spell(Text(), "{0} || {1}", joined, link)

    def _count(self, name: str, number: ColumnElement[int]) -> Piece:
        text = json_parts(number, edm.INT64, nullable=False, ieee754=self.format.ieee754)
        return Piece([f'"{self.format.control("count", name)}":', *text])


def only_of(type_: edm.EntityType, pieces: Iterable[Piece], scope: Scope) -> Iterator[Piece]:
    """What only rows of a type show: that of the rows, or one derived from it."""
    kind = None if type_ is scope.type else scope.is_of(type_)
    for piece in pieces:
        absent = piece.absent
        if kind is not None:
            absent = not_(kind) if absent is None else or_(not_(kind), absent)
        yield Piece(piece.parts, absent)


def _shows_key(projection: Projection) -> bool:
    members = projection.members
    names = {member.property.name for member in members if isinstance(member, PropertyMember)}
    return names.issuperset(projection.scope.type.key)


def _actions(projection: Projection, type_: edm.EntityType, *, full: bool) -> Iterator[Piece]:
    """The actions bound to the entity, null where one is not possible now (JSON Format 16.1).

    Of a derived type those that are bound to it; of the type of the rows the inherited ones, too.

    Those that ``$select`` names, or all; title and target, which follow from the name, if ``full``.
    """
    scope = projection.scope
    container, rights = scope.context.container, scope.context.caller.rights
    names = [base.name for base in scope.type.lineage]
    own = names if type_ is scope.type else [type_.name]
    for operation in container.operations:
        is_bound = operation.bound_to in own and not operation.bound_to_collection
        is_named = projection.operations is None or operation.name in projection.operations
        if not (operation.is_action and is_bound and is_named):
            continue
        name = f"{container.namespace}.{operation.name}"
        link: list[Part] = ["{}"]
        if full:
            title = f'{{"title":"{operation.name}","target":"'
            link = [title, *_seen_as(projection, type_), f'/{name}"}}']
        condition = (
            true() if operation.available is None else operation.available(scope.columns, rights)
        )
        is_granted = rights.keys() >= set(operation.permissions)
        if operation.binds_hidden or not is_granted:
            condition = None
        if condition is None:
            yield Piece([f'"#{name}":null'])
        else:
            yield Piece([f'"#{name}":', case((condition, Template(link)), else_="null")])


def _seen_as(projection: Projection, type_: edm.EntityType) -> Sequence[Part]:
    """The address of a row as one of a type: that of the rows, or one derived from it."""
    if type_ is projection.scope.type:
        return projection.address
    return [*projection.address, f"/{projection.scope.context.container.namespace}.{type_.name}"]


def type_text(type_: edm.EdmType, format_: Format) -> str:
    """``#Int64``, ``#Model.Priority``, ``#Collection(String)`` if ``full``; else, and where JSON
    tells it, the empty text.
    """
    if format_.metadata != "full" or type_ == edm.UNTYPED or type_.name in _EVIDENT:
        return ""
    element = type_.element if isinstance(type_, edm.CollectionType) else type_
    is_primitive = isinstance(element, edm.PrimitiveType)
    name = element.name.removeprefix("Edm.")
    name = name if is_primitive else f"{format_.namespace}.{name}"
    return f"#{name}" if element is type_ else f"#Collection({name})"


@dataclass(frozen=True, slots=True)
class Declared:
    """What ``$metadata`` declares of rows that ``$apply`` made, or of an object inside them.

    ``type`` is None for rows of a cross join, which have a member for each of its sets.
    """

    container: edm.EntityContainer
    type: edm.EntityType | edm.ComplexType | None

    @classmethod
    def of(cls, scope: Scope) -> Declared | None:
        """None for rows as they are kept: all of their properties are declared."""
        container = scope.context.container
        declared_type = container.types.get(scope.type.name)
        return (
            None if scope.type.key or declared_type is scope.type else cls(container, declared_type)
        )

    def has(self, name: str, type_: edm.EdmType) -> bool:
        """Whether a property of this name and type is declared; an alias may be of another one."""
        declared = (open_type.properties.get(name) for open_type in self._types())
        return any(property_ is not None and property_.type == type_ for property_ in declared)

    def inside(self, name: str) -> Declared:
        """What is declared of the object that stands under a name."""
        for type_ in self._types():
            inside = self.container.inside(type_, name)
            if isinstance(inside, edm.EntityType | edm.ComplexType):
                return Declared(self.container, inside)
        home = self.container.sets.get(name)
        return Declared(self.container, None if home is None else home.type)

    def _types(self) -> Sequence[edm.EntityType | edm.ComplexType]:
        if isinstance(self.type, edm.EntityType):
            return (self.type, *self.container.derived(self.type))
        return () if self.type is None else (self.type,)


def entity_address(scope: Scope, collection: str) -> list[Part]:
    """``Clients(1)``, ``Translations(bookId=1,language='de')``."""
    type_ = scope.type
    pieces: list[Part] = [collection, "("]
    for index, (name, column) in enumerate(zip(type_.key, scope.key_columns(), strict=True)):
        if len(type_.key) > 1:
            pieces.append(f"{',' if index else ''}{name}=")
        is_text = type_.properties[name].type.family == "text"
        pieces += ["'", _escaped(column), "'"] if is_text else [column]
    return [*pieces, ")"]


def related_address(
    container: edm.EntityContainer,
    scope: Scope,
    navigation: edm.NavigationProperty,
    owner: Sequence[Part],
) -> list[Part]:
    """The address in the set of the related entity; of one without a set, through its owner."""
    home = container.set_of_type.get(scope.type.name)
    if home is not None:
        return entity_address(scope, home.name)
    if navigation.collection:
        return [*owner, "/", *entity_address(scope, navigation.name)]
    return [*owner, "/", navigation.name]


def _escaped(column: ColumnElement[str]) -> ColumnElement[str]:
    """A text as a literal inside a URL inside JSON; the commonest reserved characters encoded."""
    template = "{0}"
    for character, code in (("%", "%25"), ("'", "''"), ('"', "%22"), ("\\", "%5C"), ("/", "%2F"),
                            ("?", "%3F"), ("#", "%23"), (" ", "%20")):  # fmt: skip
        template = f"replace({template}, {quoted(character)}, {quoted(code)})"
    return spell(Text(), template, column)


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


def raw_value(bound: Bound) -> ColumnElement[str]:
    """One primitive value as plain text."""
    if isinstance(bound, Dynamic):
        return member_text(bound)
    assert isinstance(bound, Typed)
    return plain_text(bound.sql, bound.type)


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


def joined_texts(text: ColumnElement[str]) -> ColumnElement[str]:
    """The texts of all rows with commas between; null where there is no row."""
    return DialectSql(Text(), "group_concat({0}, ',')", "string_agg({0}, ',')", text)


def _ordered(query: BoundQuery, column: ColumnElement[str]) -> Select[Any]:
    return query.within(column).order_by(*(key.clause() for key in query.order))


def limit_of(query: BoundQuery) -> ColumnElement[int]:
    if query.top is None:
        return _PAGE
    return DialectSql(BigInteger(), "min({0}, {1})", "least({0}, {1})", query.top, _PAGE)
