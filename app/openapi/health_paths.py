"""The addresses for operators: whether the process lives, and whether it can serve."""

from __future__ import annotations

from typing import Any

TAG = {"name": "Health", "description": "Whether the service lives, and can serve."}
_NOTE = "No credentials needed. Not counted by the rate limit."


def paths() -> dict[str, Any]:
    """``/healthz`` and ``/readyz``."""
    return {
        "/healthz": {
            "get": _operation(
                "GetHealth", "Does the process answer?", "Liveness.", {"200": _answer({}, "ok")}
            )
        },
        "/readyz": {
            "get": _operation(
                "GetReadiness",
                "Can the service serve?",
                "503 without the database; `degraded` when something else is away.",
                {
                    "200": _answer({"database": "ok", "worker": "ok"}, "ok"),
                    "503": _answer({"database": "away"}, "unavailable"),
                },
            )
        },
    }


def _operation(
    operation_id: str, summary: str, text: str, responses: dict[str, Any]
) -> dict[str, Any]:
    return {
        "tags": [TAG["name"]],
        "operationId": operation_id,
        "summary": summary,
        "description": f"{text}\n\n{_NOTE}",
        "security": [],
        "responses": responses,
    }


def _answer(checks: dict[str, str], status: str) -> dict[str, Any]:
    properties: dict[str, Any] = {"status": {"type": "string"}}
    example: dict[str, Any] = {"status": status}
    if checks:
        properties["checks"] = {"type": "object", "additionalProperties": {"type": "string"}}
        example["checks"] = checks
    schema = {"type": "object", "required": ["status"], "properties": properties}
    return {
        "description": f"Status `{status}`.",
        "content": {"application/json": {"schema": schema, "example": example}},
    }
