"""The elements of ``$metadata`` as values: one walk through the model, which both forms write.

Source: OData CSDL 4.01. The names of elements and attributes are those of CSDL XML; CSDL JSON has
the same names with a ``$``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from app.odata.csdl import annotations as notes
from app.odata.model import edm

BINDING_PARAMETER = "binding"


class TypeUse(NamedTuple):
    """The type of a value; ``nullable`` is None where nothing is said of null."""

    name: str
    is_collection: bool = False
    nullable: bool | None = None


@dataclass(frozen=True, kw_only=True)
class Element:
    """One element; ``kind`` is its tag in XML.

    ``attributes`` that are None are left out; one with parts (``Key``) is a list or a mapping.
    """

    kind: str
    name: str | None = None
    type: TypeUse | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    children: Sequence[Element] = ()
    annotations: Sequence[notes.Annotation] = ()


def schema_elements(container: edm.EntityContainer) -> Iterator[Element]:
    """All that the schema of a model declares, its container last."""
    for enum in container.enum_types.values():
        yield _enum(enum)
    for definition in container.type_definitions.values():
        yield Element(
            kind="TypeDefinition",
            name=definition.name,
            attributes={"UnderlyingType": definition.underlying.name},
            annotations=list(notes.of_type(definition)),
        )
    for complex_type in container.complex_types.values():
        yield _structured(container, complex_type)
    for type_ in container.types.values():
        yield _structured(container, type_)
    for operation in container.operations:
        yield _operation(container, operation)
    yield Element(
        kind="EntityContainer",
        name=container.name,
        children=list(_of_container(container)),
        annotations=list(notes.of_container(container)),
    )


def _enum(enum: edm.EnumType) -> Element:
    return Element(
        kind="EnumType",
        name=enum.name,
        attributes={
            "UnderlyingType": enum.underlying if enum.underlying != "Edm.Int32" else None,
            "IsFlags": enum.is_flags or None,
        },
        children=[
            Element(kind="Member", name=name, attributes={"Value": number})
            for name, number in enum.members.items()
        ],
        annotations=list(notes.of_type(enum)),
    )


def _structured(container: edm.EntityContainer, type_: edm.EntityType | edm.ComplexType) -> Element:
    """An entity type or a complex type, with what it adds to its base."""
    attributes: dict[str, Any] = {
        "BaseType": element_name(container, type_.base) if type_.base else None
    }
    children = list(_properties(container, type_))
    if isinstance(type_, edm.EntityType):
        attributes["Key"] = list(type_.key) if type_.base is None else None
        attributes["HasStream"] = type_.has_stream or None
        children += (
            _navigation(container, type_, nav) for nav in edm.own_navigation(type_).values()
        )
    else:
        attributes["OpenType"] = type_.is_open or None
    return Element(
        kind=type(type_).__name__,
        name=type_.name,
        attributes=attributes,
        children=children,
        annotations=list(notes.of_type(type_)),
    )


def _properties(
    container: edm.EntityContainer, type_: edm.EntityType | edm.ComplexType
) -> Iterator[Element]:
    keys = type_.key if isinstance(type_, edm.EntityType) else ()
    for prop in edm.own_properties(type_).values():
        yield Element(
            kind="Property",
            name=prop.name,
            # Of a collection it is said that no member is null.
            type=_use(
                container,
                prop.definition or prop.type,
                prop.nullable
                and prop.name not in keys
                and not isinstance(prop.type, edm.CollectionType),
            ),
            attributes={
                "MaxLength": prop.max_length,
                "Precision": prop.precision,
                "Scale": prop.scale,
                "DefaultValue": _constant_default(prop),
            },
            annotations=list(notes.of_property(prop, is_key=prop.name in keys)),
        )


def _constant_default(prop: edm.Property) -> Any:
    """The default as metadata states it: of a primitive or enumeration property, and constant."""
    if prop.filled or callable(prop.default):
        return None
    if isinstance(prop.type, edm.CollectionType | edm.ComplexType):
        return None
    return prop.default


def _navigation(
    container: edm.EntityContainer, type_: edm.EntityType, nav: edm.NavigationProperty
) -> Element:
    constraint = referential_constraint(container, type_, nav)
    nullable = None if nav.collection else nav.nullable
    return Element(
        kind="NavigationProperty",
        name=nav.name,
        type=TypeUse(f"{container.namespace}.{nav.target}", nav.collection, nullable),
        attributes={
            "Partner": nav.partner,
            "ContainsTarget": nav.contained or None,
            "ReferentialConstraint": dict([constraint]) if constraint else None,
        },
        annotations=list(notes.of_navigation(container, nav)),
    )


def _operation(container: edm.EntityContainer, operation: edm.Operation) -> Element:
    children = []
    if operation.bound_to:
        bound = f"{container.namespace}.{operation.bound_to}"
        use = TypeUse(bound, operation.bound_to_collection, nullable=False)
        children.append(Element(kind="Parameter", name=BINDING_PARAMETER, type=use))
    for parameter in operation.parameters:
        children.append(
            Element(
                kind="Parameter",
                name=parameter.name,
                type=_use(container, parameter.type, may_be_null(parameter)),
                annotations=list(notes.of_parameter(parameter)),
            )
        )
    if operation.returns is not None:
        result = _use(container, operation.returns, nullable=False)
        if operation.returns_collection:
            result = result._replace(is_collection=True)
        children.append(Element(kind="ReturnType", type=result))
    return Element(
        kind="Action" if operation.is_action else "Function",
        name=operation.name,
        attributes={
            "IsBound": True if operation.bound_to else None,
            "IsComposable": operation.composable or None,
            "EntitySetPath": result_path(operation),
        },
        children=children,
        annotations=list(notes.description(operation.description)),
    )


def _of_container(container: edm.EntityContainer) -> Iterator[Element]:
    for entity_set in container.sets.values():
        yield Element(
            kind="EntitySet",
            name=entity_set.name,
            type=TypeUse(element_name(container, entity_set.type), is_collection=True),
            attributes=_with_bindings(container, entity_set.type),
            annotations=list(notes.of_set(container, entity_set)),
        )
    for singleton in container.singletons.values():
        yield Element(
            kind="Singleton",
            name=singleton.name,
            type=TypeUse(element_name(container, singleton.type)),
            attributes=_with_bindings(container, singleton.type),
        )
    for name, (operation, *others) in container.imports.items():
        kind = "Action" if operation.is_action else "Function"
        returned = operation.returns.name if isinstance(operation.returns, edm.EntityType) else ""
        home = container.set_of_type.get(returned)
        yield Element(
            kind=f"{kind}Import",
            name=name,
            attributes={
                kind: f"{container.namespace}.{operation.name}",
                "EntitySet": home.name if home else None,
                "IncludeInServiceDocument": is_listed((operation, *others)) or None,
            },
        )


def _use(
    container: edm.EntityContainer,
    type_: edm.EdmType | edm.EntityType | edm.TypeDefinition,
    nullable: bool,
) -> TypeUse:
    is_collection = isinstance(type_, edm.CollectionType)
    return TypeUse(element_name(container, type_), is_collection, nullable)


# --- how types and members are written


def element_name(
    container: edm.EntityContainer, type_: edm.EdmType | edm.EntityType | edm.TypeDefinition
) -> str:
    """The name of a type, of a collection the name of what it holds."""
    if isinstance(type_, edm.CollectionType):
        type_ = type_.element
    if isinstance(type_, edm.PrimitiveType):
        return type_.name
    return f"{container.namespace}.{type_.name}"


def referential_constraint(
    container: edm.EntityContainer, type_: edm.EntityType, nav: edm.NavigationProperty
) -> tuple[str, str] | None:
    """``("clientId", "id")``: the property that holds the key of the related entity."""
    if nav.collection or nav.foreign_key is None:
        return None
    dependent = type_.by_attribute.get(nav.foreign_key)
    target = container.target(nav)
    if dependent is None or len(target.key) != 1:
        return None
    return dependent.name, target.key[0]


def _with_bindings(container: edm.EntityContainer, type_: edm.EntityType) -> dict[str, Any]:
    return {"NavigationPropertyBinding": dict(_bindings(container, type_)) or None}


def _bindings(
    container: edm.EntityContainer, type_: edm.EntityType, prefix: str = "",
    seen: frozenset[str] = frozenset(),
) -> Iterator[tuple[str, str]]:  # fmt: skip
    """Path of a navigation property -> set that holds its entities.

    A path goes through contained types, each once: a cycle of them has no end.
    """
    for nav in type_.navigation.values():
        if not nav.contained:
            if nav.target in container.set_of_type:
                yield f"{prefix}{nav.name}", container.set_of_type[nav.target].name
        elif nav.target not in seen:
            path = f"{prefix}{nav.name}/"
            yield from _bindings(container, container.target(nav), path, seen | {nav.target})


def is_listed(overloads: Iterable[edm.Operation]) -> bool:
    """Whether an import is in the service document: a function that can be called by name alone."""
    return any(
        not overload.is_action and all(parameter.optional for parameter in overload.parameters)
        for overload in overloads
    )


def may_be_null(parameter: edm.Parameter) -> bool:
    """Whether null may be given; for a parameter that may be left out it means that.

    SAP CAP gives null to what may be left out, and refuses a model where that cannot be null.
    """
    return parameter.nullable or parameter.optional


def result_path(operation: edm.Operation) -> str | None:
    """Where the entities lie that a bound operation returns: ``binding/Payments``."""
    if not operation.bound_to or operation.result_path is None:
        return None
    return "/".join(part for part in (BINDING_PARAMETER, operation.result_path) if part)
