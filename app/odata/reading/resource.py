"""Resource paths resolved against the model: which rows, and what of them (URL Conventions 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal as OneOf

from sqlalchemy import BigInteger, ColumnElement, Text

from app.errors import NotFoundError
from app.odata.binding.context import Context
from app.odata.binding.paths import key_condition, of_property, singleton_scope, unknown_name
from app.odata.binding.translator import Translator
from app.odata.binding.values import (
    Bound,
    Dynamic,
    Elements,
    JsonStructure,
    Scope,
    Structure,
    Typed,
)
from app.odata.errors import QueryError, UnsupportedError, suggestion
from app.odata.key_values import own_key, segment_literal
from app.odata.model import edm
from app.odata.reading.addresses import entity_address, related_address
from app.odata.reading.crossjoin import CONTEXT as CROSS_JOIN, cross_join
from app.odata.sql.dialect_sql import DialectSql, Part, Predicate
from app.odata.syntax.nodes import Argument, Literal, Member
from app.odata.syntax.path_nodes import (
    CrossJoinSegment,
    FilterPathSegment,
    KeySegment,
    NameSegment,
    ResourcePath,
    Segment,
    SystemSegment,
)

Kind = OneOf["collection", "entity", "value"]


@dataclass
class Resource:
    """What a path leads to.

    ``kind`` is value where the path ends in a property, which is ``bound``. ``ending`` is the last
    segment if it is a system one (``$count``, ``$ref``, ``$value``). ``parent`` is the entity that
    the last navigation began at: where it is not there, nothing is. ``set_name`` is that of the
    entities, or None for contained ones; then ``home`` is where they lie. ``own_key`` has the
    parts of a key that suffice in a collection of related entities. ``inside`` is the way to a
    property, as declared; None where it goes through a member of a collection.
    """

    kind: Kind
    scope: Scope
    address: Sequence[Part]
    set_name: str | None
    bound: Bound | None = None
    property: edm.Property | None = None
    ending: str = ""
    parent: Scope | None = None
    is_cast: bool = False  # the last step was a type
    own_key: tuple[str, ...] | None = None
    home: Sequence[Part] = ()
    inside: str | None = None
    # Of a cross join, the rows of each set by its name.
    joined: Mapping[str, Scope] = field(default_factory=dict)


class PathResolver:
    """Follows a path from segment to segment."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._container = context.container

    def resolve(self, path: ResourcePath) -> Resource:
        """What ``path``, which has at least one segment, leads to.

        Raises: NotFoundError, a name is not there; QueryError, a key does not fit;
            ForbiddenError, entities on the way may not be read.
        """
        resource = self._first(path.segments[0])
        for segment in path.segments[1:]:
            resource = self._next(resource, segment)
        return resource

    def _first(self, segment: Segment) -> Resource:
        container = self._container
        if isinstance(segment, CrossJoinSegment):
            combined, joined = cross_join(self._context, segment)
            return Resource("collection", combined, (), CROSS_JOIN, joined=joined)
        if not isinstance(segment, NameSegment):
            raise UnsupportedError("this address is not offered", segment.offset)
        _refuse_second_key(segment)
        if singleton := container.singletons.get(segment.name):
            if segment.arguments is not None:
                raise QueryError(f"{segment.name} is one entity: it has no key", segment.offset)
            scope = singleton_scope(self._context, singleton)
            return Resource("entity", scope, [singleton.name], singleton.name)
        name = container.folded_sets.get(segment.name.lower(), segment.name)
        entity_set = container.sets.get(name)
        if entity_set is None:
            hint = suggestion(segment.name, container.sets)
            raise NotFoundError(f"There is no entity set {segment.name}{hint}.")
        scope = Scope(self._context, entity_set.type)
        rows = Resource("collection", scope, entity_address(scope, name), name)
        return self._with_key(rows, segment.arguments, segment.offset)

    def _next(self, resource: Resource, segment: Segment) -> Resource:
        if isinstance(segment, SystemSegment):
            return self._ending(resource, segment)
        if isinstance(segment, FilterPathSegment):
            return self._filtered(resource, segment)
        if isinstance(segment, KeySegment):
            return self._by_text(resource, segment.text, segment.offset)
        if not isinstance(segment, NameSegment):
            raise UnsupportedError("this address is not offered", segment.offset)
        _refuse_second_key(segment)
        if resource.kind == "value":
            return self._member(resource, segment)
        if "." in segment.name:
            return self._cast(resource, segment)
        if resource.kind == "collection":
            return self._by_text(resource, segment.name, segment.offset)
        return self._step(resource, segment)

    def _step(self, resource: Resource, segment: NameSegment) -> Resource:
        """A property or a navigation property of one entity."""
        scope = resource.scope
        type_ = scope.type
        name = type_.folded.get(segment.name.lower(), segment.name)
        navigation = type_.navigation.get(name)
        if navigation is not None:
            return self._navigate(resource, navigation, segment)
        property_ = type_.properties.get(name)
        if property_ is None:
            raise NotFoundError(f"{unknown_name(type_, segment.name, 0).message}.")
        bound = None if property_.type == edm.STREAM else of_property(scope, property_)
        if segment.arguments is not None:
            if bound is None:
                raise NotFoundError(f"{name} is followed by what is no part of it.")
            bound = member_at(scope, bound, segment.arguments, name)
        inside = None
        if segment.arguments is None:
            is_derived = type_.base is not None and name not in type_.base.properties
            inside = f"{self._container.namespace}.{type_.name}/{name}" if is_derived else name
        return replace(resource, kind="value", bound=bound, property=property_, inside=inside)

    def _navigate(
        self, resource: Resource, navigation: edm.NavigationProperty, segment: NameSegment
    ) -> Resource:
        owner = resource.scope
        target = Scope(self._context, self._container.target(navigation))
        target.attach("/", owner, navigation.join(owner.columns, target.columns))
        home = self._container.set_of_type.get(target.type.name)
        related = Resource(
            "collection" if navigation.collection else "entity",
            target,
            related_address(self._container, target, navigation, resource.address),
            None if home is None else home.name,
            parent=owner,
            own_key=own_key(target.type, navigation),
            home=[*resource.address, f"/{navigation.name}"] if home is None else (),
        )
        return self._with_key(related, segment.arguments, segment.offset)

    def _with_key(
        self, resource: Resource, arguments: tuple[Argument, ...] | None, offset: int
    ) -> Resource:
        if arguments is None:
            return resource
        if resource.kind != "collection":
            raise QueryError("a key can only follow a collection", offset)
        scope = resource.scope
        translator = Translator(self._context, scope)
        scope.conditions.append(
            key_condition(translator, scope, arguments, offset, resource.own_key)
        )
        # An entity of the collection is there or not, whatever it was reached through.
        return replace(resource, kind="entity", parent=None)

    def _by_text(self, resource: Resource, text: str, offset: int) -> Resource:
        """A key written as a segment (URL Conventions 4.3.6)."""
        type_ = resource.scope.type
        names = resource.own_key or type_.key
        if resource.kind != "collection" or len(names) != 1:
            raise NotFoundError(f"There is no {text} here.")
        key = type_.properties[names[0]]
        literal = segment_literal(key, text, offset)
        if literal is None:
            raise NotFoundError(f"There is no {type_.name} {text}.")
        return self._with_key(resource, (Argument(None, literal),), offset)

    def _filtered(self, resource: Resource, segment: FilterPathSegment) -> Resource:
        if resource.kind != "collection":
            raise QueryError("$filter can only follow a collection", segment.offset)
        translator = Translator(self._context, resource.scope)
        resource.scope.conditions.append(translator.condition(segment.predicate))
        return self._with_key(resource, segment.key, segment.offset)

    def _cast(self, resource: Resource, segment: NameSegment) -> Resource:
        """A type as a segment: the same entities as those of a derived type."""
        scope = resource.scope
        target = self._container.type_called(segment.name)
        if target is None or scope.type not in target.lineage:
            raise NotFoundError(f"There is no type or operation {segment.name} here.")
        if target is not scope.type:
            scope.narrow_to(target)
            resource = replace(resource, is_cast=True)
        return self._with_key(resource, segment.arguments, segment.offset)

    def _member(self, resource: Resource, segment: NameSegment) -> Resource:
        """A property of a complex value."""
        if resource.bound is None:
            raise NotFoundError("A stream has no properties.")
        translator = Translator(self._context, resource.scope, variables={"": resource.bound})
        name = Member(Member(None, ""), segment.name, offset=segment.offset)
        try:
            bound = translator.bind(name)
        except QueryError as error:
            raise NotFoundError(f"{error.message}.") from None
        inside = None
        if segment.arguments is not None:
            bound = member_at(resource.scope, bound, segment.arguments, segment.name)
        elif resource.inside is not None:
            inside = f"{resource.inside}/{_declared(resource.bound, segment.name)}"
        return replace(resource, bound=bound, inside=inside)

    def _ending(self, resource: Resource, segment: SystemSegment) -> Resource:
        bound, name = resource.bound, segment.name
        is_collection = resource.kind == "collection" or isinstance(bound, Elements)
        allowed = {
            "$count": is_collection,
            "$ref": resource.kind != "value",
            "$value": isinstance(bound, Typed | Dynamic) or self._has_bytes(resource),
            "$query": True,
        }
        if not allowed.get(name, False):
            raise QueryError(f"{name} cannot follow this", segment.offset)
        return replace(resource, ending=name)

    def _has_bytes(self, resource: Resource) -> bool:
        if resource.property is not None:
            return resource.property.type == edm.STREAM
        return resource.scope.type.has_stream


def _refuse_second_key(segment: NameSegment) -> None:
    if segment.key is not None:
        offset = segment.key[0].offset if segment.key else segment.offset
        raise QueryError("an entity has only one key", offset)


def _declared(bound: Bound, name: str) -> str:
    """A name as the complex type declares it; one of an open type as it is written."""
    type_ = bound.property.type if isinstance(bound, Structure) else getattr(bound, "type", None)
    prop = type_.property_called(name) if isinstance(type_, edm.ComplexType) else None
    return name if prop is None else prop.name


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
