"""``$metadata`` as CSDL JSON (OData CSDL JSON Representation 4.01)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from app.db.types import json_text
from app.odata.csdl import annotations as notes
from app.odata.csdl.names import (
    BINDING_PARAMETER,
    bindings,
    element_name,
    imports,
    is_listed,
    may_be_null,
    own_navigation,
    own_properties,
    referential_constraint,
    result_path,
    set_of_result,
)
from app.odata.csdl.terms import (
    VOCABULARIES,
    Annotation,
    EnumMembers,
    Expression,
    NavigationPropertyPath,
    Path,
    PropertyPath,
)
from app.odata.model import edm


def csdl_json(container: edm.EntityContainer, version: str) -> str:
    """The whole model; ``version`` is 4.0 or 4.01."""
    document = {
        "$Version": version,
        "$Reference": {
            f"{uri}.json": {"$Include": [{"$Namespace": namespace, "$Alias": alias}]}
            for namespace, (alias, uri) in VOCABULARIES.items()
        },
        "$EntityContainer": f"{container.namespace}.{container.name}",
        container.namespace: _Writer(container).schema(),
    }
    return json_text(document)


class _Writer:
    """Writes the elements of one model."""

    def __init__(self, container: edm.EntityContainer) -> None:
        self._container = container

    def schema(self) -> dict[str, Any]:
        container = self._container
        schema: dict[str, Any] = {}
        for enum in container.enum_types.values():
            schema[enum.name] = self._enum(enum)
        for definition in container.type_definitions.values():
            schema[definition.name] = {
                "$Kind": "TypeDefinition",
                "$UnderlyingType": definition.underlying.name,
            } | _annotations(notes.of_type(definition))
        for complex_type in container.complex_types.values():
            schema[complex_type.name] = self._complex(complex_type)
        for type_ in container.types.values():
            schema[type_.name] = self._entity_type(type_)
        for operation in container.operations:
            schema.setdefault(operation.name, []).append(self._operation(operation))
        schema[container.name] = self._entity_container()
        return schema | _annotations(notes.of_schema(container))

    def _enum(self, enum: edm.EnumType) -> dict[str, Any]:
        element: dict[str, Any] = {"$Kind": "EnumType"}
        if enum.is_flags:
            element["$IsFlags"] = True
        if enum.underlying != "Edm.Int32":
            element["$UnderlyingType"] = enum.underlying
        return element | dict(enum.members) | _annotations(notes.of_type(enum))

    def _complex(self, type_: edm.ComplexType) -> dict[str, Any]:
        element: dict[str, Any] = {"$Kind": "ComplexType"}
        if type_.base:
            element["$BaseType"] = self._name(type_.base)
        if type_.is_open:
            element["$OpenType"] = True
        return element | self._properties(type_) | _annotations(notes.of_type(type_))

    def _entity_type(self, type_: edm.EntityType) -> dict[str, Any]:
        element: dict[str, Any] = {"$Kind": "EntityType"}
        if type_.base:
            element["$BaseType"] = self._name(type_.base)
        else:
            element["$Key"] = list(type_.key)
        for flag, value in (
            ("$Abstract", type_.is_abstract),
            ("$OpenType", type_.is_open),
            ("$HasStream", type_.has_stream),
        ):
            if value:
                element[flag] = True
        element |= self._properties(type_)
        for nav in own_navigation(type_).values():
            element[nav.name] = self._navigation(type_, nav)
        return element | _annotations(notes.of_type(type_))

    def _properties(self, type_: edm.EntityType | edm.ComplexType) -> dict[str, Any]:
        keys = type_.key if isinstance(type_, edm.EntityType) else ()
        return {
            prop.name: self._type(
                prop.definition or prop.type, prop.nullable and prop.name not in keys
            )
            | _facets(prop)
            | _annotations(notes.of_property(prop, is_key=prop.name in keys))
            for prop in own_properties(type_).values()
        }

    def _navigation(self, type_: edm.EntityType, nav: edm.NavigationProperty) -> dict[str, Any]:
        element: dict[str, Any] = {"$Kind": "NavigationProperty"}
        if nav.collection:
            element["$Collection"] = True
        element["$Type"] = f"{self._container.namespace}.{nav.target}"
        if nav.nullable and not nav.collection:
            element["$Nullable"] = True
        if nav.partner:
            element["$Partner"] = nav.partner
        if nav.contained:
            element["$ContainsTarget"] = True
        if constraint := referential_constraint(self._container, type_, nav):
            dependent, principal = constraint
            element["$ReferentialConstraint"] = {dependent: principal}
        return element | _annotations(notes.of_navigation(self._container, nav))

    def _operation(self, operation: edm.Operation) -> dict[str, Any]:
        element: dict[str, Any] = {"$Kind": "Action" if operation.is_action else "Function"}
        parameters = []
        if operation.bound_to:
            element["$IsBound"] = True
            bound = {"$Name": BINDING_PARAMETER}
            if operation.bound_to_collection:
                bound["$Collection"] = True  # type: ignore[assignment]
            bound["$Type"] = f"{self._container.namespace}.{operation.bound_to}"
            parameters.append(bound)
        if operation.composable:
            element["$IsComposable"] = True
        if path := result_path(operation):
            element["$EntitySetPath"] = path
        for parameter in operation.parameters:
            parameters.append(
                {"$Name": parameter.name}
                | self._type(parameter.type, may_be_null(parameter))
                | _annotations(notes.of_parameter(parameter))
            )
        if parameters:
            element["$Parameter"] = parameters
        if operation.returns is not None:
            result = self._type(operation.returns, nullable=False)
            if operation.returns_collection:
                result = {"$Collection": True, **result}
            element["$ReturnType"] = result
        return element | _annotations(notes.of_operation(operation))

    def _entity_container(self) -> dict[str, Any]:
        container = self._container
        element: dict[str, Any] = {"$Kind": "EntityContainer"}
        for entity_set in container.sets.values():
            element[entity_set.name] = (
                {"$Collection": True, "$Type": self._name(entity_set.type)}
                | self._bindings(entity_set.type)
                | _annotations(notes.of_set(container, entity_set))
            )
        for singleton in container.singletons.values():
            element[singleton.name] = {"$Type": self._name(singleton.type)} | self._bindings(
                singleton.type
            )
        for operation in imports(container):
            kind = "$Action" if operation.is_action else "$Function"
            child = {kind: f"{container.namespace}.{operation.name}"}
            if target := set_of_result(container, operation):
                child["$EntitySet"] = target
            if is_listed(container, operation):
                child["$IncludeInServiceDocument"] = True  # type: ignore[assignment]
            element[str(operation.import_name)] = child
        return element | _annotations(notes.of_container(container))

    def _bindings(self, type_: edm.EntityType) -> dict[str, Any]:
        by_path = bindings(self._container, type_)
        return {"$NavigationPropertyBinding": by_path} if by_path else {}

    def _type(
        self, type_: edm.EdmType | edm.EntityType | edm.TypeDefinition, nullable: bool
    ) -> dict[str, Any]:
        """Type, collection and nullability, what is the default left out."""
        element: dict[str, Any] = {}
        if isinstance(type_, edm.CollectionType):
            element["$Collection"] = True
        name = element_name(self._container, type_)
        if name != "Edm.String":
            element["$Type"] = name
        if nullable and not isinstance(type_, edm.CollectionType):
            element["$Nullable"] = True
        return element

    def _name(self, type_: edm.EntityType | edm.ComplexType) -> str:
        return element_name(self._container, type_)


def _facets(prop: edm.Property) -> dict[str, Any]:
    facets = {
        "$MaxLength": prop.max_length,
        "$Precision": prop.precision,
        "$Scale": prop.scale,
        "$DefaultValue": default_value(prop),
    }
    return {name: value for name, value in facets.items() if value is not None}


def default_value(prop: edm.Property) -> Any:
    """The default as metadata states it: of a primitive or enumeration property, and constant."""
    if prop.filled or callable(prop.default):
        return None
    if isinstance(prop.type, edm.CollectionType | edm.ComplexType):
        return None
    return prop.default


def _annotations(items: Iterable[Annotation]) -> dict[str, Any]:
    members = {}
    for item in items:
        members[f"@{item.qualified}"] = _value(item.value)
        for term, value in item.notes.items():
            members[f"@{item.qualified}@{term}"] = _value(value)
    return members


def _value(value: Expression) -> Any:
    if isinstance(value, Path):
        return {"$Path": value.path}
    if isinstance(value, PropertyPath | NavigationPropertyPath):
        return value.path
    if isinstance(value, EnumMembers):
        return ",".join(value.members)
    if isinstance(value, Mapping):
        return {name: _value(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_value(item) for item in value]
    return value
