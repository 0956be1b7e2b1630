"""What the metadata says of each element beyond its form: meaning, limits, who sets it, and in the
terms of the Capabilities vocabulary what can be done with each set (CSDL 4.01, chapter 14).

A client builds its screens from these capabilities: each statement is held by a test that tries it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from app.odata.binding.aggregates import custom_methods
from app.odata.functions import FUNCTIONS, OWN_SYNTAX
from app.odata.model import edm
from app.odata.syntax.parser import OFFERED

CORE = "Org.OData.Core.V1"
CAPABILITIES = "Org.OData.Capabilities.V1"
VALIDATION = "Org.OData.Validation.V1"
MEASURES = "Org.OData.Measures.V1"
AGGREGATION = "Org.OData.Aggregation.V1"

# Namespace -> alias and the file that defines it.
VOCABULARIES: Mapping[str, tuple[str, str]] = {
    namespace: (
        namespace.split(".")[2],
        f"https://oasis-tcs.github.io/odata-vocabularies/vocabularies/{namespace}",
    )
    for namespace in (CORE, CAPABILITIES, VALIDATION, MEASURES, AGGREGATION)
}


@dataclass(frozen=True)
class EnumMembers:
    """Members of an enumeration type of a vocabulary; more than one where flags are combined."""

    type: str
    members: tuple[str, ...]


@dataclass(frozen=True)
class Path:
    """The value of a property of the instance."""

    path: str


class PropertyPath(Path):
    """A property itself, as a model element."""


class NavigationPropertyPath(PropertyPath):
    """A navigation property itself, as a model element."""


Expression: TypeAlias = (
    "bool | int | Decimal | str | EnumMembers | Path | Sequence[Expression]"
    " | Mapping[str, Expression]"
)


class Annotation(NamedTuple):
    """A term applied to a model element; ``term`` with its namespace (or alias).

    ``qualifier`` tells several annotations with one term apart. ``notes`` are annotations of the
    annotation itself: term -> value (CSDL 4.01, 14.2).
    """

    term: str
    value: Expression
    qualifier: str | None = None
    notes: Mapping[str, Expression] = MappingProxyType({})

    @property
    def qualified(self) -> str:
        """The term with its qualifier, as JSON names it."""
        return self.term if self.qualifier is None else f"{self.term}#{self.qualifier}"


# The alias, and String right behind Term: what clients that look for the version search for.
SCHEMA_VERSION_TERM = "Core.SchemaVersion"
READ_ONLY = EnumMembers(f"{CORE}.Permission", ("Read",))


def of_schema(container: edm.EntityContainer) -> Iterator[Annotation]:
    yield Annotation(SCHEMA_VERSION_TERM, container.schema_version)
    if container.is_default_namespace:
        yield Annotation(f"{CORE}.DefaultNamespace", True)


def of_container(container: edm.EntityContainer) -> Iterator[Annotation]:
    yield Annotation(f"{CORE}.ODataVersions", "4.0 4.01")
    yield Annotation(f"{CORE}.ConventionalIDs", True)
    yield Annotation(f"{CORE}.DereferenceableIDs", True)
    yield from container_capabilities(container)


def of_set(container: edm.EntityContainer, entity_set: edm.EntitySet) -> Iterator[Annotation]:
    yield from description(entity_set.description)
    if entity_set.type.etag is not None:
        version = entity_set.type.by_attribute.get(entity_set.type.etag)
        # Empty where the row version, of which the tag is made, is no property.
        paths = [PropertyPath(version.name)] if version else []
        yield Annotation(f"{CORE}.OptimisticConcurrency", paths)
    yield from set_capabilities(container, entity_set)


def of_type(
    type_: edm.EntityType | edm.ComplexType | edm.EnumType | edm.TypeDefinition,
) -> Iterator[Annotation]:
    yield from description(type_.description)
    if isinstance(type_, edm.EntityType):
        for aggregate in type_.aggregates.values():
            yield _custom_aggregate(aggregate)
    if isinstance(type_, edm.EntityType) and type_.alternate_keys:
        keys: list[Expression] = [
            {"Key": [{"Name": PropertyPath(name), "Alias": name} for name in names]}
            for names in type_.alternate_key_names
        ]
        yield Annotation(f"{CORE}.AlternateKeys", keys)


def _custom_aggregate(aggregate: edm.CustomAggregate) -> Annotation:
    """A figure that ``aggregate`` gives by its name; what it means is said beside it."""
    notes: dict[str, Expression] = {}
    if aggregate.description:
        notes[f"{CORE}.Description"] = aggregate.description
    if aggregate.currency is not None:
        notes[f"{AGGREGATION}.ContextDefiningProperties"] = [PropertyPath(aggregate.currency)]
    term = f"{AGGREGATION}.CustomAggregate"
    return Annotation(term, aggregate.type.name, aggregate.name, notes)


def of_property(prop: edm.Property, *, is_key: bool = False) -> Iterator[Annotation]:
    yield from description(prop.description)
    if prop.computed or prop.expression is not None:
        # A key is made once and not "on both insert and update", as the term says; python-odata
        # cannot create entities whose key is computed.
        if not is_key:
            yield Annotation(f"{CORE}.Computed", True)
        yield Annotation(f"{CORE}.Permissions", READ_ONLY)
    elif prop.immutable:
        yield Annotation(f"{CORE}.Immutable", True)
    if prop.filled:
        yield Annotation(f"{CORE}.ComputedDefaultValue", True)
    yield from _allowed(prop.allowed)
    if prop.minimum is not None:
        yield Annotation(f"{VALIDATION}.Minimum", prop.minimum)
    if prop.maximum is not None:
        yield Annotation(f"{VALIDATION}.Maximum", prop.maximum)
    if prop.currency_property is not None:
        yield Annotation(f"{MEASURES}.ISOCurrency", Path(prop.currency_property))
    for term, value in prop.annotations.items():
        yield Annotation(term, value)


def of_navigation(
    container: edm.EntityContainer, nav: edm.NavigationProperty
) -> Iterator[Annotation]:
    yield from description(nav.description)
    if nav.collection and container.target(nav).ordered_by is not None:
        yield Annotation(f"{CORE}.Ordered", True)


def of_parameter(parameter: edm.Parameter) -> Iterator[Annotation]:
    yield from description(parameter.description)
    if parameter.optional:
        yield Annotation(f"{CORE}.OptionalParameter", {})
    yield from _allowed(parameter.allowed)


def _allowed(values: Sequence[str] | None) -> Iterator[Annotation]:
    if values:
        yield Annotation(f"{VALIDATION}.AllowedValues", [{"Value": value} for value in values])


def description(text: str) -> Iterator[Annotation]:
    """The first line of a text briefly, and the whole of it where there is more."""
    brief, _, more = text.partition("\n")
    if brief:
        yield Annotation(f"{CORE}.Description", brief)
    if more.strip():
        yield Annotation(f"{CORE}.LongDescription", text)


SUPPORTED_FORMATS = ("application/json",)
METADATA_FORMATS = ("application/xml", "application/json")
BATCHES: dict[str, Expression] = {
    "Supported": True,
    "ContinueOnErrorSupported": True,
    "ReferencesInRequestBodiesSupported": True,
    "ReferencesAcrossChangeSetsSupported": True,
    "EtagReferencesSupported": True,
    "RequestDependencyConditionsSupported": True,
    "SupportedFormats": ["multipart/mixed", "application/json"],
}
RETURNED = {"ExpandSupported": True, "SelectSupported": True}


def container_capabilities(container: edm.EntityContainer) -> Iterator[Annotation]:
    yield _term("SupportedFormats", list(SUPPORTED_FORMATS))
    yield _term("SupportedMetadataFormats", list(METADATA_FORMATS))
    # Beyond the operators (URL Conventions 5.1.1.5 to 5.1.1.11).
    offered = [name for name, function in FUNCTIONS.items() if function.is_offered]
    yield _term("FilterFunctions", [*offered, *OWN_SYNTAX])
    yield _term("KeyAsSegmentSupported", True)
    yield _term("QuerySegmentSupported", True)
    yield _term("CrossJoinSupported", True)
    yield _term("AsynchronousRequestsSupported", container.answers_later)
    yield _term("BatchSupport", BATCHES)
    apply: dict[str, Expression] = {
        "Transformations": list(OFFERED),
        "CustomAggregationMethods": list(custom_methods(container)),
    }
    yield Annotation(f"{AGGREGATION}.ApplySupportedDefaults", apply)


def set_capabilities(
    container: edm.EntityContainer, entity_set: edm.EntitySet
) -> Iterator[Annotation]:
    type_ = entity_set.type
    writable = entity_set.service is not None
    insertable = writable and entity_set.insertable
    updatable = writable and entity_set.updatable
    yield _term("TopSupported", True)
    yield _term("SkipSupported", True)
    yield _term("IndexableByKey", True)
    yield _term("CountRestrictions", {"Countable": True})
    yield _term("ComputeSupported", True)
    yield _term("SelectSupport", {"Supported": True})
    unknown = _without_expression(type_)
    yield _term("FilterRestrictions", _excepting("Filterable", "NonFilterableProperties", unknown))
    unsortable = [*unknown, *_structured(type_)]
    yield _term("SortRestrictions", _excepting("Sortable", "NonSortableProperties", unsortable))
    yield _term("ExpandRestrictions", {"Expandable": True, "MaxLevels": container.expand_levels})
    searchable = any(prop.searchable for prop in type_.properties.values())
    yield _term("SearchRestrictions", {"Searchable": searchable})
    yield _term("InsertRestrictions", _insertion(container, entity_set, insertable))
    yield _term("DeepInsertSupport", {"Supported": insertable})
    yield _term("UpdateRestrictions", _change(entity_set, updatable, insertable))
    yield _term("DeepUpdateSupport", {"Supported": updatable})
    yield _term("ChangeTracking", {"Supported": type_.changes is not None})
    deletable = writable and entity_set.deletable
    deletion: dict[str, Expression] = {"Deletable": deletable}
    if deletable:
        deletion["FilterSegmentSupported"] = True
    yield _term("DeleteRestrictions", deletion)


def _term(name: str, value: Expression) -> Annotation:
    return Annotation(f"{CAPABILITIES}.{name}", value)


def _without_expression(type_: edm.EntityType) -> list[str]:
    """The properties of which no expression can be made."""
    return [
        prop.name
        for prop in type_.properties.values()
        if prop.type in (edm.UNTYPED, edm.STREAM) or prop.on_request
    ]


def _structured(type_: edm.EntityType) -> list[str]:
    """The properties that have no order, because they have parts."""
    parted = (edm.ComplexType, edm.CollectionType)
    return [prop.name for prop in type_.properties.values() if isinstance(prop.type, parted)]


def _excepting(able: str, names: str, excepted: list[str]) -> dict[str, Expression]:
    """A record that says yes, with exceptions."""
    record: dict[str, Expression] = {able: True}
    return {**record, names: [PropertyPath(name) for name in excepted]} if excepted else record


def _insertion(
    container: edm.EntityContainer, entity_set: edm.EntitySet, insertable: bool
) -> dict[str, Expression]:
    record: dict[str, Expression] = {"Insertable": insertable}
    if insertable:
        closed: list[Expression] = [
            NavigationPropertyPath(nav.name)
            for nav in entity_set.type.navigation.values()
            if not container.is_insertable(entity_set, nav)
        ]
        if closed:
            record["NonInsertableNavigationProperties"] = closed
        record["QueryOptions"] = RETURNED
    return record


def _change(entity_set: edm.EntitySet, updatable: bool, insertable: bool) -> dict[str, Expression]:
    record: dict[str, Expression] = {"Updatable": updatable}
    if updatable:
        record["Upsertable"] = insertable and bool(entity_set.type.upsert_keys)
        record["DeltaUpdateSupported"] = insertable and entity_set.takes_deltas
        record["FilterSegmentSupported"] = True
        record["QueryOptions"] = RETURNED
    return record
