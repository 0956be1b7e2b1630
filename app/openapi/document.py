"""The OpenAPI 3.1 document of the whole API: the REST areas and the OData sets."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

from flask import Flask

from app.extensions import configuration
from app.odata.model import edm
from app.openapi import answers, odata_paths, odata_schemas, rest_operations
from app.openapi.answers import frame
from app.openapi.rest_operations import rate_limits

OPENAPI = "3.1.0"
ODATA_PREFIX = "/odata"
TITLE = "Business Platform API"
RELEASE = "1.2.0"
DESCRIPTION = """\
CRM, invoicing, knowledge base, documents, assistant, BI and webhooks. The [guide](/docs/guide) has
a first walk, the clients, errors, events and settings.

* **OData** (`/odata/...`): reading and writing the business entities, with `$filter`, `$orderby`,
  `$top`, `$skip`, `$expand`, `$select`, `$count`.
* **REST** (`/api/v1/...`): business operations. A POST takes an `Idempotency-Key`. One to
  `/odata` does not: there `PATCH Clients(externalId='A-77')` makes or changes a record, however
  often it is sent.

To try it here, press **Authorize**: a bearer token (the `accessToken` that
`POST /api/v1/auth/login` answers), or an API key. On `/odata`, HTTP Basic with an API key as the
password works too.

Money and quantities are exact decimals; instants are UTC. Dates that are written are of the years
1000 to 9999, instants of 1000 to 9998. Every answer carries `X-Request-ID`.
"""


def build(app: Flask, container: edm.EntityContainer, rest: Mapping[str, Any]) -> dict[str, Any]:
    """The document.

    Args:
        rest: what flask-smorest found in the areas.
    """
    limits = rate_limits(configuration.of(app))
    known = frame(container, limits.caller)
    document: dict[str, Any] = {
        **known,
        "openapi": OPENAPI,
        "info": {"title": TITLE, "version": RELEASE, "description": DESCRIPTION},
        "tags": [],
        "paths": copy.deepcopy(dict(rest.get("paths", {}))),
        "components": _components(container, rest, known["components"]),
    }
    rest_operations.complete(app, document, limits)
    document["paths"] |= odata_paths.paths(container, ODATA_PREFIX, limits.caller)
    document["paths"] |= odata_paths.operation_paths(container, ODATA_PREFIX, limits.caller)
    document["paths"] |= known["paths"]
    document["tags"] = _tags(container, rest, *known["tags"])
    drop_unused(document)
    return document


def drop_unused(document: dict[str, Any]) -> None:
    """Take out the components that nothing refers to, and then those that only they used."""
    while True:
        used = set(_references(document))
        unused = [
            (kind, name)
            for kind in ("schemas", "responses", "parameters", "headers")
            for name in document["components"][kind]
            if f"#/components/{kind}/{name}" not in used
        ]
        if not unused:
            return
        for kind, name in unused:
            del document["components"][kind][name]


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for item in value.values():
            yield from _references(item)
    elif isinstance(value, list):
        for item in value:
            yield from _references(item)


def _components(
    container: edm.EntityContainer, rest: Mapping[str, Any], known: Mapping[str, Any]
) -> dict[str, Any]:
    return {
        "schemas": {
            **copy.deepcopy(rest.get("components", {}).get("schemas", {})),
            **known["schemas"],  # flask-smorest has an Error of its own
            **odata_schemas.schemas(container),
        },
        "responses": {
            **answers.error_answers(),
            **odata_paths.answer_components(container),
            **known["responses"],
        },
        "headers": known["headers"],
        "parameters": {
            **odata_paths.parameter_components(container), "idempotencyKey": rest_operations.KEY
        },
        "securitySchemes": known["securitySchemes"],
    }  # fmt: skip


def _tags(
    container: edm.EntityContainer,
    rest: Mapping[str, Any],
    service: Mapping[str, str],
    health: Mapping[str, str],
) -> list[Mapping[str, str]]:
    areas = [
        {"name": tag["name"], "description": tag.get("description") or ""}
        for tag in rest.get("tags", [])
    ]
    sets = [
        {"name": entity_set.name, "description": entity_set.type.description}
        for entity_set in container.sets.values()
    ]
    return [*areas, service, *sets, health]
