"""What a resource path leads to, for a read: which rows, and what of them (URL Conventions 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlalchemy import BigInteger, ColumnElement, Text

from app.errors import NotFoundError
from app.http.security import current_caller
from app.odata.binding.context import Context
from app.odata.binding.paths import (
    KeyStep,
    Kind,
    OrdinalStep,
    Step,
    key_condition,
    of_property,
    path_steps,
    singleton_scope,
)
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
from app.odata.errors import QueryError, UnsupportedError, sentence
from app.odata.model import edm
from app.odata.reading.crossjoin import CONTEXT as CROSS_JOIN, cross_join
from app.odata.reading.entity_json import entity_address, related_address
from app.odata.sql.dialect_sql import DialectSql, Part, Predicate
from app.odata.syntax import nodes
from app.odata.syntax.path import parse_path


@dataclass
class Resource:
    """What a path leads to.

    ``kind`` is value where the path ends in a property, which is ``bound``. ``ending`` is the last
    segment if it is a system one (``$count``, ``$ref``, ``$value``). ``parent`` is the entity that
    the last navigation began at: where it is not there, nothing is. ``set_name`` is that of the
    entities, or None for contained ones; then ``home`` is where they lie. ``inside`` is the way to
    a property, as declared; None where it goes through a member of a collection.
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
    home: Sequence[Part] = ()
    inside: str | None = None
    # Of a cross join, the rows of each set by its name.
    joined: Mapping[str, Scope] = field(default_factory=dict)


class PathResolver:
    def __init__(self, context: Context) -> None:
        self._context = context
        self._container = context.container

    def resolve(self, path: nodes.ResourcePath) -> Resource:
        """What ``path``, which has at least one segment, leads to.

        Raises: NotFoundError, a name is not there; QueryError, a key does not fit;
            ForbiddenError, entities on the way may not be read.
        """
        resource: Resource | None = None
        for step in path_steps(self._container, path):
            resource = self._first(step) if resource is None else self._next(resource, step)
        assert resource is not None
        return resource

    def _first(self, step: Step) -> Resource:
        match step:
            case nodes.CrossJoinSegment():
                combined, joined = cross_join(self._context, step)
                return Resource("collection", combined, (), CROSS_JOIN, joined=joined)
            case edm.Singleton(name=name):
                return Resource("entity", singleton_scope(self._context, step), [name], name)
            case edm.EntitySet(name=name):
                scope = Scope(self._context, step.type)
                return Resource("collection", scope, entity_address(scope, name), name)
        raise _not_offered(step)

    def _next(self, resource: Resource, step: Step) -> Resource:
        match step:
            case KeyStep(parts=parts):
                return self._keyed(resource, parts)
            case edm.NavigationProperty():
                return self._navigate(resource, step)
            case edm.Property():
                return self._property(resource, step)
            case nodes.NameSegment():
                return self._member(resource, step)
            case OrdinalStep():
                bound = _member_at(resource.scope, resource.bound, step)
                return replace(resource, bound=bound, inside=None)
            case edm.EntityType() if step is resource.scope.type:
                return resource
            case edm.EntityType():  # those that are of a derived type
                resource.scope.narrow_to(step)
                return replace(resource, is_cast=True)
            case nodes.FilterPathSegment(predicate=predicate):
                translator = Translator(self._context, resource.scope)
                resource.scope.conditions.append(translator.condition(predicate))
                return resource
            case nodes.SystemSegment():
                return self._ending(resource, step)
        raise _not_offered(step)

    def _keyed(self, resource: Resource, parts: Mapping[str, nodes.Node]) -> Resource:
        scope = resource.scope
        scope.conditions.append(key_condition(Translator(self._context, scope), scope, parts))
        # An entity of the collection is there or not, whatever it was reached through.
        return replace(resource, kind="entity", parent=None)

    def _navigate(self, resource: Resource, navigation: edm.NavigationProperty) -> Resource:
        owner, target = resource.scope, Scope(self._context, self._container.target(navigation))
        target.attach("/", owner, navigation.join(owner.columns, target.columns))
        home = self._container.set_of_type.get(target.type.name)
        return Resource(
            "collection" if navigation.collection else "entity",
            target,
            related_address(self._container, target, navigation, resource.address),
            None if home is None else home.name,
            parent=owner,
            home=[*resource.address, f"/{navigation.name}"] if home is None else (),
        )

    def _property(self, resource: Resource, property_: edm.Property) -> Resource:
        scope, name = resource.scope, property_.name
        type_ = scope.type
        bound = None if property_.type == edm.STREAM else of_property(scope, property_)
        is_derived = type_.base is not None and name not in type_.base.properties
        inside = f"{self._container.namespace}.{type_.name}/{name}" if is_derived else name
        return replace(resource, kind="value", bound=bound, property=property_, inside=inside)

    def _member(self, resource: Resource, segment: nodes.NameSegment) -> Resource:
        """A property of a complex value."""
        if resource.bound is None:
            raise NotFoundError("A stream has no properties.")
        translator = Translator(self._context, resource.scope, variables={"": resource.bound})
        name = nodes.Member(nodes.Member(None, ""), segment.name, offset=segment.offset)
        try:
            bound = translator.bind(name)
        except QueryError as error:
            raise NotFoundError(sentence(error.message)) from None
        inside = None
        if resource.inside is not None:
            inside = f"{resource.inside}/{_declared(resource.bound, segment.name)}"
        return replace(resource, bound=bound, inside=inside)

    def _ending(self, resource: Resource, segment: nodes.SystemSegment) -> Resource:
        bound, name = resource.bound, segment.name
        is_collection = resource.kind == "collection" or isinstance(bound, Elements)
        is_stream = resource.property is not None and resource.property.type == edm.STREAM
        has_bytes = is_stream or (resource.property is None and resource.scope.type.has_stream)
        allowed = {
            "$count": is_collection,
            "$ref": resource.kind != "value",
            "$value": isinstance(bound, Typed | Dynamic) or has_bytes,
            "$query": True,
        }
        if not allowed.get(name, False):
            raise QueryError(f"{name} cannot follow this", segment.offset)
        return replace(resource, ending=name)


def resource_at(
    container: edm.EntityContainer,
    path: nodes.ResourcePath | str,
    aliases: Mapping[str, nodes.Node] | None = None,
) -> Resource:
    """What a path leads to for the current caller, outside a query; as ``PathResolver.resolve``."""
    context = Context(container, current_caller(), aliases=aliases or {})
    return PathResolver(context).resolve(parse_path(path) if isinstance(path, str) else path)


def _not_offered(step: Step) -> UnsupportedError:
    offset = step.offset if isinstance(step, nodes.Segment) else None
    return UnsupportedError("this address is not offered", offset)


def _declared(bound: Bound, name: str) -> str:
    """A name as the complex type declares it; one of an open type as it is written."""
    type_ = bound.property.type if isinstance(bound, Structure) else getattr(bound, "type", None)
    prop = type_.property_called(name) if isinstance(type_, edm.ComplexType) else None
    return name if prop is None else prop.name


def _member_at(scope: Scope, collection: Bound | None, step: OrdinalStep) -> Bound:
    """The member that a number in the path names; -1 is the last one.

    Raises: NotFoundError, ``collection`` has no members, or this is no number.
    """
    arguments = step.arguments
    literal = arguments[0].value if len(arguments) == 1 and not arguments[0].name else None
    if (
        not isinstance(collection, Elements)
        or not isinstance(literal, nodes.Literal)
        or literal.kind != "integer"
    ):
        raise NotFoundError(f"{step.name} is followed by what is no part of it.")
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
