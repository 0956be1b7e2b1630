"""JSON Schemas (2020-12, as OpenAPI 3.1 has them) of the types of an entity data model.

Every entity type has three: as it is read, as it is created, as it is changed. The names are
those of the OASIS mapping of OData to OpenAPI: ``Ns.Client``, ``Ns.Client-create``,
``Ns.Client-update``; ``Ns.Client-delta`` is what changes many of a set.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import MAXYEAR
from decimal import Decimal
from typing import Any

from app.odata.model import edm
from app.odata.payload.reader import MOST_RELATED
from app.writing.fields import EARLIEST_YEAR

Schema = dict[str, Any]

_TEXT: Mapping[str, Schema] = {
    "Edm.String": {"type": "string"},
    "Edm.Boolean": {"type": "boolean"},
    "Edm.Double": {"type": "number", "format": "double"},
    "Edm.Single": {"type": "number", "format": "float"},
    "Edm.Date": {"type": "string", "format": "date"},
    "Edm.DateTimeOffset": {"type": "string", "format": "date-time"},
    "Edm.TimeOfDay": {"type": "string", "pattern": r"^\d{2}:\d{2}(:\d{2}(\.\d{1,12})?)?$"},
    "Edm.Duration": {"type": "string", "format": "duration"},
    "Edm.Guid": {"type": "string", "format": "uuid"},
    "Edm.Binary": {"type": "string", "format": "base64url"},
    "Edm.Stream": {"type": "string", "format": "binary"},
}
# What is taken of them; what is kept since before may lie outside.
_YEARS = {
    "Edm.Date": f"Of the years {EARLIEST_YEAR} to {MAXYEAR}.",
    "Edm.DateTimeOffset": f"Of the years {EARLIEST_YEAR} to {MAXYEAR - 1}.",
}
_INTEGERS: Mapping[str, tuple[int, int]] = {
    "Edm.Byte": (0, 255),
    "Edm.SByte": (-128, 127),
    "Edm.Int16": (-(2**15), 2**15 - 1),
    "Edm.Int32": (-(2**31), 2**31 - 1),
    "Edm.Int64": (-(2**63), 2**63 - 1),
}


def ref(name: str) -> Schema:
    """A reference to a schema of the document."""
    return {"$ref": f"#/components/schemas/{name}"}


def schemas(container: edm.EntityContainer) -> dict[str, Schema]:
    """The schemas of all types, by name."""
    by_name: dict[str, Schema] = {}
    for enum in container.enum_types.values():
        by_name[f"{container.namespace}.{enum.name}"] = _enum(enum)
    for complex_type in container.complex_types.values():
        by_name[f"{container.namespace}.{complex_type.name}"] = complex_schema(
            container, complex_type
        )
    for type_ in container.types.values():
        name = entity_schema_name(container, type_)
        by_name[name] = _read(container, type_)
        by_name[f"{name}-create"] = written_schema(container, type_, creating=True)
        by_name[f"{name}-update"] = written_schema(container, type_, creating=False)
    for entity_set in container.sets.values():
        type_ = entity_set.type
        by_name[f"{entity_schema_name(container, type_)}-delta"] = _delta(container, type_)
    return by_name


def entity_schema_name(container: edm.EntityContainer, type_: edm.EntityType) -> str:
    """``Ns.Client``."""
    return f"{container.namespace}.{type_.name}"


def property_schema(container: edm.EntityContainer, prop: edm.Property) -> Schema:
    """The schema of a property, null included where it may be null."""
    schema = type_schema(container, prop.type)
    if prop.max_length is not None:
        text = schema["items"] if isinstance(prop.type, edm.CollectionType) else schema
        text["maxLength"] = prop.max_length
    if prop.type == edm.DECIMAL and prop.precision is not None:
        limit = float(Decimal(10) ** (prop.precision - (prop.scale or 0)))
        schema |= {"exclusiveMinimum": -limit, "exclusiveMaximum": limit}
    if prop.allowed:
        schema["enum"] = list(prop.allowed)
    if prop.minimum is not None:
        schema.pop("exclusiveMinimum", None)
        schema["minimum"] = prop.minimum
    if prop.maximum is not None:
        schema.pop("exclusiveMaximum", None)
        schema["maximum"] = prop.maximum
    if prop.nullable and not isinstance(prop.type, edm.CollectionType):
        schema = _or_null(schema)
    if prop.description:
        schema["description"] = prop.description
    return schema


def type_schema(container: edm.EntityContainer, type_: edm.EdmType) -> Schema:
    """In place where it is short, by reference where the type has a name."""
    if isinstance(type_, edm.CollectionType):
        return {"type": "array", "items": type_schema(container, type_.element)}
    if isinstance(type_, edm.EnumType | edm.ComplexType):
        return ref(f"{container.namespace}.{type_.name}")
    return primitive_schema(type_)


def primitive_schema(type_: edm.PrimitiveType) -> Schema:
    """With the bounds of its numbers or the form of its text."""
    if type_ == edm.DECIMAL:
        return {"type": "number", "format": "decimal"}
    if type_.name in _INTEGERS:
        low, high = _INTEGERS[type_.name]
        bits = {"format": type_.name[4:].lower()} if type_ in (edm.INT32, edm.INT64) else {}
        return {"type": "integer", **bits, "minimum": low, "maximum": high}
    return dict(_TEXT.get(type_.name, {}))


def _or_null(schema: Schema) -> Schema:
    if "$ref" in schema:
        return {"anyOf": [schema, {"type": "null"}]}
    if "type" in schema:
        schema["type"] = [schema["type"], "null"]
    if "enum" in schema:
        schema["enum"] = [*schema["enum"], None]
    return schema


def _enum(enum: edm.EnumType) -> Schema:
    schema: Schema = {"type": "string"}
    if not enum.is_flags:
        schema["enum"] = list(enum.members)
    if enum.description:
        schema["description"] = enum.description
    return schema


def complex_schema(container: edm.EntityContainer, type_: edm.ComplexType) -> Schema:
    """An object; open to others where the type is."""
    schema: Schema = {
        "type": "object",
        "properties": {
            name: property_schema(container, prop) for name, prop in type_.properties.items()
        },
        "additionalProperties": type_.is_open,
    }
    if type_.description:
        schema["description"] = type_.description
    return schema


def _read(container: edm.EntityContainer, type_: edm.EntityType) -> Schema:
    """As it is read: every property may be absent, because $select leaves some out."""
    properties: dict[str, Schema] = {
        "@odata.context": {"type": "string", "description": "What the answer holds."},
        "@odata.etag": {"type": "string", "description": "The version, for If-Match."},
    }
    for prop in type_.properties.values():
        schema = property_schema(container, prop)
        if not is_writable(type_, prop):
            schema["readOnly"] = True
        properties[prop.name] = schema
    for nav in type_.navigation.values():
        properties[nav.name] = _navigation(nav, ref(f"{container.namespace}.{nav.target}"))
    return _object(type_, properties)


def written_schema(
    container: edm.EntityContainer, type_: edm.EntityType, *, creating: bool
) -> Schema:
    """As it is created or changed: what the client may set, and nothing that is unknown."""
    properties: dict[str, Schema] = {}
    required = []
    for prop in type_.properties.values():
        if not is_writable(type_, prop, creating=creating):
            continue
        schema = property_schema(container, prop)
        if years := _YEARS.get(getattr(prop.type, "name", "")):
            schema["description"] = f"{prop.description or prop.name} {years}".strip()
        if prop.required and creating:
            required.append(prop.name)
            if schema.get("type") == "string" and "enum" not in schema:
                schema["minLength"] = 1
        if creating and _constant_default(prop) is not None:
            schema["default"] = _constant_default(prop)
        properties[prop.name] = schema
    for nav in type_.navigation.values():
        if nav.owned or (creating and _is_insertable(container, nav)):
            target = ref(f"{container.namespace}.{nav.target}-create")
            properties[nav.name] = _navigation(nav, target)
    schema = _object(type_, properties)
    # Control information such as Client@odata.bind.
    schema |= {"patternProperties": {"@": {}}, "additionalProperties": False}
    return schema | ({"required": required} if required else {})


def _delta(container: edm.EntityContainer, type_: edm.EntityType) -> Schema:
    """The items that make, change and remove entities of a set."""
    item = written_schema(container, type_, creating=True)
    item.pop("required", None)
    keys = {name: property_schema(container, type_.properties[name]) for name in type_.key}
    if all(type_.properties[name].computed for name in type_.key):
        keys = {name: _or_null(schema) for name, schema in keys.items()}  # of a new one
    item["properties"] = keys | {
        name: {key: value for key, value in schema.items() if key != "default"}
        for name, schema in item["properties"].items()
    }
    items = {"type": "array", "maxItems": MOST_RELATED, "items": item}
    return {"type": "object", "properties": {"value": items}, "required": ["value"]}


def parameters_schema(
    container: edm.EntityContainer, parameters: Sequence[edm.Parameter]
) -> Schema:
    """The object that holds the parameters of an action."""
    required = [each.name for each in parameters if not (each.nullable or each.optional)]
    return {
        "type": "object",
        "properties": {each.name: _parameter(container, each) for each in parameters},
        "additionalProperties": False,
        **({"required": required} if required else {}),
    }


def _parameter(container: edm.EntityContainer, parameter: edm.Parameter) -> Schema:
    assert not isinstance(parameter.type, edm.EntityType)  # no operation takes entities
    schema = type_schema(container, parameter.type)
    if parameter.allowed is not None:
        schema["enum"] = list(parameter.allowed)
    if parameter.nullable:
        schema = {"anyOf": [schema, {"type": "null"}]}
    description = {"description": parameter.description} if parameter.description else {}
    return {**schema, **description}


def is_writable(type_: edm.EntityType, prop: edm.Property, *, creating: bool = True) -> bool:
    """Whether a client may set a property, on creation or later."""
    if prop.computed or prop.expression is not None or prop.type == edm.STREAM:
        return False
    return creating or not (prop.immutable or prop.name in type_.key)


def _is_insertable(container: edm.EntityContainer, nav: edm.NavigationProperty) -> bool:
    """Whether related entities may be given inside a new one."""
    target = container.set_of(nav)
    return (
        target is not None
        and target.service is not None
        and target.insertable
        and nav.foreign_key is not None
    )


def _constant_default(prop: edm.Property) -> Any:
    if callable(prop.default) or isinstance(prop.type, edm.ComplexType):
        return None
    return float(prop.default) if isinstance(prop.default, Decimal) else prop.default


def _navigation(nav: edm.NavigationProperty, target: Schema) -> Schema:
    single = {"anyOf": [target, {"type": "null"}]} if nav.nullable else target
    schema: Schema = {"type": "array", "items": target} if nav.collection else single
    return schema | ({"description": nav.description} if nav.description else {})


def _object(type_: edm.EntityType, properties: Mapping[str, Schema]) -> Schema:
    schema: Schema = {"type": "object", "properties": dict(properties)}
    return schema | ({"description": type_.description} if type_.description else {})


def collection_schema(item: Schema) -> Schema:
    return {
        "type": "object",
        "required": ["value"],
        "properties": {
            "@odata.context": {"type": "string", "description": "What the answer holds."},
            "@odata.count": {
                "type": "integer",
                "minimum": 0,
                "description": "Number of all that match, with $count=true.",
            },
            "@odata.nextLink": {"type": "string", "description": "The next page, if there is one."},
            "value": {"type": "array", "items": item},
        },
    }
