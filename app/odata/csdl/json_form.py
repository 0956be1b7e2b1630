"""``$metadata`` as CSDL JSON (OData CSDL JSON Representation 4.01)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from app.db.types import json_text
from app.odata.csdl import annotations as notes
from app.odata.csdl.elements import Element, TypeUse, schema_elements
from app.odata.model import edm

# Elements that say by ``$Kind`` what they are; what the others are follows from their place.
_WITH_KIND = frozenset((
    "EnumType", "TypeDefinition", "ComplexType", "EntityType", "NavigationProperty", "Action",
    "Function", "EntityContainer",
))  # fmt: skip


def csdl_json(container: edm.EntityContainer, version: str) -> str:
    """The whole model; ``version`` is 4.0 or 4.01."""
    schema: dict[str, Any] = {}
    _add(schema, schema_elements(container))
    document = {
        "$Version": version,
        "$Reference": {
            f"{uri}.json": {"$Include": [{"$Namespace": namespace, "$Alias": alias}]}
            for namespace, (alias, uri) in notes.VOCABULARIES.items()
        },
        "$EntityContainer": f"{container.namespace}.{container.name}",
        container.namespace: schema | _annotations(notes.of_schema(container)),
    }
    return json_text(document)


def _add(parent: dict[str, Any], children: Iterable[Element]) -> None:
    """Put elements into the one that they are part of; operations of one name are a list."""
    for child in children:
        match child.kind:
            case "Member":
                parent[str(child.name)] = child.attributes["Value"]
            case "Parameter":
                parameter = {"$Name": child.name, **_members(child)}
                parent.setdefault("$Parameter", []).append(parameter)
            case "ReturnType":
                parent["$ReturnType"] = _members(child)
            case "Action" | "Function":
                parent.setdefault(str(child.name), []).append(_members(child))
            case _:
                parent[str(child.name)] = _members(child)


def _members(element: Element) -> dict[str, Any]:
    members: dict[str, Any] = {"$Kind": element.kind} if element.kind in _WITH_KIND else {}
    if element.type is not None:
        members |= _type(element.type)
    for name, value in element.attributes.items():
        if value is not None:
            members[f"${name}"] = value
    _add(members, element.children)
    return members | _annotations(element.annotations)


def _type(use: TypeUse) -> dict[str, Any]:
    """Type, collection and nullability, what is the default left out."""
    members: dict[str, Any] = {}
    if use.is_collection:
        members["$Collection"] = True
    if use.name != "Edm.String":
        members["$Type"] = use.name
    if use.nullable and not use.is_collection:
        members["$Nullable"] = True
    return members


def _annotations(items: Iterable[notes.Annotation]) -> dict[str, Any]:
    members = {}
    for item in items:
        members[f"@{item.qualified}"] = _value(item.value)
        for term, value in item.notes.items():
            members[f"@{item.qualified}@{term}"] = _value(value)
    return members


def _value(value: notes.Expression) -> Any:
    if isinstance(value, notes.Path):
        return value.path if isinstance(value, notes.PropertyPath) else {"$Path": value.path}
    if isinstance(value, notes.EnumMembers):
        return ",".join(value.members)
    if isinstance(value, Mapping):
        return {name: _value(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_value(item) for item in value]
    return value
