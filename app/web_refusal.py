"""What the web server refuses before the application sees it, in the one shape of errors."""

from __future__ import annotations

import json
import secrets
from http import HTTPStatus
from typing import TYPE_CHECKING

from gunicorn.http import errors as http  # type: ignore[import-untyped]

from app.errors import (
    ApiError,
    HeadersTooLargeError,
    NotImplementedInServiceError,
    UriTooLongError,
    ValidationError,
)
from app.lazy import lazy
from app.versions import VERSIONS

if TYPE_CHECKING:
    from app.edge import answer
else:
    answer = lazy("app.edge.answer")


def refusal_of(error: BaseException, request_id: str) -> ApiError:
    """What the client is told: what it did wrong, without the text that it sent."""
    if isinstance(error, http.LimitRequestLine):
        return UriTooLongError("The address is too long.")
    if isinstance(error, http.LimitRequestHeaders):
        return HeadersTooLargeError("The headers are too many, or one of them is too long.")
    if isinstance(error, http.UnsupportedTransferCoding):
        return NotImplementedInServiceError("This transfer coding is not taken.")
    if is_of_client(error):
        return ValidationError([("", "The request is not HTTP that can be read.")])
    return ApiError(f"Something went wrong on our side. Request id: {request_id}")


def is_of_client(error: BaseException) -> bool:
    """Whether the request is at fault, and not a header that the application tried to send."""
    ours = (http.InvalidResponseHeader, http.InvalidResponseHeaderName, http.ConfigurationProblem)
    return isinstance(error, http.ParseException) and not isinstance(error, ours)


def message_of(error: ApiError, request_id: str) -> bytes:
    """The whole answer, with the headers that every answer has; the connection ends with it."""
    body = json.dumps(error.to_dict(), separators=(",", ":")).encode()
    headers = (
        ("Connection", "close"),
        ("Content-Type", "application/json"),
        ("Content-Length", str(len(body))),
        *answer.SECURITY_HEADERS,
        *VERSIONS[0].headers(),
        ("X-Request-ID", request_id),
        answer.API_POLICY,
        answer.NOT_STORED,
    )
    lines = [f"HTTP/1.1 {error.status} {HTTPStatus(error.status).phrase}"]
    lines += [f"{name}: {value}" for name, value in headers]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


def new_request_id() -> str:
    """For a request whose own id was never read."""
    return secrets.token_hex(16)
