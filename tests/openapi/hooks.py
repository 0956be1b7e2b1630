"""What schemathesis is taught: it imports this module as its hooks."""

from __future__ import annotations

import re
from typing import Any

import schemathesis

from tests.openapi import messages  # noqa: F401 - how messages are written

_CREATED = "-create"
_RELATED = "-create-related"
_ALONG_A_RELATION = re.compile(r"^/odata/\w+\(.*\)/")


@schemathesis.hook("before_load_schema")
def bound_bodies(_: Any, document: dict[str, Any]) -> None:
    """Give what is created along with an entity no relations of its own.

    The schemas of new entities refer to each other: a client may be created with invoices, those
    with tasks, and so on. The phase that tries every keyword of a body in its place has no bound
    but the schema: it made 58,000 cases of ``POST /odata/Clients`` in half a minute and was not at
    the end. One step along every relation is left in the bodies of sets, 2,017 cases there, and
    none in bodies at an address along a relation; what is nested deeper has tests of its own.
    """
    schemas = document["components"]["schemas"]
    for name in [name for name in schemas if name.endswith(_CREATED)]:
        properties = schemas[name]["properties"]
        own = {key: value for key, value in properties.items() if _bounded(value) == value}
        schemas[name.removesuffix(_CREATED) + _RELATED] = {**schemas[name], "properties": own}
    for name, schema in schemas.items():
        schemas[name] = _bounded(schema)
    for path, item in document["paths"].items():
        for method in ("post", "put"):
            if _ALONG_A_RELATION.match(path) and "requestBody" in item.get(method, {}):
                item[method]["requestBody"] = _bounded(item[method]["requestBody"])


def _bounded(schema: Any) -> Any:
    """The same schema, with entities that have no relations where it refers to new ones."""
    if isinstance(schema, list):
        return [_bounded(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    bounded = {key: _bounded(part) for key, part in schema.items()}
    if str(schema.get("$ref", "")).endswith(_CREATED):
        bounded["$ref"] = schema["$ref"].removesuffix(_CREATED) + _RELATED
    return bounded
