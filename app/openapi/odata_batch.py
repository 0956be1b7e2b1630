"""``POST /odata/$batch``: many requests in one."""

from __future__ import annotations

from typing import Any

from app.odata.model import edm
from app.openapi.answers import ODATA, errors, headers

_ERRORS = ("400", "401", "403", "413", "415", "429", "503")
_MULTIPART = "multipart/mixed; boundary=b"


def paths(container: edm.EntityContainer, prefix: str, limits: str) -> dict[str, Any]:
    """The address of batches."""
    first = next(iter(container.sets), "")
    request = {"id": "1", "method": "get", "url": f"{first}/$count"}
    answered = {
        "id": "1",
        "status": 200,
        "headers": {"content-type": "text/plain;charset=utf-8", "odata-version": "4.0"},
        "body": "0",
    }
    asked_text = (
        f"--b\r\nContent-Type: application/http\r\n\r\nGET {first}/$count HTTP/1.1\r\n\r\n\r\n--b--"
    )
    return {
        f"{prefix}/$batch": {
            "post": {
                "tags": ["OData"],
                "operationId": "SendBatch",
                "summary": "Many requests in one",
                "description": (
                    "Requests of the OData service, done in their order: as JSON"
                    " (`atomicityGroup`, `dependsOn`, `if`) or as multipart/mixed (change sets)."
                    " What belongs together is done whole or not at all; `$1` at the start of a"
                    " URL is what request 1 made. Permission: any signed-in caller. Each request"
                    f" needs the right that it needs alone, and each counts. {limits}"
                ),
                "requestBody": {
                    "required": True,
                    "content": {
                        "application/json": {
                            "schema": {
                                "type": "object",
                                "required": ["requests"],
                                "properties": {
                                    "requests": {"type": "array", "items": _request_schema()}
                                },
                            },
                            "example": {"requests": [request]},
                        },
                        _MULTIPART: {"schema": {"type": "string"}, "example": asked_text},
                    },
                },
                "responses": {
                    "200": {
                        "description": "The answers, in the form and order of the requests.",
                        "headers": headers("OData-Version"),
                        "content": {
                            "application/json": {
                                "schema": {
                                    "type": "object",
                                    "required": ["responses"],
                                    "properties": {
                                        "responses": {"type": "array", "items": _answer_schema()}
                                    },
                                },
                                "example": {"responses": [answered]},
                            },
                            "multipart/mixed": {
                                "schema": {"type": "string"},
                                "example": "--b\r\nContent-Type: application/http\r\n...",
                            },
                        },
                    },
                    **errors(_ERRORS, ODATA),
                },
            }
        }
    }


def _request_schema() -> dict[str, Any]:
    """What may be left out may be null, as many a client writes it."""
    limits = {"minLength": 1, "maxLength": 128}
    names = {"type": "string", **limits}
    return {
        "type": "object",
        "required": ["id", "method", "url"],
        "properties": {
            "id": names,
            "method": {"type": "string", "enum": ["delete", "get", "patch", "post", "put"]},
            "url": {"type": "string", "minLength": 1},
            "atomicityGroup": {"type": ["string", "null"], **limits},
            "dependsOn": {"type": ["array", "null"], "items": names},
            "if": {"type": ["string", "null"], "minLength": 1},
            "headers": {"type": ["object", "null"], "additionalProperties": {"type": "string"}},
            "body": {},
        },
    }


def _answer_schema() -> dict[str, Any]:
    return {
        "type": "object",
        "required": ["id", "status"],
        "properties": {
            "id": {"type": "string"},
            "atomicityGroup": {"type": "string"},
            "status": {"type": "integer"},
            "headers": {"type": "object", "additionalProperties": {"type": "string"}},
            "body": {},
        },
    }
