"""Actions and functions of an entity data model as OpenAPI paths."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.odata.model import edm
from app.openapi import odata_answers as answers, odata_examples as examples
from app.openapi.answers import ODATA, errors, headers
from app.openapi.odata_paths import READ_ERRORS, WRITE_ERRORS, key_parameters, key_template
from app.openapi.odata_schemas import complex_schema, parameters_schema, type_schema

Operation = dict[str, Any]


def paths(container: edm.EntityContainer, prefix: str, limits: str) -> dict[str, Any]:
    """The address of each operation; of several with one name the first.

    Args:
        prefix: where the service lies, ``/odata``.
        limits: the sentence on rate limits at the end of every description.
    """
    paths_made: dict[str, Any] = {}
    for operation in container.operations:
        place = _place(container, operation)
        if place is None or f"{prefix}/{place[0]}" in paths_made:
            continue
        path, tag, keys = place
        described = _described(container, operation, tag, limits)
        method = "post" if operation.is_action else "get"
        paths_made[f"{prefix}/{path}"] = {
            **({"parameters": keys} if keys else {}),
            method: described,
        }
    return paths_made


def _place(
    container: edm.EntityContainer, one: edm.Operation
) -> tuple[str, str, list[dict[str, Any]]] | None:
    """Path, tag and key parameters of an operation; None where it has no address of its own."""
    if one.bound_to is None:
        return (one.import_name, "OData", []) if one.import_name else None
    name = f"{container.namespace}.{one.name}"
    type_ = container.types[one.bound_to]
    home = container.set_of_type.get(type_.name)
    if home is not None:
        if one.bound_to_collection:
            return f"{home.name}/{name}", home.name, []
        return f"{home.name}({key_template(type_)})/{name}", home.name, key_parameters(type_)
    for owner in container.sets.values():
        for nav in owner.type.navigation.values():
            if nav.target == type_.name and nav.collection:
                keys = [*key_parameters(owner.type), *key_parameters(type_, type_.name)]
                inner = f"{nav.name}({key_template(type_, type_.name)})"
                path = f"{owner.name}({key_template(owner.type)})/{inner}/{name}"
                return path, owner.name, keys
    return None


def _described(
    container: edm.EntityContainer, one: edm.Operation, tag: str, limits: str
) -> Operation:
    permission = " and ".join(f"`{needed}`" for needed in one.permissions)
    permission = permission or "any signed-in caller"
    operation: Operation = {
        "tags": [tag],
        "operationId": f"{one.name}{one.bound_to or ''}",
        "summary": f"{one.name}, of one of {tag}" if one.bound_to else one.name,
        "description": f"{one.description}\n\nPermission: {permission}. {limits}".strip(),
    }
    if one.is_action:
        operation["requestBody"] = _body(container, one)
    else:
        operation["parameters"] = [
            _query_parameter(container, one, each) for each in one.parameters
        ]
    known = WRITE_ERRORS if one.is_action else READ_ERRORS
    operation["responses"] = {**_answers(container, one), **errors(known, ODATA)}
    return operation


def _body(container: edm.EntityContainer, one: edm.Operation) -> dict[str, Any]:
    schema = parameters_schema(container, one.parameters)
    return {
        "required": "required" in schema,
        "content": {"application/json": {"schema": schema, "example": examples.arguments(one)}},
    }


def _query_parameter(
    container: edm.EntityContainer, operation: edm.Operation, one: edm.Parameter
) -> dict[str, Any]:
    assert not isinstance(one.type, edm.EntityType)
    schema = type_schema(container, one.type)
    if one.allowed is not None:
        schema["enum"] = list(one.allowed)
    if (one.nullable or one.optional) and one.type != edm.STRING:  # a text may be "null"
        schema = {"anyOf": [schema, {"const": "null"}]}
    given = examples.arguments(operation)
    return {
        "name": one.name,
        "in": "query",
        "required": not one.optional,
        "description": one.description or one.name,
        "schema": schema,
        **({"example": given[one.name]} if one.name in given else {}),
    }


def _answers(container: edm.EntityContainer, one: edm.Operation) -> dict[str, Any]:
    done = answers.shared("done")
    if one.returns is None:
        return {"204": done}
    found: dict[str, Any] = {"204": done} if one.is_action else {}
    if isinstance(one.returns, edm.EntityType):
        if one.creates:
            return {"201": answers.reference(container, one.returns, "created"), **found}
        kind = "page" if one.returns_collection else "entity"
        return {"200": answers.reference(container, one.returns, kind), **found}
    schema, example = _value(container, one.returns, is_collection=one.returns_collection)
    return {
        "200": {
            "description": "What it returns.",
            "headers": headers("OData-Version"),
            "content": {"application/json": {"schema": schema, "example": example}},
        },
        **found,
    }


def _value(
    container: edm.EntityContainer, type_: edm.EdmType, *, is_collection: bool
) -> tuple[dict[str, Any], Mapping[str, Any]]:
    """The schema of a value that is returned, and an example."""
    context = {"@odata.context": {"type": "string", "description": "What the answer holds."}}
    if isinstance(type_, edm.ComplexType) and not is_collection:
        schema = complex_schema(container, type_)
        schema["properties"] = {**context, **schema["properties"]}
        text = f"/odata/$metadata#{container.namespace}.{type_.name}"
        return schema, {"@odata.context": text, **examples.complex_value(type_)}
    schema = type_schema(container, type_)
    if is_collection:
        schema = {"type": "array", "items": schema}
    return (
        {"type": "object", "required": ["value"], "properties": {**context, "value": schema}},
        {"value": [] if is_collection else examples.type_value(type_)},
    )
