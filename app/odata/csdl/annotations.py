"""What the metadata says of each element beyond its form: meaning, limits, who sets it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from app.odata.csdl.capabilities import (
    of_container as container_capabilities,
    of_set as set_capabilities,
)
from app.odata.csdl.terms import (
    AGGREGATION,
    CORE,
    MEASURES,
    VALIDATION,
    Annotation,
    EnumMembers,
    Expression,
    Path,
    PropertyPath,
)
from app.odata.model import edm
from app.odata.model.writable import alternate_key_names

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
    yield from _description(entity_set.description)
    if entity_set.type.etag is not None:
        version = entity_set.type.by_attribute.get(entity_set.type.etag)
        # Empty where the row version, of which the tag is made, is no property.
        paths = [PropertyPath(version.name)] if version else []
        yield Annotation(f"{CORE}.OptimisticConcurrency", paths)
    yield from set_capabilities(container, entity_set)


def of_type(
    type_: edm.EntityType | edm.ComplexType | edm.EnumType | edm.TypeDefinition,
) -> Iterator[Annotation]:
    yield from _description(type_.description)
    if isinstance(type_, edm.EntityType):
        for aggregate in type_.aggregates.values():
            yield _custom_aggregate(aggregate)
    if isinstance(type_, edm.EntityType) and type_.alternate_keys:
        keys: list[Expression] = [
            {"Key": [{"Name": PropertyPath(name), "Alias": name} for name in names]}
            for names in alternate_key_names(type_)
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
    yield from _description(prop.description)
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
    yield from _description(nav.description)
    if nav.collection and container.target(nav).ordered_by is not None:
        yield Annotation(f"{CORE}.Ordered", True)


def of_operation(operation: edm.Operation) -> Iterator[Annotation]:
    yield from _description(operation.description)


def of_parameter(parameter: edm.Parameter) -> Iterator[Annotation]:
    yield from _description(parameter.description)
    if parameter.optional:
        yield Annotation(f"{CORE}.OptionalParameter", {})
    yield from _allowed(parameter.allowed)


def _allowed(values: Sequence[str] | None) -> Iterator[Annotation]:
    if values:
        yield Annotation(f"{VALIDATION}.AllowedValues", [{"Value": value} for value in values])


def _description(text: str) -> Iterator[Annotation]:
    """The first line of a text briefly, and the whole of it where there is more."""
    brief, _, more = text.partition("\n")
    if brief:
        yield Annotation(f"{CORE}.Description", brief)
    if more.strip():
        yield Annotation(f"{CORE}.LongDescription", text)
