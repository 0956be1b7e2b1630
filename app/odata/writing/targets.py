"""What a resource path leads to, for a write: the set, the key and the property it names.

A write needs no rows, but the service and the key to call it with. Rows are looked up only to
follow navigation.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn
from urllib.parse import quote, unquote, urljoin

from app.errors import InvalidQueryError, MethodNotAllowedError, NotFoundError
from app.odata.binding.paths import (
    KeyStep,
    OrdinalStep,
    Step,
    check_key_literal,
    key_of,
    own_key,
    parts_of,
    path_steps,
)
from app.odata.errors import QueryError
from app.odata.model import edm
from app.odata.protocol.request import READ, method_error
from app.odata.syntax.literals import literal_text
from app.odata.syntax.nodes import Alias, Literal, NameSegment, Node, ResourcePath, SystemSegment
from app.odata.syntax.path import parse_path
from app.odata.writing.rows import find_key, is_of, related_keys


@dataclass(frozen=True)
class Link:
    """A step along navigation: the entity it starts from."""

    entity_set: edm.EntitySet
    key: Any
    navigation: edm.NavigationProperty

    def related(self, container: edm.EntityContainer) -> list[Any]:
        """The keys of the entities that it leads to."""
        return related_keys(container, self.entity_set.type, self.key, self.navigation)


@dataclass(slots=True)  # not frozen, which costs more: one a request
class Target:
    """What a path leads to.

    ``key`` is None for a collection, and for an entity that was addressed by an alternate key
    which none has: ``values`` then holds that key, by attribute. ``prop`` is set where the path
    ends in a property; ``member`` is the sub-property of a complex one, an untyped one where an
    open type does not declare it. ``ending`` is the
    last segment when it is a system one: ``$value``, ``$ref``.
    """

    entity_set: edm.EntitySet
    type: edm.EntityType
    key: Any = None
    is_collection: bool = False
    values: Mapping[str, Any] = field(default_factory=dict)
    link: Link | None = None
    prop: edm.Property | None = None
    member: edm.Property | None = None
    ending: str | None = None
    is_singleton: bool = False

    @property
    def alternate(self) -> Mapping[str, Any]:
        """The alternate key by which an entity was addressed, by attribute; else empty."""
        is_alternate = any(set(self.values) == set(names) for names in self.type.alternate_keys)
        return self.values if is_alternate else {}

    @property
    def is_missing(self) -> bool:
        """Whether it is an entity that does not exist yet."""
        return not self.is_collection and self.key is None


_PLAIN = re.compile(r"/?([A-Za-z]+)(?:\((\d{1,18})\))?", re.ASCII)


def find_plain_target(container: edm.EntityContainer, path: str) -> Target | None:
    """The target of ``Clients`` or ``Clients(1)``, which nearly all writes name; None for others.

    It saves most of what finding a target costs.
    """
    match = _PLAIN.fullmatch(path)
    entity_set = container.sets.get(match[1]) if match else None
    if match is None or entity_set is None:
        return None
    type_ = entity_set.type
    if match[2] is None:
        return Target(entity_set, type_, is_collection=True)
    prop = type_.properties[type_.key[0]]
    if len(type_.key) > 1 or prop.type != edm.INT64:
        return None
    key = int(match[2])
    return Target(entity_set, type_, key, values={prop.attribute: key})


def resolve_target(
    container: edm.EntityContainer, path: ResourcePath, aliases: Mapping[str, Node]
) -> Target:
    """What a write to ``path`` is about.

    Raises: NotFoundError, a name or an entity along the path is not there; QueryError, a
        key is not of its type; MethodNotAllowedError, nothing at such a path can be written.
    """
    resolver, target = _Resolver(container, aliases), None
    for step in path_steps(container, path):
        target = resolver.first(step) if target is None else resolver.next(target, step)
    if target is None:
        raise _read_only("The service itself cannot be written.")
    return target


class _Resolver:
    """Finds the entity and the property that a path names, step by step."""

    def __init__(self, container: edm.EntityContainer, aliases: Mapping[str, Node]) -> None:
        self._container = container
        self._aliases = aliases

    def first(self, step: Step) -> Target:
        match step:
            case edm.EntitySet():
                return Target(step, step.type, is_collection=True)
            case edm.Singleton():
                return self._singleton(step)
        raise _read_only("This address cannot be written.")

    def next(self, target: Target, step: Step) -> Target:
        match step:
            case KeyStep(parts=parts):
                return self._keyed(target, parts)
            case edm.NavigationProperty():
                return self._navigation(target, step)
            case edm.Property():
                return replace(target, prop=step)
            case NameSegment(name=name):
                return _member(target, name)
            case OrdinalStep():
                _refuse_ordinal(target, step)
            case edm.EntityType():
                return self._of_its_type(replace(target, type=step))
            case SystemSegment(name=name):
                return _system(target, name)
        raise _read_only("This address cannot be written.")

    def _singleton(self, singleton: edm.Singleton) -> Target:
        home = self._container.set_of_type.get(singleton.type.name)
        alone = edm.EntitySet(name=singleton.name, type=singleton.type, service=singleton.service)
        entity_set = home if home is not None and singleton.service is None else alone
        return Target(entity_set, singleton.type, singleton.key(), is_singleton=True)

    def _of_its_type(self, target: Target) -> Target:
        """The target; a path to entities of a derived type leads to no others."""
        if target.key is not None and not is_of(self._container, target.type, target.key):
            raise NotFoundError(f"There is no such {target.type.name}.")
        return target

    def _navigation(self, target: Target, nav: edm.NavigationProperty) -> Target:
        if target.is_missing:
            raise NotFoundError(f"There is no such {target.type.name}.")
        type_ = self._container.target(nav)
        link = Link(target.entity_set, target.key, nav)
        entity_set = self._container.set_of(nav) or edm.EntitySet(name=nav.name, type=type_)
        if nav.collection:
            return Target(entity_set, type_, is_collection=True, link=link)
        related = related_keys(self._container, target.type, target.key, nav)
        return Target(entity_set, type_, related[0] if related else None, link=link)

    def _keyed(self, target: Target, parts: Mapping[str, Node]) -> Target:
        type_, link = target.type, target.link
        values: dict[str, Any] = {}
        for name, value in parts.items():
            literal = self._value(value)
            check_key_literal(type_.properties[name], literal)
            values[type_.properties[name].attribute] = literal.value
        own = own_key(type_, link.navigation if link is not None else None)
        if link is not None and own != type_.key and set(parts) == set(own):
            values[link.navigation.foreign_key or ""] = link.key
        return self._entity(target, values)

    def _entity(self, target: Target, values: Mapping[str, Any]) -> Target:
        """The entity of a collection with these key values, by attribute."""
        type_ = target.type
        key_attributes = [type_.properties[name].attribute for name in type_.key]
        if set(values) == set(key_attributes):
            key = key_of(values[name] for name in key_attributes)
        else:
            key = find_key(self._container, type_, values)
        link = target.link
        if link is not None and key not in link.related(self._container):
            raise NotFoundError(f"There is no such {type_.name} in {link.navigation.name}.")
        return self._of_its_type(replace(target, key=key, is_collection=False, values=values))

    def _value(self, node: Node) -> Literal:
        if isinstance(node, Alias):
            node = self._aliases.get(node.name, node)
        if not isinstance(node, Literal):
            raise QueryError("a key is written as a literal", node.offset)
        return node


def _member(target: Target, name: str) -> Target:
    prop = target.prop
    assert prop is not None
    if target.member is not None and target.member.type == edm.UNTYPED:
        raise _read_only(f"What lies in {target.member.name} is written with it.")
    if not isinstance(prop.type, edm.ComplexType) or target.member is not None:
        raise NotFoundError(f"{prop.name} has no {name}.")
    member = prop.type.property_called(name)
    if member is None and prop.type.is_open:
        member = edm.Property(name=name, type=edm.UNTYPED, attribute=name)
    if member is None:
        raise NotFoundError(f"{prop.name} has no {name}.")
    return replace(target, member=member)


def _refuse_ordinal(target: Target, step: OrdinalStep) -> NoReturn:
    prop = target.member or target.prop
    if prop is not None and isinstance(prop.type, edm.CollectionType):
        raise _read_only(f"Single members of {prop.name} are not written: send all of them.")
    raise NotFoundError(f"{step.name} is followed by what is no part of it.")


def _system(target: Target, name: str) -> Target:
    if name not in ("$ref", "$value"):
        raise _read_only(f"{name} cannot be written.")
    if name == "$ref" and target.link is None:
        raise _read_only("Only a relation between entities has references to write.")
    return replace(target, ending=name)


def _read_only(message: str) -> MethodNotAllowedError:
    """What a write of something gets that can only be read (RFC 9110, 15.5.6)."""
    return method_error("", READ, message)


# --- addresses: made for answers, and read in bodies

# What stands in a key predicate as it is (RFC 3986, 3.3: sub-delims and more).
_SAFE = "()',=:@!$*;-._~"


def entity_path(collection: str, type_: edm.EntityType, key: Any) -> str:
    """``Clients(1)``, ``Translations(bookId=1,language='de')``: relative to the service root."""
    texts = [quote(literal_text(part, "string"), safe=_SAFE) for part in parts_of(key)]
    if len(type_.key) == 1:
        return f"{collection}({texts[0]})"
    pairs = ",".join(f"{name}={text}" for name, text in zip(type_.key, texts, strict=True))
    return f"{collection}({pairs})"


def find_url(
    container: edm.EntityContainer,
    url: str,
    roots: tuple[str, ...],
    path: str,
    references: Mapping[str, str],
) -> Target:
    """The entity that a URL in a body points at; one that an alternate key names need not be there.

    Args:
        roots: the addresses of the service, absolute or path-absolute, each with a slash at its
            end; other URLs are relative to the first of them.
        path: of the request below the service root: a URL that begins with ``./`` or ``../`` is
            relative to it (URL Conventions 4.4).
        references: Content-ID -> URL, for ``$1``.
    Raises: InvalidQueryError, it is no URL of an entity of this service; NotFoundError.
    """
    if url.startswith("$") and url[1:] in references:
        url = references[url[1:]]
    relative = _relative(url, roots, path)
    try:
        target = resolve_target(container, parse_path(relative), {})
    except (QueryError, MethodNotAllowedError) as error:
        raise InvalidQueryError(f"{url!r} is no URL of an entity: {error.message}") from error
    if target.is_collection or target.prop is not None or target.ending is not None:
        raise InvalidQueryError(f"{url!r} is no URL of an entity.")
    return target


def _relative(url: str, roots: tuple[str, ...], path: str) -> str:
    if url.startswith(("./", "../")):
        url = urljoin(roots[0] + path, url)
    for root in roots:
        if url.startswith(root):
            return url[len(root) :]
    if url.startswith("/") or "://" in url or "?" in url or "#" in url:
        raise InvalidQueryError(f"{unquote(url)!r} is no URL of an entity of this service.")
    return url
