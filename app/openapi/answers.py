"""Answers that many operations share: the errors of each API family, and common headers."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from app.errors import (
    AccountLockedError,
    ApiError,
    DuplicateError,
    ForbiddenError,
    MethodNotAllowedError,
    NotAcceptableError,
    NotFoundError,
    NotImplementedInServiceError,
    PreconditionFailedError,
    RateLimitedError,
    ServiceUnavailableError,
    TokenMissingError,
    TooLargeError,
    UnsupportedMediaTypeError,
    ValidationError,
)
from app.odata.model import edm

REST, ODATA = "", "OData"

# What each is of, and one as it is answered.
_ERRORS: tuple[tuple[str, ApiError], ...] = (
    (
        "The request has problems; each is named with its field.",
        ValidationError([("name", "must not be null")]),
    ),
    ("Nobody is signed in.", TokenMissingError("Sign in: send a token or an API key.")),
    (
        "The caller may not do this; the message names the permission.",
        ForbiddenError(
            "Your role does not have the permission clients:delete.",
            [("permission", "clients:delete")],
        ),
    ),
    ("There is no such record, or not for this caller.", NotFoundError("No such record.")),
    ("The address does not take this method.", MethodNotAllowedError()),
    ("The format asked for is not offered.", NotAcceptableError()),
    (
        "The record is in another state, in use, or a unique value is taken.",
        DuplicateError("externalId: is taken", [("externalId", "is taken")]),
    ),
    ("The record has another version than If-Match says.", PreconditionFailedError()),
    ("The body is too large.", TooLargeError()),
    ("The body is of another media type.", UnsupportedMediaTypeError()),
    (
        "The account is locked after too many wrong passwords; Retry-After says how long.",
        AccountLockedError("This account is locked.", headers={"Retry-After": "900"}),
    ),
    (
        "Too many requests within a minute; Retry-After says when to go on.",
        RateLimitedError("Too many requests.", headers={"Retry-After": "20"}),
    ),
    (
        "A part of OData that this address does not offer.",
        NotImplementedInServiceError("$search is not offered here."),
    ),
    (
        "The database is away for a moment.",
        ServiceUnavailableError("The database is not available.", headers={"Retry-After": "5"}),
    ),
)


def error_answers() -> dict[str, Any]:
    """The answers with an error, of both families, as the document names them."""
    return {
        f"{family}Error{error.status}": _error_answer(family, description, error)
        for family in (REST, ODATA)
        for description, error in _ERRORS
    }


def errors(statuses: Iterable[str], family: str = REST) -> dict[str, Any]:
    return {
        status: {"$ref": f"#/components/responses/{family}Error{status}"} for status in statuses
    }


def headers(*names: str) -> dict[str, Any]:
    """References to headers; those of the rate limit are on every answer."""
    always = ("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "X-Request-ID")
    return {name: {"$ref": f"#/components/headers/{name}"} for name in (*names, *always)}


def _error_answer(family: str, description: str, error: ApiError) -> dict[str, Any]:
    body = error.to_odata() if family == ODATA else error.to_dict()
    return {
        "description": description,
        "headers": headers(*error.headers),
        "content": {
            "application/json": {
                "schema": {"$ref": f"#/components/schemas/{family}Error"},
                "example": body,
            }
        },
    }


_FOLDER = Path(__file__).parent


def frame(container: edm.EntityContainer, limits: str) -> dict[str, Any]:
    """What is the same for every model: the service's own paths, errors, headers, credentials.

    Args:
        limits: the sentence on rate limits at the end of every description.
    """
    text = (_FOLDER / "frame.json").read_text(encoding="utf-8")
    text = text.replace("RATE_LIMITS", limits)
    text = text.replace("FIRST_SET", next(iter(container.sets), ""))
    parts: dict[str, Any] = orjson.loads(text)
    answers = list(parts["components"]["responses"].values())
    for methods in parts["paths"].values():
        for operation in methods.values():
            answers += operation["responses"].values()
    for answer in answers:
        if "headers" in answer:
            answer["headers"] |= headers()
    return parts


@cache
def examples() -> dict[str, dict[str, Any]]:
    """Bodies that work when they are sent, and texts where any would not do.

    ``odata``: entity type, or type and navigation property, -> body of a creation; references are
    to the first record of a set. ``rest``: method and path -> body. ``texts``: property -> text.
    """
    return orjson.loads((_FOLDER / "examples.json").read_bytes())  # type: ignore[no-any-return]
