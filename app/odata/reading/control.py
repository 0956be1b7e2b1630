"""Control information inside an entity: its tag, type, address and links (JSON Format 4.6).

What ``$compute`` and ``$apply`` make is declared nowhere. A client reads the JSON of such a value
by itself: text as Edm.String, a number as Edm.Double. Where it is something else, its type stands
beside it (JSON Format 4.6.3, decision 0023).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Text, case, not_, or_, true

from app.odata.binding.values import Scope
from app.odata.model import edm
from app.odata.protocol.negotiation import Format
from app.odata.reading.bound import ExpandMember, Projection, PropertyMember
from app.odata.sql.dialect_sql import Part, Template, spell
from app.odata.syntax.literals import quoted

# What JSON itself tells: no annotation is needed (JSON Format 4.6.3).
_EVIDENT = frozenset(("Edm.String", "Edm.Boolean", "Edm.Double"))


@dataclass(frozen=True, slots=True)
class Piece:
    """``"name":value``; ``absent`` is the condition that it is left out, where it may be."""

    parts: Sequence[Part]
    absent: ColumnElement[bool] | None = None


def entity_control(projection: Projection, format_: Format) -> Iterator[Piece]:
    """What stands before the properties: the tag unless ``none``, type and address if ``full``.

    The address is there as well where a part of the key is not shown, from which it would follow
    (JSON Format 4.6.8; 4.5.8 of 4.0).
    """
    scope = projection.scope
    type_ = scope.type
    if format_.metadata == "none" or not type_.key:  # what $apply made is no entity
        return
    full = format_.metadata == "full"
    yield from _type(scope, format_)
    if full or format_.mixed or not _shows_key(projection):
        yield Piece([f'"{format_.control("id")}":"', *projection.address, '"'])
    if type_.etag is not None:
        tag = scope.columns[type_.etag]
        yield Piece([f'"{format_.control("etag")}":"W/\\"', tag, '\\""'])
    if full:
        yield Piece([f'"{format_.control("editLink")}":"', *projection.address, '"'])
    if type_.has_stream:
        yield Piece([f'"{format_.control("mediaReadLink")}":"', *projection.address, '/$value"'])
    for each, properties, _ in scope.context.container.each_adds(type_):
        own: list[Piece] = []
        if full:
            streams = (property_ for property_ in properties if property_.type == edm.STREAM)
            own += (Piece(stream_link(projection, stream, format_, each)) for stream in streams)
        if full or projection.operations is not None:
            own += _actions(projection, each, full=full)
        yield from only_of(each, own, scope)


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


def stream_link(
    projection: Projection, property_: edm.Property, format_: Format, type_: edm.EntityType
) -> Sequence[Part]:
    """Where the bytes of a stream property of a type are read."""
    name, address = property_.name, _seen_as(projection, type_)
    return [f'"{format_.control("mediaReadLink", name)}":"', *address, f'/{name}"']


def _seen_as(projection: Projection, type_: edm.EntityType) -> Sequence[Part]:
    """The address of a row as one of a type: that of the rows, or one derived from it."""
    if type_ is projection.scope.type:
        return projection.address
    return [*projection.address, f"/{projection.scope.context.container.namespace}.{type_.name}"]


def _type(scope: Scope, format_: Format) -> Iterator[Piece]:
    """The type if ``full``, else that of rows that are of a derived one (JSON Format 4.6.3)."""
    type_, container = scope.type, scope.context.container
    derived = {value: kind for value, kind in container.kinds(type_).items() if kind is not type_}
    full = format_.metadata == "full" or format_.mixed or scope.is_announced
    if not full and not derived:
        return
    start = f'"{format_.control("type")}":"#{container.namespace}.'
    if not derived:
        yield Piece([f'{start}{type_.name}"'])
        return
    attribute = next(kind.discriminator[0] for kind in derived.values() if kind.discriminator)
    names = {value: kind.name for value, kind in derived.items()}
    name = case(names, value=scope.columns[attribute], else_=type_.name)
    plain = None if full else scope.columns[attribute].not_in(list(names))
    yield Piece([start, name, '"'], plain)


def navigation_links(projection: Projection, format_: Format) -> Iterator[Piece]:
    """Where related entities and the relations to them are read, if ``full``.

    Rows without a key, such as combinations, have no address that these could continue.
    """
    scope = projection.scope
    if format_.metadata != "full" or not scope.type.key:
        return
    expanded = {member.name for member in projection.members if isinstance(member, ExpandMember)}
    for type_, _, navigation in scope.context.container.each_adds(scope.type):
        own: list[Piece] = []
        for name in (each.name for each in navigation):
            url = [*_seen_as(projection, type_), f"/{name}"]
            own.append(Piece([f'"{format_.control("associationLink", name)}":"', *url, '/$ref"']))
            if name not in expanded:
                own.append(Piece([f'"{format_.control("navigationLink", name)}":"', *url, '"']))
        yield from only_of(type_, own, scope)


def type_annotation(name: str, type_: edm.EdmType, format_: Format) -> Sequence[Part]:
    """The type of a value whose JSON does not tell it, if ``full``; of the answer without a name.

    A complex value has it inside, see ``own_type``.
    """
    is_inside = isinstance(type_, edm.ComplexType)
    text = "" if is_inside else type_text(type_, format_)
    return [f'"{format_.control("type", name)}":"{text}"'] if text else ()


def own_type(type_: edm.ComplexType, format_: Format) -> str:
    """The type as the first member of a complex value, if ``full``; else the empty text."""
    text = type_text(type_, format_)
    return f'"{format_.control("type")}":"{text}"' if text else ""


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


def dynamic_annotation(name: str, type_: edm.EdmType, format_: Format) -> Sequence[Part]:
    """The type of a value that nothing declares, if its JSON does not tell it; not if ``none``."""
    if format_.metadata == "none":
        return ()
    return type_annotation(name, type_, format_._replace(metadata="full"))


def dynamic_member(
    name: str, type_: edm.EdmType, value: Sequence[Part], format_: Format
) -> Sequence[Part]:
    """``"name":value``; beside INF and NaN, which are written as text, stands that it is a Double.

    The value is in the SQL once.
    """
    plain = f'"{name}":'
    if type_ != edm.DOUBLE or format_.metadata == "none":
        return [plain, *value]
    parts = f'"{format_.control("type", name)}":"#Double",{plain}"'
    template = f"replace('{plain}' || {{0}}, '{plain}\"', '{parts}')"
    return [spell(Text(), template, Template(value))]


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
