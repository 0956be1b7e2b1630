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
        address = _address(container, operation)
        if address is None or f"{prefix}/{address[0]}" in paths_made:
            continue
        path, tag, keys = address
        described = _described(container, operation, tag, limits)
        method = "post" if operation.is_action else "get"
        paths_made[f"{prefix}/{path}"] = {
            **({"parameters": keys} if keys else {}),
            method: described,
        }
    return paths_made


def _address(
    container: edm.EntityContainer, operation: edm.Operation
) -> tuple[str, str, list[dict[str, Any]]] | None:
    """Path, tag and key parameters of an operation; None where it has no address of its own."""
    if operation.bound_to is None:
        return (operation.import_name, "OData", []) if operation.import_name else None
    name = f"{container.namespace}.{operation.name}"
    type_ = container.types[operation.bound_to]
    home = container.set_of_type.get(type_.name)
    if home is not None:
        if operation.bound_to_collection:
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
    container: edm.EntityContainer, operation: edm.Operation, tag: str, limits: str
) -> Operation:
    permission = " and ".join(f"`{needed}`" for needed in operation.permissions)
    permission = permission or "any signed-in caller"
    described: Operation = {
        "tags": [tag],
        "operationId": f"{operation.name}{operation.bound_to or ''}",
        "summary": f"{operation.name}, of one of {tag}" if operation.bound_to else operation.name,
        "description": f"{operation.description}\n\nPermission: {permission}. {limits}".strip(),
    }
    if operation.is_action:
        described["requestBody"] = _body(container, operation)
    else:
        described["parameters"] = [
            _query_parameter(container, operation, each) for each in operation.parameters
        ]
    known = WRITE_ERRORS if operation.is_action else READ_ERRORS
    described["responses"] = {**_answers(container, operation), **errors(known, ODATA)}
    return described


def _body(container: edm.EntityContainer, operation: edm.Operation) -> dict[str, Any]:
    schema = parameters_schema(container, operation.parameters)
    return {
        "required": "required" in schema,
        "content": {
            "application/json": {"schema": schema, "example": examples.arguments(operation)}
        },
    }


def _query_parameter(
    container: edm.EntityContainer, operation: edm.Operation, parameter: edm.Parameter
) -> dict[str, Any]:
    assert not isinstance(parameter.type, edm.EntityType)
    schema = type_schema(container, parameter.type)
    if parameter.allowed is not None:
        schema["enum"] = list(parameter.allowed)
    if (
        parameter.nullable or parameter.optional
    ) and parameter.type != edm.STRING:  # a text may be "null"
        schema = {"anyOf": [schema, {"const": "null"}]}
    argument_examples = examples.arguments(operation)
    return {
        "name": parameter.name,
        "in": "query",
        "required": not parameter.optional,
        "description": parameter.description or parameter.name,
        "schema": schema,
        **(
            {"example": argument_examples[parameter.name]}
            if parameter.name in argument_examples
            else {}
        ),
    }


def _answers(container: edm.EntityContainer, operation: edm.Operation) -> dict[str, Any]:
    done = answers.shared("done")
    if operation.returns is None:
        return {"204": done}
    empty: dict[str, Any] = {"204": done} if operation.is_action else {}
    if isinstance(operation.returns, edm.EntityType):
        if operation.creates:
            return {"201": answers.reference(container, operation.returns, "created"), **empty}
        kind = "page" if operation.returns_collection else "entity"
        return {"200": answers.reference(container, operation.returns, kind), **empty}
    schema, example = _value(
        container, operation.returns, is_collection=operation.returns_collection
    )
    return {
        "200": {
            "description": "What it returns.",
            "headers": headers("OData-Version"),
            "content": {"application/json": {"schema": schema, "example": example}},
        },
        **empty,
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
