"""Examples of REST bodies: those named here work when sent; the others follow from the schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.openapi.written_parts import examples

_DEPTH = 6
_FORMATS: Mapping[str, Any] = {
    "date": "2026-01-31",
    "date-time": "2026-01-31T09:30:00.000Z",
    "email": "ada@acme.example",
    "uri": "https://acme.example/hook",
    "url": "https://acme.example/hook",
    "uuid": "123e4567-e89b-12d3-a456-426614174000",
    "binary": "",
    "decimal": 100,
}
_TYPES: Mapping[str, Any] = {
    "boolean": False,
    "integer": 1,
    "number": 1,
    "string": "text",
    "null": None,
}


def for_operation(method: str, path: str) -> Any:
    """The example body of an operation; None where the table has none."""
    return examples()["rest"].get(f"{method.upper()} {path}")


def example_of(
    document: Mapping[str, Any], schema: Mapping[str, Any], depth: int = _DEPTH, *, sent: bool
) -> Any:
    """A value that fits a JSON Schema of the document; ``sent`` leaves out what is only read."""
    if "$ref" in schema:
        schema = _resolve(document, schema["$ref"])
    for name in ("example", "default", "const"):
        if name in schema:
            return schema[name]
    if schema.get("examples"):
        return schema["examples"][0]
    if schema.get("enum"):
        return schema["enum"][0]
    for name in ("anyOf", "oneOf", "allOf"):
        if schema.get(name):
            return example_of(document, schema[name][0], depth, sent=sent)
    kind = schema.get("type", "object" if "properties" in schema else "string")
    if isinstance(kind, list):
        kind = kind[0]
    if kind == "object":
        return _object(document, schema, depth, sent)
    if kind == "array":
        if depth <= 0:
            return []
        return [example_of(document, schema.get("items", {}), depth - 1, sent=sent)]
    if kind == "string" and schema.get("format") in _FORMATS:
        return _FORMATS[schema["format"]]
    if kind in ("integer", "number"):
        return max(1, schema.get("minimum", 1))
    return _TYPES.get(kind)


def _object(
    document: Mapping[str, Any], schema: Mapping[str, Any], depth: int, sent: bool
) -> dict[str, Any]:
    if depth <= 0:
        return {}
    return {
        name: example_of(document, member, depth - 1, sent=sent)
        for name, member in schema.get("properties", {}).items()
        if not (sent and member.get("readOnly"))
    }


def _resolve(document: Mapping[str, Any], reference: str) -> Mapping[str, Any]:
    part: Any = document
    for step in reference.removeprefix("#/").split("/"):
        part = part[step]
    return part  # type: ignore[no-any-return]
