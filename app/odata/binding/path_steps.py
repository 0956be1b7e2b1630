"""Resource paths resolved against the model: what each segment is (URL Conventions 4).

Reads and writes follow the same steps: a read makes rows of them, a write the key of an entity.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal as OneOf

from app.errors import NotFoundError
from app.odata.binding.key_values import key_parts, own_key, segment_literal
from app.odata.binding.paths import unknown_name
from app.odata.errors import QueryError, suggestion
from app.odata.model import edm
from app.odata.syntax import nodes

Kind = OneOf["collection", "entity", "value"]


@dataclass(frozen=True, slots=True)
class KeyStep:
    """One entity of the collection before: by its key, an alternate one, or what suffices there.

    ``parts`` has the values by the names of the properties.
    """

    parts: Mapping[str, nodes.Node]


@dataclass(frozen=True, slots=True)
class OrdinalStep:
    """What stands in parentheses behind the property or member ``name``: the number of a member.

    Without ``arguments`` it is a segment that is no name.
    """

    name: str
    arguments: tuple[nodes.Argument, ...]


# An entity type is a cast to it. A name behind a property is a segment as it is written, as
# dynamic properties are in no model; so is what begins with a dollar sign.
Step = (
    edm.EntitySet
    | edm.Singleton
    | edm.EntityType
    | edm.NavigationProperty
    | edm.Property
    | KeyStep
    | OrdinalStep
    | nodes.Segment
)


def path_steps(container: edm.EntityContainer, path: nodes.ResourcePath) -> Iterator[Step]:
    """The steps of a path, each resolved when the one before it has been taken.

    ``Clients(1)`` are two of them, the set and the key.

    Raises: NotFoundError, a name is not there; QueryError, a key does not fit.
    """
    walk = _Walk(container)
    for segment in path.segments:
        yield from walk.steps(segment)


class _Walk:
    """Where in the model a path has come to."""

    def __init__(self, container: edm.EntityContainer) -> None:
        self._container = container
        self._type: edm.EntityType | None = None
        self._kind: Kind = "collection"
        self._own_key: tuple[str, ...] = ()  # what suffices in a collection of related entities
        self._name = ""  # of the property or member that the last segment was

    def steps(self, segment: nodes.Segment) -> Iterator[Step]:
        match segment:
            case nodes.NameSegment(arguments=arguments):
                if segment.key is not None:
                    offset = segment.key[0].offset if segment.key else segment.offset
                    raise QueryError("an entity has only one key", offset)
                yield self._named(segment)
                yield from self._in_parentheses(arguments, segment.offset)
            case nodes.KeySegment(text=text):
                yield self._by_text(text, segment.offset)
            case nodes.FilterPathSegment(key=key):
                if self._kind != "collection":
                    raise QueryError("$filter can only follow a collection", segment.offset)
                yield segment
                yield from self._in_parentheses(key, segment.offset)
            case _:
                yield segment

    def _named(self, segment: nodes.NameSegment) -> Step:
        if self._type is None:
            return self._first(segment)
        if self._kind == "value":
            self._name = segment.name
            return segment
        if "." in segment.name:
            return self._cast(self._type, segment)
        if self._kind == "collection":
            return self._by_text(segment.name, segment.offset)
        return self._of_entity(self._type, segment)

    def _first(self, segment: nodes.NameSegment) -> Step:
        container = self._container
        if singleton := container.singletons.get(segment.name):
            if segment.arguments is not None:
                raise QueryError(f"{segment.name} is one entity: it has no key", segment.offset)
            self._come_to("entity", singleton.type)
            return singleton
        known = container.set_called(segment.name)
        if known is None:
            hint = suggestion(segment.name, container.sets)
            raise NotFoundError(f"There is no entity set {segment.name}{hint}.")
        self._come_to("collection", known.type)
        return known

    def _come_to(
        self, kind: Kind, type_: edm.EntityType, navigation: edm.NavigationProperty | None = None
    ) -> None:
        self._kind, self._type, self._own_key = kind, type_, own_key(type_, navigation)

    def _cast(self, type_: edm.EntityType, segment: nodes.NameSegment) -> edm.EntityType:
        target = self._container.seen_as(type_, segment.name)
        if target is None:
            raise NotFoundError(f"There is no type or operation {segment.name} here.")
        self._type = target
        return target

    def _of_entity(self, type_: edm.EntityType, segment: nodes.NameSegment) -> Step:
        name = type_.folded.get(segment.name.lower(), segment.name)
        navigation = type_.navigation.get(name)
        if navigation is not None:
            target = self._container.target(navigation)
            self._come_to("collection" if navigation.collection else "entity", target, navigation)
            return navigation
        property_ = type_.properties.get(name)
        if property_ is None:
            raise NotFoundError(f"{unknown_name(type_, segment.name, 0).message}.")
        self._kind, self._name = "value", name
        return property_

    def _in_parentheses(
        self, arguments: tuple[nodes.Argument, ...] | None, offset: int
    ) -> Iterator[KeyStep | OrdinalStep]:
        if arguments is None:
            return
        if self._kind == "value":
            yield OrdinalStep(self._name, arguments)
            return
        if self._kind != "collection" or self._type is None:
            raise QueryError("a key can only follow a collection", offset)
        parts = key_parts(self._type, arguments, offset, self._own_key)
        self._kind = "entity"
        yield KeyStep(parts)

    def _by_text(self, text: str, offset: int) -> KeyStep | OrdinalStep:
        """A key written as a segment (URL Conventions 4.3.6)."""
        type_ = self._type
        if self._kind == "value":
            return OrdinalStep(self._name, ())
        if type_ is None or self._kind != "collection" or len(self._own_key) != 1:
            raise NotFoundError(f"There is no {text} here.")
        (name,) = self._own_key
        literal = segment_literal(type_.properties[name], text, offset)
        if literal is None:
            raise NotFoundError(f"There is no {type_.name} {text}.")
        self._kind = "entity"
        return KeyStep({name: literal})
