"""The operations of the REST areas: what flask-smorest found, with what it cannot know.

It knows paths and schemas; permission, rate limit, errors and examples are added here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from flask import Flask

from app.config import Config
from app.http import idempotency
from app.http.security import RouteRules, rules_of
from app.odata.names import snake
from app.openapi.answers import errors, examples, headers


@dataclass(frozen=True)
class RateLimits:
    """Sentences for operations that need a caller, that are public, and that sign in."""

    caller: str
    public: str
    sign_in: str


def rate_limits(config: Config) -> RateLimits:
    """The sentences for these settings."""
    user, api_key = _rate(config.RATE_LIMIT_USER), _rate(config.RATE_LIMIT_API_KEY)
    return RateLimits(
        caller=f"Rate limit: {user} for a user, {api_key} for an API key.",
        public=f"Rate limit: {user} from one address.",
        sign_in=f"Rate limit: {_rate(config.RATE_LIMIT_AUTH)} from one address.",
    )


def _rate(text: str) -> str:
    number, _, period = text.partition("/")
    return f"{number} requests a {period}"


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
METHODS = ("get", "post", "put", "patch", "delete")
COMMON_ERRORS = ("400", "429", "503")
CALLER_ERRORS = ("401", "403")
SIGN_IN_ERRORS = ("401", "423")
PARAMETERS = {
    "limit": "At most so many items.",
    "offset": "Leave out so many items first.",
    "status": "Only items in this state.",
}
KEY = {
    "name": idempotency.HEADER,
    "in": "header",
    "description": (
        "A text of your choice that makes a repeated request harmless: with the same key and body"
        f" it has no second effect, and for {idempotency.KEPT_FOR // timedelta(hours=1)} hours its"
        f" first answer is given again, with `{idempotency.REPLAYED}: true`. With another body it"
        " is a 409. A file that is the answer is made anew. Example: `order-4711`."
    ),
    "schema": {
        "type": "string", "pattern": f"^{idempotency.KEY_PATTERN}$", "examples": ["order-4711"]
    },
}  # fmt: skip
KEY_REFERENCE = {"$ref": "#/components/parameters/idempotencyKey"}
# Answers that flask-smorest adds from a table of its own; ours say more.
_GENERIC = ("default", "422")


def complete(app: Flask, document: dict[str, Any], limits: RateLimits) -> None:
    """Finish the operations of ``document`` in place."""
    views = _rules_of_operations(app)
    for path, item in document["paths"].items():
        _describe(item.get("parameters", []))
        for method in METHODS:
            if method in item:
                rules = views.get((path, method), RouteRules())
                _complete_operation(document, path, method, item[method], rules, limits)


def _complete_operation(
    document: Mapping[str, Any],
    path: str,
    method: str,
    operation: dict[str, Any],
    rules: RouteRules,
    limits: RateLimits,
) -> None:
    text = operation.get("description", "")
    if rules.public:
        operation["security"] = []
        limit = limits.sign_in if rules.counting == "sign-in" else limits.public
        note = f"No credentials needed. {limit}"
    else:
        rights = " and ".join(f"`{permission}`" for permission in rules.permissions)
        right = rights or "any signed-in caller"
        note = f"Permission: {right}. {limits.caller}"
        if idempotency.takes_key(method.upper(), path):
            operation["parameters"] = [*operation.get("parameters", []), KEY_REFERENCE]
    operation["description"] = f"{text}\n\n{note}".strip()
    operation.setdefault("operationId", _operation_id(path, method))
    operation.setdefault("summary", _words(operation["operationId"]).capitalize())
    _describe(operation.get("parameters", []))
    _complete_answers(document, path, method, operation, rules)
    content = operation.get("requestBody", {}).get("content", {})
    for media_type, body in content.items():
        if "example" not in body and "examples" not in body:
            known = for_operation(method, path)
            body["example"] = (
                known
                if known is not None
                else example_of(document, body.get("schema", {}), sent=True)
            )
        if media_type == "application/json":
            # An absent body counts as an empty object, but never as a replacement.
            schema = _resolved(document, body.get("schema", {}))
            needed = method == "put" or bool(schema.get("required")) or "properties" not in schema
            operation["requestBody"]["required"] = needed


def _resolved(document: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    name = schema.get("$ref", "").rpartition("/")[2]
    return document["components"]["schemas"][name] if name else schema


def _complete_answers(
    document: Mapping[str, Any],
    path: str,
    method: str,
    operation: dict[str, Any],
    rules: RouteRules,
) -> None:
    answers = operation["responses"]
    for status in [status for status in answers if _is_generic(status, answers[status])]:
        del answers[status]
    kinds = [*COMMON_ERRORS, *(() if rules.public else CALLER_ERRORS)]
    if rules.counting == "sign-in":
        kinds += SIGN_IN_ERRORS
    if "{" in path:
        kinds.append("404")
    if method in ("post", "put", "patch"):
        kinds += ["409", "413", "415"]
    elif method == "delete":
        kinds.append("409")
    if any(parameter.get("name") == "If-Match" for parameter in operation.get("parameters", [])):
        kinds.append("412")
    for status, answer in errors(kinds).items():
        answers.setdefault(status, answer)
    for status, answer in answers.items():
        if "$ref" in answer or not status.startswith("2"):
            continue
        answer["headers"] = {**headers(), **answer.get("headers", {})}
        for body in answer.get("content", {}).values():
            if "example" not in body and "examples" not in body:
                body["example"] = example_of(document, body.get("schema", {}), sent=False)


def _is_generic(status: str, answer: Mapping[str, Any]) -> bool:
    reference = str(answer.get("$ref", ""))
    return status in _GENERIC or (
        reference.startswith("#/components/responses/") and "Error" not in reference
    )


def _describe(parameters: list[dict[str, Any]]) -> None:
    """Give every parameter a description."""
    for parameter in parameters:
        if "$ref" not in parameter and not parameter.get("description"):
            known = PARAMETERS.get(parameter["name"])
            parameter["description"] = known or f"{_words(parameter['name']).capitalize()}."


def _words(name: str) -> str:
    """``userId`` -> ``user id``."""
    return snake(name).replace("_", " ")


def _operation_id(path: str, method: str) -> str:
    words = [word.strip("{}") for word in path.split("/") if word not in ("", "api", "v1")]
    return method + "".join(
        part.capitalize() for word in words for part in word.replace("-", "_").split("_")
    )


def _rules_of_operations(app: Flask) -> dict[tuple[str, str], RouteRules]:
    """Path as OpenAPI writes it, and method -> what the edge asks there."""
    rules = rules_of(app)
    return {
        (_template(rule.rule), method.lower()): rules[rule.endpoint]
        for rule in app.url_map.iter_rules()
        for method in rule.methods or ()
    }


def _template(rule: str) -> str:
    """``/leads/<int:lead_id>/convert`` -> ``/leads/{lead_id}/convert``."""
    return "".join(_template_parts(rule))


def _template_parts(rule: str) -> Iterator[str]:
    for part in rule.split("<"):
        variable, closed, rest = part.partition(">")
        yield f"{{{variable.rpartition(':')[2]}}}{rest}" if closed else part


def for_operation(method: str, path: str) -> Any:
    """The example body of an operation; None where the table has none."""
    return examples()["rest"].get(f"{method.upper()} {path}")


def example_of(
    document: Mapping[str, Any],
    schema: Mapping[str, Any],
    depth: int = _DEPTH,
    *,
    sent: bool,
    name: str = "",
) -> Any:
    """A value that fits a JSON Schema of the document.

    Args:
        sent: leave out what is only read, and give what may be null a value.
        name: that of the property, whose texts ``examples.json`` knows.
    """
    if "$ref" in schema:
        schema = _resolve(document, schema["$ref"])
    for key in ("example", "default", "const"):
        if key in schema:
            return schema[key]
    if schema.get("examples"):
        return schema["examples"][0]
    if schema.get("enum"):
        return schema["enum"][0]
    for key in ("anyOf", "oneOf", "allOf"):
        if schema.get(key):
            return example_of(document, schema[key][0], depth, sent=sent, name=name)
    kind = schema.get("type", "object" if "properties" in schema else "string")
    is_open = isinstance(kind, list) and "null" in kind
    if isinstance(kind, list):
        kind = kind[0]
    if kind == "object":
        return _object(document, schema, depth, sent)
    if kind == "array":
        if depth <= 0:
            return []
        return [example_of(document, schema.get("items", {}), depth - 1, sent=sent, name=name)]
    has_text = kind == "string" and "format" not in schema and name in examples()["texts"]
    if is_open and not sent and not has_text:
        return None
    if has_text:
        return examples()["texts"][name][: schema.get("maxLength")]
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
        name: example_of(document, member, depth - 1, sent=sent, name=name)
        for name, member in schema.get("properties", {}).items()
        if not (sent and member.get("readOnly"))
    }


def _resolve(document: Mapping[str, Any], reference: str) -> Mapping[str, Any]:
    part: Any = document
    for step in reference.removeprefix("#/").split("/"):
        part = part[step]
    return part  # type: ignore[no-any-return]
