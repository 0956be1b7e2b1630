"""The addresses of the OData service itself: what it has, and its metadata."""

from __future__ import annotations

from typing import Any

from app.odata.model import edm
from app.openapi.answers import ODATA, errors, headers

_ERRORS = ("400", "401", "406", "429", "503")


def paths(container: edm.EntityContainer, prefix: str, limits: str) -> dict[str, Any]:
    """The service document and ``$metadata``."""
    first = next(iter(container.sets), "")
    return {
        f"{prefix}/": {
            "get": {
                "tags": ["OData"],
                "operationId": "GetServiceDocument",
                "summary": "What the service has",
                "description": f"The entity sets. Permission: any signed-in caller. {limits}",
                "responses": {
                    "200": {
                        "description": "The service document.",
                        "headers": headers("OData-Version"),
                        "content": {
                            "application/json": {
                                "schema": {
                                    "type": "object",
                                    "required": ["value"],
                                    "properties": {"value": {"type": "array"}},
                                },
                                "example": {
                                    "@odata.context": f"{prefix}/$metadata",
                                    "value": [{"name": first, "kind": "EntitySet", "url": first}],
                                },
                            }
                        },
                    },
                    **errors(_ERRORS, ODATA),
                },
            }
        },
        f"{prefix}/$metadata": {
            "get": {
                "tags": ["OData"],
                "operationId": "GetMetadata",
                "summary": "The model: types, properties, relations, limits",
                "description": (
                    "CSDL, as XML by default and as JSON with `$format=json`."
                    f" Permission: any signed-in caller. {limits}"
                ),
                "parameters": [
                    {
                        "name": "$format",
                        "in": "query",
                        "description": "The form.",
                        "schema": {"type": "string", "enum": ["xml", "json"]},
                    }
                ],
                "responses": {
                    "200": {
                        "description": "The model.",
                        "headers": headers("OData-Version", "ETag"),
                        "content": {
                            "application/xml": {
                                "schema": {"type": "string"},
                                "example": '<edmx:Edmx Version="4.0" ...>',
                            },
                            "application/json": {
                                "schema": {"type": "object"},
                                "example": {"$Version": "4.0"},
                            },
                        },
                    },
                    "304": {"description": "It is as you know it.", "headers": headers("ETag")},
                    **errors(_ERRORS, ODATA),
                },
            }
        },
    }
