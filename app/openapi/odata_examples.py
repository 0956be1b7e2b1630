"""Examples of entities: real ones, which work when they are sent.

A body to create an entity has what is required and what ``examples.json`` names; an answer has
every property, as the service would show it.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from app.odata.model import edm
from app.openapi.answers import examples
from app.openapi.odata_schemas import is_writable

INSTANT = "2026-01-31T09:30:00.000Z"
_OF_TYPE: Mapping[str, Any] = {
    "Edm.Boolean": False,
    "Edm.Date": "2026-01-31",
    "Edm.DateTimeOffset": INSTANT,
    "Edm.TimeOfDay": "09:30:00",
    "Edm.Duration": "PT1H30M",
    "Edm.Guid": "123e4567-e89b-12d3-a456-426614174000",
    "Edm.Binary": "AQID",
    "Edm.String": "Example",
}


def related_creation(
    container: edm.EntityContainer, type_: edm.EntityType, nav: edm.NavigationProperty
) -> dict[str, Any]:
    """The body of a request that creates an entity along a navigation property."""
    known = examples()["odata"].get(f"{type_.name}/{nav.name}")
    return dict(known) if known is not None else creation(container, container.target(nav))


def creation(container: edm.EntityContainer, type_: edm.EntityType) -> dict[str, Any]:
    """The body of a request that creates an entity."""
    known = examples()["odata"].get(type_.name)
    if known is not None:
        return dict(known)
    return {
        prop.name: example_value(prop)
        for prop in type_.properties.values()
        if prop.required and is_writable(type_, prop)
    }


def change(container: edm.EntityContainer, type_: edm.EntityType) -> dict[str, Any]:
    """The body of a request that changes an entity: its first text."""
    created = creation(container, type_)
    for name, value in created.items():
        prop = type_.properties.get(name)
        if (
            prop
            and prop.type == edm.STRING
            and not prop.allowed
            and is_writable(type_, prop, creating=False)
        ):
            return {name: value}
    return {}


def arguments(operation: edm.Operation) -> dict[str, Any]:
    """The parameters of a call: those that have an example, and those that are required."""
    return {
        parameter.name: parameter.example
        if parameter.example is not None
        else type_value(parameter.type)
        for parameter in operation.parameters
        if parameter.example is not None or not (parameter.nullable or parameter.optional)
        if not isinstance(parameter.type, edm.EntityType)
    }


def complex_value(type_: edm.ComplexType) -> dict[str, Any]:
    """A complex value with all its properties, as an operation returns it."""
    return {
        name: complex_value(prop.type)
        if isinstance(prop.type, edm.ComplexType)
        else example_value(prop)
        for name, prop in type_.properties.items()
    }


def answer(container: edm.EntityContainer, type_: edm.EntityType) -> dict[str, Any]:
    """The entity of ``creation`` as an answer shows it."""
    values = creation(container, type_)
    body: dict[str, Any] = {}
    if type_.etag:
        body["@odata.etag"] = 'W/"1"'
    for prop in type_.properties.values():
        if not prop.on_request and prop.type != edm.STREAM:
            body[prop.name] = values.get(prop.name, _unset_value(type_, prop))
    return body


def _unset_value(type_: edm.EntityType, prop: edm.Property) -> Any:
    """What a property has that no body gave."""
    if prop.name in type_.key:
        return example_value(prop)
    if prop.default is not None and not callable(prop.default):
        return float(prop.default) if isinstance(prop.default, Decimal) else prop.default
    return None if prop.nullable else example_value(prop)


def example_value(prop: edm.Property) -> Any:
    """A value that the property may have."""
    if prop.allowed:
        return prop.allowed[0]
    if prop.type == edm.STRING:
        return examples()["texts"].get(prop.name, _OF_TYPE["Edm.String"])[: prop.max_length]
    return type_value(prop.type, prop.minimum)


def type_value(type_: edm.EdmType, minimum: int | None = None) -> Any:
    """Any value that fits, the same every time; ``minimum`` is for numbers."""
    if isinstance(type_, edm.CollectionType):
        return []
    if isinstance(type_, edm.EnumType):
        return next(iter(type_.members))
    if isinstance(type_, edm.ComplexType):
        return {}
    return _OF_TYPE.get(type_.name, max(1, minimum or 0))
