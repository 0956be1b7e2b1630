"""The JSON of an entity read into values by attribute: what a write of it starts from.

One reading serves creation and change: ``EntityBody`` holds what was given, and the writer takes
what its kind of write may set. Source: OData JSON Format 4.01, 4.6 (control information), 6, 7, 8;
Protocol 11.4.2 to 11.4.4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from app.http.json_body import NO_NAME, problem_at
from app.odata.binding.paths import key_of
from app.odata.model import edm
from app.odata.payload.values import Problems, join_path, read_property

# Entities in one body besides those kept inside their owner (line items).
MOST_RELATED = 500


@dataclass
class EntityBody:
    """What a body says of one entity.

    ``values`` are by attribute, complex ones that lie in columns taken apart. ``partial`` holds
    the complex values kept as JSON: a PATCH merges them into what is there. ``key`` has the key
    values given. ``reference`` is the URL of an existing entity, ``tag`` the ETag that it must
    have. ``removed`` is why a delta names it: ``changed`` (related no more) or ``deleted``.
    ``refused`` are the attributes whose values could not be read.
    ``address`` is the alternate key by which the entity was found, by attribute; empty where it was
    found by another. ``position`` is that of a member among all that its owner has.
    """

    type: edm.EntityType
    path: str = ""
    values: dict[str, Any] = field(default_factory=dict)
    partial: dict[str, Any] = field(default_factory=dict)
    key: dict[str, Any] = field(default_factory=dict)
    related: list[Related] = field(default_factory=list)
    reference: str | None = None
    tag: str | None = None
    removed: str | None = None
    refused: set[str] = field(default_factory=set)
    address: Mapping[str, Any] = field(default_factory=dict)
    position: int | None = None

    @property
    def given_key(self) -> Any | None:
        """The key that the body gives; None when a part of it is missing."""
        parts = [self.key.get(name) for name in self.type.key]
        if any(part is None for part in parts):
            return None
        return key_of(parts)

    @property
    def is_reference(self) -> bool:
        """Whether it only points at an entity and changes nothing of it."""
        return self.reference is not None and not (self.values or self.partial or self.related)


@dataclass
class Related:
    """What a body says of a navigation property; ``items`` is empty for null or an empty array.

    ``is_delta``: the items are added, changed or removed; the others related stay. ``is_bound``:
    they are added by ``odata.bind``. ``at`` is the place of a new one where it is not the last.
    """

    navigation: edm.NavigationProperty
    path: str
    items: list[EntityBody]
    is_delta: bool = False
    is_bound: bool = False
    at: int | None = None


@dataclass(slots=True)
class BodyReader:
    """Reads the entities of one body: what could be read, and in ``problems`` what could not."""

    container: edm.EntityContainer
    text_numbers: bool = False  # Int64 and Decimal may be strings (IEEE754Compatible=true)
    max_depth: int = 5
    handling: str | None = None  # ``strict`` or ``lenient``, as Prefer says
    # Whether it says that it is of 4.0, where control information has longer names.
    is_old: bool = False
    problems: Problems = field(default_factory=Problems)
    _related: int = 0

    def entity(
        self, body: Any, type_: edm.EntityType, path: str = "", depth: int = 0
    ) -> EntityBody:
        """What stands at ``path`` of the body, below ``depth`` other entities."""
        if not isinstance(body, dict):
            self.problems.add(*problem_at(path, "must be a JSON object"))
            return EntityBody(type_, path)
        entity = EntityBody(self._concrete_type(body, type_, path), path)
        properties = entity.type.properties
        for name, value in body.items():
            if "@" in name:
                self._control(entity, body, name, depth)
            elif (prop := properties.get(name)) is not None:
                self._property(entity, prop, value)
            elif (navigation := entity.type.navigation.get(name)) is not None:
                self._navigation(entity, navigation, value, depth)
            elif self.handling != "lenient":
                known = chain(properties, entity.type.navigation)
                self.problems.add_unknown(
                    join_path(path, name or NO_NAME), name, known, entity.type.name
                )
        return entity

    def _concrete_type(
        self, body: Mapping[str, Any], type_: edm.EntityType, path: str
    ) -> edm.EntityType:
        """The declared type, or the derived one that ``@type`` names."""
        type_name = body.get("@odata.type", body.get("@type"))
        if type_name is None:
            return type_
        concrete = self.container.type_called(str(type_name).rpartition("#")[2])
        if concrete is None or type_ not in concrete.lineage:
            self.problems.add(join_path(path, "@odata.type"), f"must be {type_.name}")
            return type_
        return concrete

    def _property(self, entity: EntityBody, prop: edm.Property, value: Any) -> None:
        path = join_path(entity.path, prop.name)
        is_key = prop.name in entity.type.key
        # Set by the service: ignored, because a client may send back what it read.
        is_ignored = prop.computed or prop.expression is not None or prop.type == edm.STREAM
        if is_key:
            # The request itself says which entity it is about; a nested one is known by its key.
            matters = bool(entity.path) and value is not None and is_ignored
            problems = self.problems if matters else Problems()
            entity.key[prop.name] = read_property(prop, value, path, problems, self.text_numbers)
        if is_ignored:
            if self.handling == "strict" and not is_key:
                self.problems.add(path, "is set by the service")
            return
        known = len(self.problems.details)
        read = read_property(prop, value, path, self.problems, self.text_numbers)
        if len(self.problems.details) > known:
            entity.refused.add(prop.attribute)
        if prop.columns is not None and isinstance(prop.type, edm.ComplexType):
            entity.values.update(_apart(prop, prop.columns, read))
        elif isinstance(prop.type, edm.ComplexType) and read is not None:
            entity.partial[prop.attribute] = read
        else:
            entity.values[prop.attribute] = read

    def _navigation(
        self, entity: EntityBody, navigation: edm.NavigationProperty, value: Any, depth: int
    ) -> None:
        path = join_path(entity.path, navigation.name)
        if navigation.collection:
            self._collection(entity, navigation, value, depth, is_delta=False)
        elif value is None:
            if not navigation.nullable:
                self.problems.add(path, "must not be null")
            entity.related.append(Related(navigation, path, []))
        else:
            item = self._nested(value, navigation, path, depth)
            entity.related.append(Related(navigation, path, [item]))

    def _collection(
        self,
        entity: EntityBody,
        navigation: edm.NavigationProperty,
        value: Any,
        depth: int,
        *,
        is_delta: bool,
    ) -> None:
        path = join_path(entity.path, navigation.name)
        if not isinstance(value, list):
            self.problems.add(path, "must be an array")
            return
        items = [
            self._nested(item, navigation, f"{path}[{index}]", depth)
            for index, item in enumerate(value)
        ]
        if not is_delta:
            for item in items:
                if item.removed:
                    path = f"{item.path}.@removed"
                    self.problems.add(path, f"stands only in {navigation.name}@delta")
        entity.related.append(Related(navigation, path, items, is_delta))

    def _nested(
        self, value: Any, navigation: edm.NavigationProperty, path: str, depth: int
    ) -> EntityBody:
        target = self.container.target(navigation)
        if depth >= self.max_depth:
            self.problems.add(path, f"is nested more than {self.max_depth} levels deep")
            return EntityBody(target, path)
        if not navigation.owned:
            self._related += 1
            if self._related > MOST_RELATED:
                if self._related == MOST_RELATED + 1:
                    self.problems.add(path, f"is one too many: a body has {MOST_RELATED} at most")
                return EntityBody(target, path)
        return self.entity(value, target, path, depth + 1)

    def _control(self, entity: EntityBody, body: Mapping[str, Any], name: str, depth: int) -> None:
        """Control information: what a write needs is understood, all else is ignored."""
        value = body[name]
        target, _, term = name.partition("@")
        if self.is_old and "." not in term:
            path = join_path(entity.path, name)
            self.problems.add(path, f"is {target}@odata.{term} in OData 4.0")
            return
        term = term.removeprefix("odata.")
        if not target:
            if entity.path:
                self._of_nested(entity, name, term, value)
        elif term in ("bind", "delta"):
            navigation = entity.type.navigation.get(target)
            path = join_path(entity.path, name)
            if navigation is None or (term == "delta" and not navigation.collection):
                known = entity.type.navigation
                self.problems.add_unknown(path, target, known, entity.type.name)
            elif term == "bind":
                self._bind(entity, navigation, name, value)
            elif target in body:
                self.problems.add(path, f"must not stand beside {target}: it is all, or a delta")
            else:
                self._collection(entity, navigation, value, depth, is_delta=True)

    def _of_nested(self, entity: EntityBody, name: str, term: str, value: Any) -> None:
        """What a nested entity says of itself: which it is, its tag, that it goes."""
        path = join_path(entity.path, name)
        if term == "removed":
            reason = value.get("reason", "changed") if isinstance(value, dict) else None
            if reason in ("changed", "deleted"):
                entity.removed = reason
            else:
                self.problems.add(path, 'must be {"reason": "changed"} or {"reason": "deleted"}')
        elif term == "id":
            if isinstance(value, str):
                entity.reference = value
            else:
                self.problems.add(path, "must be the URL of an entity")
        elif term == "etag" and isinstance(value, str):
            entity.tag = value

    def _bind(
        self, entity: EntityBody, navigation: edm.NavigationProperty, name: str, value: Any
    ) -> None:
        """``Client@odata.bind``: the URL, or for a collection the URLs, of existing entities."""
        path = join_path(entity.path, name)
        if value is None and not navigation.collection:
            self._navigation(entity, navigation, None, 0)
            return
        urls = value if navigation.collection else [value]
        if not isinstance(urls, list) or not all(isinstance(url, str) for url in urls):
            kind = "an array of URLs" if navigation.collection else "the URL of an entity"
            self.problems.add(path, f"must be {kind}")
            return
        target = self.container.target(navigation)
        items = [
            EntityBody(target, f"{path}[{index}]" if navigation.collection else path, reference=url)
            for index, url in enumerate(urls)
        ]
        # Binding adds to a collection, on creation and in a change alike (Protocol 11.4.3).
        is_many = navigation.collection
        entity.related.append(Related(navigation, path, items, is_delta=is_many, is_bound=True))


def _apart(
    prop: edm.Property, columns: Mapping[str, str], value: Mapping[str, Any] | None
) -> dict[str, Any]:
    """A complex value as values of its columns; null empties all of them."""
    if value is None:
        return dict.fromkeys(columns.values())
    return {columns[name]: item for name, item in value.items() if name in columns}
