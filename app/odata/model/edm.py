"""The Entity Data Model as plain values: types, properties, navigation, sets, operations.

The model is built once, from declarations, and everything reads it: binding of queries, JSON of
payloads, ``$metadata``, OpenAPI. It knows SQLAlchemy columns and nothing of any business.
Source: OData CSDL 4.01.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import cached_property
from typing import Any, ClassVar, Protocol, runtime_checkable

from sqlalchemy import ColumnElement, Connection, FromClause, Select

from app.errors import Detail
from app.odata.sql.trigrams import Trigrams

# --- types ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PrimitiveType:
    """A primitive type, such as ``Edm.String``.

    Values of one ``family`` are compared with each other, and kept alike in SQL
    (``binding.type_coercion.FAMILIES``). ``limits`` are the least and the greatest whole number.
    """

    name: str
    family: str = "other"
    limits: tuple[int, int] | None = None


@dataclass(frozen=True)
class EnumType:
    """An enumeration kept as an integer; ``members`` name -> value. ``name`` has no namespace."""

    name: str
    members: Mapping[str, int] = field(hash=False)
    is_flags: bool = False
    underlying: str = "Edm.Int32"
    description: str = ""
    family: ClassVar[str] = "enum"


@dataclass(frozen=True)
class CollectionType:
    """A collection of a type, kept as a JSON array in one column."""

    element: PrimitiveType | EnumType | ComplexType
    family: ClassVar[str] = "other"

    @property
    def name(self) -> str:
        return f"Collection({self.element.name})"


@dataclass(frozen=True, eq=False)
class ComplexType:
    """A structured type without a key; ``properties`` are those of its ``base``, too."""

    name: str
    properties: Mapping[str, Property]
    description: str = ""
    is_open: bool = False
    base: ComplexType | None = None
    family: ClassVar[str] = "other"

    def property_called(self, name: str) -> Property | None:
        """The property of this name, in any case unless there is one to the letter."""
        if name in self.properties:
            return self.properties[name]
        folded = {declared.lower(): prop for declared, prop in self.properties.items()}
        return folded.get(name.lower())


EdmType = PrimitiveType | EnumType | CollectionType | ComplexType

STRING = PrimitiveType("Edm.String", "text")
BOOLEAN = PrimitiveType("Edm.Boolean", "boolean")
BYTE = PrimitiveType("Edm.Byte", "integer", (0, 2**8 - 1))
SBYTE = PrimitiveType("Edm.SByte", "integer", (-(2**7), 2**7 - 1))
INT16 = PrimitiveType("Edm.Int16", "integer", (-(2**15), 2**15 - 1))
INT32 = PrimitiveType("Edm.Int32", "integer", (-(2**31), 2**31 - 1))
INT64 = PrimitiveType("Edm.Int64", "integer", (-(2**63), 2**63 - 1))
DECIMAL = PrimitiveType("Edm.Decimal", "decimal")
DOUBLE = PrimitiveType("Edm.Double", "double")
SINGLE = PrimitiveType("Edm.Single", "double")
DATE = PrimitiveType("Edm.Date", "date")
DATETIME = PrimitiveType("Edm.DateTimeOffset", "instant")
TIME_OF_DAY = PrimitiveType("Edm.TimeOfDay", "time")
DURATION = PrimitiveType("Edm.Duration", "duration")
GUID = PrimitiveType("Edm.Guid", "guid")
BINARY = PrimitiveType("Edm.Binary", "binary")
STREAM = PrimitiveType("Edm.Stream")
UNTYPED = PrimitiveType("Edm.Untyped")
PRIMITIVES: Mapping[str, PrimitiveType] = {
    type_.name: type_
    for type_ in (
        STRING, BOOLEAN, BYTE, SBYTE, INT16, INT32, INT64, DECIMAL, DOUBLE, SINGLE, DATE, DATETIME,
        TIME_OF_DAY, DURATION, GUID, BINARY, STREAM, UNTYPED,
    )
}  # fmt: skip
# Kept as the GeoJSON that they are; there are no geographic functions.
GEOGRAPHY = {
    shape: PrimitiveType(f"Edm.Geography{shape}")
    for shape in (
        "Point", "LineString", "Polygon", "MultiPoint", "MultiLineString", "MultiPolygon",
        "Collection",
    )
}  # fmt: skip


@dataclass(frozen=True)
class TypeDefinition:
    """A name of the model for a primitive type; values and expressions are those of the type."""

    name: str
    underlying: PrimitiveType
    description: str = ""


# --- properties -------------------------------------------------------------------------------

# What an expression property gets: the columns of the row read, and the profile of the caller
# (permission -> scope), so that compiled plans stay shared between callers of one profile.
Expression = Callable[[Any, Mapping[str, str]], ColumnElement[Any]]


@dataclass(frozen=True, eq=False, kw_only=True)
class Property:
    """A structural property.

    ``attribute`` is the column of the row (and the key in the values that a service takes); a
    property without a column has an ``expression`` and is computed. A complex property lies
    either in several columns (``columns``: sub-property name -> column) or as JSON in one.
    """

    name: str
    type: EdmType
    attribute: str
    definition: TypeDefinition | None = None  # the name that metadata gives the type
    expression: Expression | None = None
    columns: Mapping[str, str] | None = None
    nullable: bool = True
    max_length: int | None = None
    precision: int | None = None
    scale: int | None = None
    default: Any = None
    allowed: tuple[str, ...] | None = None
    minimum: int | None = None
    maximum: int | None = None
    required: bool = False  # must be given on create
    computed: bool = False  # set by the service; ignored in a body
    filled: bool = False  # where a new entity is not given it, the service finds a value
    immutable: bool = False  # settable on create only
    on_request: bool = False  # left out unless $select names it
    preserved: bool = False  # a PUT that leaves it out keeps it: a state, a responsible person
    searchable: bool = False  # part of $search and of the trigram index
    currency_property: str | None = None  # Measures.ISOCurrency
    absent: str | None = None  # the column that is 1 in rows of $apply without the property
    description: str = ""
    annotations: Mapping[str, Any] = field(default_factory=dict)

    def lies_in(self) -> Iterator[str]:
        """The columns of a complex value, those of its parts included."""
        yield from (self.columns or {}).values()
        for part in self.type.properties.values() if isinstance(self.type, ComplexType) else ():
            yield from part.lies_in()


@dataclass(frozen=True, kw_only=True)
class CustomAggregate:
    """A named figure of many entities, as ``aggregate(Name)`` gives it (Data Aggregation 4.0, 5.2).

    It is the sum of ``value`` over the entities that fulfil ``where``, both OData expressions, or
    their number where there is no value; 0 where none counts. ``currency`` is the path that
    names the currency of the amounts: of several currencies together there is no figure, only null.
    """

    name: str
    where: str | None = None
    value: str | None = None
    currency: str | None = None
    description: str = ""

    @property
    def type(self) -> PrimitiveType:
        return INT64 if self.value is None else DECIMAL


# (columns of the source row, columns of the target row) -> the condition that relates them
Join = Callable[[Any, Any], ColumnElement[bool]]


@dataclass(frozen=True, eq=False, kw_only=True)
class NavigationProperty:
    """A relation to another entity type.

    ``foreign_key`` names the attribute that holds the relation: on the source for a
    single-valued navigation, on the target for a collection. ``through`` is the link table of
    a many-to-many relation with its two columns (source, target).
    """

    name: str
    target: str
    collection: bool
    join: Join
    foreign_key: str | None = None
    # What the target of a collection has besides the key: the type that a reference names.
    besides: Mapping[str, Any] = field(default_factory=dict)
    through: tuple[FromClause, str, str] | None = None
    partner: str | None = None
    nullable: bool = True
    contained: bool = False  # no set of its own: reached through its parent only
    owned: bool = False  # given inside the parent's body and replaced as a whole (LineItems)
    service: Service | None = None  # adds entities to a contained collection
    searched: bool = False  # ``$search`` of the source looks in the one entity behind it, too
    description: str = ""


@dataclass(frozen=True, eq=False, kw_only=True)
class EntityType:
    """An entity type over one table."""

    name: str
    table: FromClause
    key: tuple[str, ...]
    properties: Mapping[str, Property]
    navigation: Mapping[str, NavigationProperty] = field(default_factory=dict)
    # Permission resource whose ``read`` a caller needs, and whose row filter applies.
    resource: str | None = None
    etag: str | None = None  # attribute of the row version
    alternate_keys: tuple[tuple[str, ...], ...] = ()
    aggregates: Mapping[str, CustomAggregate] = field(default_factory=dict)
    base: EntityType | None = None
    has_stream: bool = False
    description: str = ""
    # Attribute of the table that names the type of a row, and its value for this type. The rows of
    # a type without a base are those of the whole table.
    discriminator: tuple[str, Any] | None = None
    trigrams: Trigrams | None = None
    # Rows that do not exist for queries (such as documents in the trash).
    visible: Callable[[Any], ColumnElement[bool]] | None = None
    changes: ChangeSource | None = None  # what delta links are made of
    # Attribute of an entity's place, from 1, among those of its owner: they are read in this order.
    ordered_by: str | None = None
    # Columns that tell a row made by $apply, which has no key, from all others; none if unknown.
    unique: tuple[str, ...] = ()

    @cached_property
    def lineage(self) -> tuple[EntityType, ...]:
        """The type itself and those that it is derived from, the nearest first."""
        return (self, *(() if self.base is None else self.base.lineage))

    def derives_from(self, name: str) -> bool:
        """Whether it is the type of this name, or derived from it."""
        return any(type_.name == name for type_ in self.lineage)

    @cached_property
    def folded(self) -> Mapping[str, str]:
        """Lower-case name -> declared name, for case-insensitive matching (Protocol 13.1.6)."""
        return {name.lower(): name for name in (*self.properties, *self.navigation)}

    @cached_property
    def by_attribute(self) -> Mapping[str, Property]:
        """Column name -> property."""
        return {prop.attribute: prop for prop in self.properties.values()}

    @cached_property
    def alternate_key_names(self) -> list[tuple[str, ...]]:
        return [
            tuple(self.by_attribute[attribute].name for attribute in attributes)
            for attributes in self.alternate_keys
        ]

    @cached_property
    def upsert_keys(self) -> list[tuple[str, ...]]:
        """The names of the properties of those keys, primary or alternate, whose values a client
        gives: by these it can upsert.
        """
        return [
            names
            for names in (self.key, *self.alternate_key_names)
            if not any(self.properties[name].computed for name in names)
        ]


class ChangeSource(Protocol):
    """Where the changes of an entity type are read from, for delta links.

    Rows of ``changed``: the parts of the key, the row version, the instant of the change; of
    ``removed``: the parts of the key. A row of ``broken`` tells that changes since then are not all
    told by these; its one column tells it from others.
    """

    def changed(self, since: datetime) -> Select[Any]:
        """What was made or changed after ``since``, rows that queries hide included."""

    def removed(self, since: datetime) -> Select[Any]:
        """What was deleted after ``since``."""

    def broken(self, since: datetime) -> Select[Any] | None:
        """Why the whole must be read again; None for never."""

    def known(
        self, connection: Connection, caller: Any, keys: Collection[Any], since: datetime
    ) -> Collection[Any]:
        """Those of ``keys`` that the caller could read at some time after ``since``, or can now."""


class Service(Protocol):
    """The writes of an entity set: functions of the area's service, named by the container.

    ``values`` are Python values by attribute (``tax_id``), owned collections as lists of the
    same. Each function checks permission, validates, audits and emits.
    """

    def create(self, values: dict[str, Any]) -> Any:
        """Make a record; returns its key."""

    def update(self, key: Any, changes: dict[str, Any], version: int | None = None) -> None:
        """Change the named attributes; ``version`` is the one that If-Match demands."""

    def delete(self, key: Any, version: int | None = None) -> None:
        """Remove a record."""


@runtime_checkable
class Guarded(Service, Protocol):
    """A service that says which right a write needs, before there is a record or a body."""

    def needed_rights(
        self, action: str, values: Mapping[str, Any] | None = None
    ) -> tuple[str, ...]:
        """The permissions, all of them needed, for ``create``, ``update``, ``delete`` or ``link``.

        Args:
            values: by attribute, what is known of the entity without its body.
        """


@runtime_checkable
class LinkingService(Protocol):
    """A service whose entities have many-to-many relations that can be changed."""

    def link(self, key: Any, navigation: str, target: Any) -> None:
        """Relate another entity; nothing happens when it is related already."""

    def unlink(self, key: Any, navigation: str, target: Any) -> None:
        """End a relation."""


@runtime_checkable
class Checking(Service, Protocol):
    """A service that tells what is wrong with the values of a body, without a write."""

    def problems(
        self,
        values: Mapping[str, Any],
        *,
        partial: bool,
        settled: Collection[str] = (),
        key: Any | None = None,
    ) -> list[Detail]:
        """Everything that would be refused of the values.

        Args:
            values: by attribute, as for ``create``.
            partial: of a change, which may leave out what is required.
            settled: attributes whose values are not known: the write has them from elsewhere, or
                they were refused already.
            key: of the entity that is changed, where it is known.
        """


@runtime_checkable
class MediaService(Protocol):
    """A service of media entities: each has bytes besides its properties (Protocol 11.4.7)."""

    def create_media(self, content: Iterable[bytes], content_type: str, name: str | None) -> Any:
        """Make an entity of its bytes; returns its key. ``name`` is that of the file."""

    def replace_media(
        self, key: Any, content: Iterable[bytes], content_type: str, version: int | None = None
    ) -> None:
        """Give an entity other bytes."""


@runtime_checkable
class ErasableMediaService(Protocol):
    """A ``MediaService`` whose entities may be left without bytes."""

    def delete_media(self, key: Any, version: int | None = None) -> None:
        """Take the bytes away; the entity stays."""


@runtime_checkable
class StreamService(Protocol):
    """A service of entities that have stream properties (Protocol 11.4.8)."""

    def replace_stream(
        self,
        key: Any,
        name: str,
        content: Iterable[bytes],
        content_type: str,
        version: int | None = None,
    ) -> None:
        """Give the property ``name`` of an entity other bytes."""

    def delete_stream(self, key: Any, name: str, version: int | None = None) -> None:
        """Take the bytes of a property away."""


@dataclass(frozen=True, eq=False, kw_only=True)
class EntitySet:
    """A set of entities; without a service it is read-only.

    ``takes_deltas`` tells whether several of them can be made and changed by one PATCH of the set.
    """

    name: str
    type: EntityType
    service: Service | None = None
    description: str = ""
    insertable: bool = True
    updatable: bool = True
    deletable: bool = True
    takes_deltas: bool = True


@dataclass(frozen=True, eq=False, kw_only=True)
class Singleton:
    """One entity with a name of its own (``/odata/Me``); ``key`` finds it for the caller.

    Without a service of its own it is written through the set of its type, if there is one.
    """

    name: str
    type: EntityType
    key: Callable[[], Any]
    service: Service | None = None
    description: str = ""


@dataclass(frozen=True, kw_only=True)
class Parameter:
    name: str
    type: EdmType | EntityType
    nullable: bool = True  # of an action also: may be left out
    optional: bool = False  # of a function: may be left out
    allowed: tuple[str, ...] | None = None
    description: str = ""
    example: Any = None


@dataclass(frozen=True, eq=False, kw_only=True)
class Operation:
    """An action or a function; bound to an entity type when ``bound_to`` is given.

    ``handler`` is called as app/odata/operations/service.py says, after ``permission`` was checked.
    ``result_path`` is the navigation of the binding entity in which a returned entity lies that has
    no set; ``creates`` tells that something new is returned, which no preference leaves out.
    ``on_each`` tells whether it may be done to each of many (``/$each``). ``available`` is when an
    entity can be bound, for those who ask for all metadata; None for never. ``check`` refuses
    arguments that the handler would refuse, whatever the database holds: it is asked where others
    cannot be read.

    Two make a function one that expressions can call. ``expression`` is its value as SQL, of the
    columns of the row it is bound to (of a collection: an aggregate over its rows; bound to
    nothing: None) and the arguments given, by name; bound to rows it needs no handler.
    ``members`` tells of a function that returns entities which they are: a condition of the columns
    of the row it is bound to (or None), those of an entity, and the arguments.
    """

    name: str
    is_action: bool
    handler: Callable[..., Any] | None = None
    bound_to: str | None = None
    bound_to_collection: bool = False
    parameters: tuple[Parameter, ...] = ()
    returns: EdmType | EntityType | None = None
    returns_collection: bool = False
    composable: bool = False
    import_name: str | None = None  # in the container, when not bound
    permission: str | None = None
    also: tuple[str, ...] = ()  # permissions that are needed besides
    result_path: str | None = None
    creates: bool = False
    on_each: bool = True
    binds_hidden: bool = False  # to entities that queries do not show: the handler looks
    available: Callable[[Any, Mapping[str, str]], ColumnElement[bool] | None] | None = None
    check: Callable[[Mapping[str, Any]], None] | None = None
    expression: Callable[[Any, Mapping[str, ColumnElement[Any]]], ColumnElement[Any]] | None = None
    members: Callable[[Any, Any, Mapping[str, ColumnElement[Any]]], ColumnElement[bool]] | None = (
        None
    )
    description: str = ""

    @property
    def signature(self) -> str:
        """``Name(a,b)``, for messages."""
        return f"{self.name}({','.join(parameter.name for parameter in self.parameters)})"

    def is_bound_to(self, type_: EntityType, *, collection: bool = False) -> bool:
        """Whether it can be called on an entity of a type, or on a collection of such."""
        is_of_it = type_.derives_from(self.bound_to or "")
        return is_of_it and self.bound_to_collection == collection

    def takes(self, names: Collection[str]) -> bool:
        """Whether it can be called with parameters of these names, and needs no others."""
        required = {parameter.name for parameter in self.parameters if not parameter.optional}
        return required <= set(names) <= {parameter.name for parameter in self.parameters}

    @property
    def permissions(self) -> tuple[str, ...]:
        """All that it needs."""
        return self.also if self.permission is None else (self.permission, *self.also)


def overload_for(overloads: Sequence[Operation], names: Collection[str]) -> Operation | None:
    """The overload with exactly these parameters, else the first that they are enough for."""
    enough = [overload for overload in overloads if overload.takes(names)]
    exact = (overload for overload in enough if len(overload.parameters) == len(set(names)))
    return next(exact, enough[0] if enough else None)


def own_properties(type_: EntityType | ComplexType) -> Mapping[str, Property]:
    """The properties that a type adds to those of its base."""
    inherited = type_.base.properties if type_.base else {}
    return {name: prop for name, prop in type_.properties.items() if name not in inherited}


def own_navigation(type_: EntityType) -> Mapping[str, NavigationProperty]:
    """The navigation properties that a type adds to those of its base."""
    inherited = type_.base.navigation if type_.base else {}
    return {name: nav for name, nav in type_.navigation.items() if name not in inherited}


def _grouped(pairs: Iterable[tuple[str, Operation]]) -> Mapping[str, tuple[Operation, ...]]:
    groups: dict[str, tuple[Operation, ...]] = {}
    for name, operation in pairs:
        groups[name] = (*groups.get(name, ()), operation)
    return groups


def day_in_utc(connection: Connection, instant: datetime) -> date:
    """The day of a service that has no time zone of its own."""
    return instant.astimezone(UTC).date()


@dataclass(frozen=True, eq=False, kw_only=True)
class EntityContainer:
    """The whole model of one service."""

    namespace: str
    name: str
    sets: Mapping[str, EntitySet]
    types: Mapping[str, EntityType]
    complex_types: Mapping[str, ComplexType] = field(default_factory=dict)
    enum_types: Mapping[str, EnumType] = field(default_factory=dict)
    type_definitions: Mapping[str, TypeDefinition] = field(default_factory=dict)
    singletons: Mapping[str, Singleton] = field(default_factory=dict)
    # The day on which an instant falls for those whom the service serves, as a connection reads it.
    day_of: Callable[[Connection, datetime], date] = day_in_utc
    operations: tuple[Operation, ...] = ()
    schema_version: str = "1.0"
    expand_levels: int = 5  # how deep $expand goes
    answers_later: bool = False  # whether whoever serves it honours Prefer: respond-async
    # Whether bound operations may be called by their names alone (Core.DefaultNamespace).
    is_default_namespace: bool = False

    @cached_property
    def imports(self) -> Mapping[str, tuple[Operation, ...]]:
        """Name of an import -> the operations that it stands for, overloads of each other."""
        named = [each for each in self.operations if each.import_name and not each.bound_to]
        return _grouped((each.import_name or "", each) for each in named)

    @cached_property
    def _operations(self) -> Mapping[str, tuple[Operation, ...]]:
        return _grouped((each.name, each) for each in self.operations)

    def operations_called(self, name: str) -> tuple[Operation, ...]:
        """Those of a qualified name, or of a bare one where the namespace is the default."""
        bare = name.removeprefix(f"{self.namespace}.")
        is_known = bare != name or self.is_default_namespace
        return self._operations.get(bare, ()) if is_known else ()

    @cached_property
    def set_of_type(self) -> Mapping[str, EntitySet]:
        """Entity type name -> the set that holds its entities."""
        return {entity_set.type.name: entity_set for entity_set in self.sets.values()}

    def set_called(self, name: str) -> EntitySet | None:
        """The entity set of this name, in any case."""
        return self.sets.get(name) or self._folded_sets.get(name.lower())

    @cached_property
    def _folded_sets(self) -> Mapping[str, EntitySet]:
        return {name.lower(): entity_set for name, entity_set in self.sets.items()}

    def containers_of(self, type_: EntityType) -> Sequence[tuple[EntityType, NavigationProperty]]:
        """The types that have entities of ``type_`` within them, and by which property.

        Empty for a type with a set of its own, whose entities are there by themselves.
        """
        # What $apply makes has the name of a type of the model and is another.
        if type_.name in self.set_of_type or not type_.key:
            return ()
        base = () if type_.base is None else self.containers_of(type_.base)
        return (*self._containers.get(type_.name, ()), *base)

    @cached_property
    def _containers(self) -> Mapping[str, Sequence[tuple[EntityType, NavigationProperty]]]:
        containers: dict[str, list[tuple[EntityType, NavigationProperty]]] = {}
        for owner in self.types.values():
            for navigation in owner.navigation.values():
                # A type has the navigation of its base: told once, by the type that declares it.
                inherited = owner.base is not None and navigation.name in owner.base.navigation
                if navigation.contained and not inherited:
                    containers.setdefault(navigation.target, []).append((owner, navigation))
        return containers

    def derived(self, type_: EntityType) -> Sequence[EntityType]:
        """The types derived from ``type_``, at any number of steps, in the order declared."""
        # What $apply makes has the name of a type of the model and is another.
        return self._derived.get(type_.name, ()) if type_.key else ()

    @cached_property
    def _derived(self) -> Mapping[str, Sequence[EntityType]]:
        derived: dict[str, list[EntityType]] = {}
        for type_ in self.types.values():
            for base in type_.lineage[1:]:
                derived.setdefault(base.name, []).append(type_)
        return derived

    def each_adds(
        self, type_: EntityType
    ) -> Iterator[tuple[EntityType, Iterable[Property], Iterable[NavigationProperty]]]:
        """A type with all that it has, and those derived from it with what each adds."""
        yield type_, type_.properties.values(), type_.navigation.values()
        for derived in self.derived(type_):
            yield derived, own_properties(derived).values(), own_navigation(derived).values()

    def kinds(self, type_: EntityType) -> Mapping[Any, EntityType]:
        """Value of the discriminator -> type, of ``type_`` and those derived from it."""
        return {
            each.discriminator[1]: each
            for each in (type_, *self.derived(type_))
            if each.discriminator is not None
        }

    def type_called(self, name: str) -> EntityType | None:
        """The entity type of this name, with or without the namespace."""
        return self.types.get(name.removeprefix(f"{self.namespace}."))

    def seen_as(self, type_: EntityType, name: str) -> EntityType | None:
        """What a cast to ``name`` makes of a type: itself or a derived one; None for others."""
        if name == f"{self.namespace}.{type_.name}":
            return type_
        target = self.type_called(name)
        return target if target in self.derived(type_) else None

    def inside(self, type_: EdmType | EntityType | None, name: str) -> EdmType | EntityType | None:
        """What a property or a navigation property of a type leads to; None where it has none."""
        if isinstance(type_, EntityType) and name in type_.navigation:
            return self.target(type_.navigation[name])
        prop = type_.properties.get(name) if isinstance(type_, EntityType | ComplexType) else None
        return None if prop is None else prop.type

    def target(self, navigation: NavigationProperty) -> EntityType:
        """The entity type that a navigation property leads to."""
        return self.types[navigation.target]

    def set_of(self, navigation: NavigationProperty) -> EntitySet | None:
        """The set in which related entities are written; None where they are not.

        Contained entities are in none of the container: what their navigation property has a
        service for can be added, and then stays as it is.
        """
        home = self.set_of_type.get(navigation.target)
        if home is not None or navigation.service is None:
            return home
        return EntitySet(
            name=navigation.name,
            type=self.target(navigation),
            service=navigation.service,
            updatable=False,
            deletable=False,
        )

    def is_insertable(self, entity_set: EntitySet, navigation: NavigationProperty) -> bool:
        """Whether an entity can be made along a navigation property, and is then related."""
        if navigation.owned:
            return entity_set.service is not None and entity_set.updatable
        target = self.set_of(navigation)
        if target is None or target.service is None or not target.insertable:
            return False
        if navigation.through is not None:
            return isinstance(entity_set.service, LinkingService)
        return navigation.foreign_key is not None
