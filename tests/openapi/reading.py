"""Walking through an OpenAPI document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import jsonschema_rs
import orjson

METHODS = ("get", "post", "put", "patch", "delete")


class Operation(NamedTuple):
    """An operation and where it is."""

    path: str
    method: str
    value: dict[str, Any]
    parameters: list[dict[str, Any]]

    def __str__(self) -> str:
        return f"{self.method.upper()} {self.path}"


def operations(document: dict[str, Any]) -> Iterator[Operation]:
    """Every operation, its parameters resolved and those of its path among them."""
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                given = [*item.get("parameters", []), *item[method].get("parameters", [])]
                parameters = [resolve(document, parameter) for parameter in given]
                yield Operation(path, method, item[method], parameters)


def resolve(document: dict[str, Any], value: dict[str, Any]) -> dict[str, Any]:
    """What a reference stands for; anything else as it is."""
    while "$ref" in value:
        found: Any = document
        for step in value["$ref"].removeprefix("#/").split("/"):
            found = found[step]
        value = found
    return value


def references(value: Any) -> Iterator[str]:
    """Every reference anywhere in a value."""
    if isinstance(value, dict):
        for name, item in value.items():
            if name == "$ref" and isinstance(item, str):
                yield item
            else:
                yield from references(item)
    elif isinstance(value, list):
        for item in value:
            yield from references(item)


class Validator:
    """Checks values against the schemas of a document; each schema is compiled once."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._components = document["components"]
        self._compiled: dict[bytes, Any] = {}

    def problems(self, schema: dict[str, Any], value: Any) -> list[str]:
        """Why a value does not fit a schema."""
        text = orjson.dumps(schema)
        if text not in self._compiled:
            whole = {**schema, "components": self._components}
            self._compiled[text] = jsonschema_rs.validator_for(whole, validate_formats=True)
        return [
            f"{'/'.join(map(str, error.instance_path))}: {error.message}"
            for error in self._compiled[text].iter_errors(value)
        ]
