"""One renderer for every error: REST shape under /api, OData shape under /odata."""

from __future__ import annotations

import errno
from collections.abc import Callable
from typing import Any

import structlog
from flask import Flask, Response, current_app, request
from flask_limiter import RateLimitExceeded
from gunicorn.http.errors import ParseException  # type: ignore[import-untyped]
from sqlalchemy.exc import DataError, IntegrityError, SQLAlchemyError
from werkzeug.exceptions import HTTPException, MethodNotAllowed
from werkzeug.routing import RequestRedirect

from app.db.constraint_refusals import FOREIGN_KEY, NOT_NULL, UNIQUE, read_refusal
from app.db.outages import is_away, is_in_the_way, reason_of
from app.db.types import json_text
from app.errors import (
    ApiError,
    ApiKeyInvalidError,
    DuplicateError,
    ForbiddenError,
    InUseError,
    InvalidCredentialsError,
    MethodNotAllowedError,
    NotAcceptableError,
    NotFoundError,
    PreconditionFailedError,
    ServiceUnavailableError,
    TokenMissingError,
    TooLargeError,
    UnsupportedMediaTypeError,
    ValidationError,
)
from app.extensions import Extension
from app.http.limits import rate_limits
from app.http.request_context import current_exchange, current_request_id
from app.odata.names import camel
from app.odata.protocol.negotiation import VARY, version_of_error

_log = structlog.get_logger(__name__)
RETRY_AFTER_SECONDS = 5


def from_database(error: SQLAlchemyError, method: str | None = None) -> ApiError | None:
    """The error of ours that stands for ``error``; None for a mistake in our own statements.

    Args:
        method: of what was tried; else that of the request.
    """
    if isinstance(error, IntegrityError):
        return _refused(error, method or request.method)
    if isinstance(error, DataError):
        return ValidationError([("", "A value is outside what its field can hold.")])
    if is_in_the_way(error):
        return ServiceUnavailableError(
            "Another request is changing the same records; try again.",
            headers={"Retry-After": "1"},
        )
    if is_away(error):
        _log.warning("the database cannot be used", reason=reason_of(error))
        return ServiceUnavailableError(
            "The database does not answer for a moment; try again.",
            headers={"Retry-After": str(RETRY_AFTER_SECONDS)},
        )
    return None


def _refused(error: IntegrityError, method: str) -> ApiError:
    refusal = read_refusal(error)
    fields = [camel(name) for name in refusal.columns] or [""]
    if refusal.kind == UNIQUE:
        return DuplicateError(
            "A value that must be unique is taken.",
            [(field, "is taken by another record") for field in fields],
        )
    if refusal.kind == FOREIGN_KEY:
        if method == "DELETE":
            return InUseError("Other records need this one.")
        return ValidationError([(field, "refers to no record") for field in fields])
    is_missing = refusal.kind == NOT_NULL
    problem = "is required" if is_missing else "is not allowed"
    return ValidationError([(field, problem) for field in fields])


# What shows an error to people; None where it is a program that asked.
ErrorPages = Callable[[ApiError], Response | None]

# What all messages are written in.
LANGUAGE = "en"
_NO_SPACE = frozenset((errno.ENOSPC, errno.EDQUOT))
_MOST_CAUSES = 10
_REALM = "business-platform"
_OF_STATUS: dict[int, type[ApiError]] = {
    kind.status: kind
    for kind in (
        NotFoundError, MethodNotAllowedError, NotAcceptableError, PreconditionFailedError,
        TooLargeError, UnsupportedMediaTypeError, ServiceUnavailableError,
    )
}  # fmt: skip


error_pages: Extension[ErrorPages] = Extension("error_pages")


def init_app(app: Flask) -> None:
    """Make ``error_response`` the only handler of errors."""
    app.register_error_handler(Exception, handle)
    # The more exact class wins, and flask-smorest has registered one for it.
    app.register_error_handler(HTTPException, handle)


def handle(error: Exception) -> Response:
    """The answer to ``error``; a redirect that routing asks for passes as it is."""
    if isinstance(error, RequestRedirect):
        return error.get_response(request.environ)  # type: ignore[return-value]
    # A person in the console gets a page; where nobody is signed in, the one that asks who it is.
    pages = error_pages.find(current_app)
    if pages is not None and (page := pages(as_api_error(error))) is not None:
        return page
    return error_response(error)


def error_response(error: Exception, method: str | None = None) -> Response:
    """The answer to any exception; of an unexpected one it says the request id and nothing else.

    Args:
        method: of the request of a batch that raised it; else that of the whole request.
    """
    api_error = as_api_error(error, method)
    is_odata = request.path.startswith("/odata")
    body = api_error.to_odata() if is_odata else api_error.to_dict()
    response = Response(json_text(body), api_error.status, content_type="application/json")
    response.headers["Content-Language"] = LANGUAGE  # Protocol 9.4
    for name, value in api_error.headers.items():
        response.headers[name] = value
    if is_odata:
        # Also of an error (Protocol 8.1.5).
        newest = request.headers.get("OData-MaxVersion")
        response.headers["OData-Version"] = version_of_error(newest)
        response.headers["Vary"] = VARY
    if api_error.status == 401:
        _add_challenges(response, api_error, is_odata)
    _note_denial(api_error)
    return response


def _add_challenges(response: Response, error: ApiError, is_odata: bool) -> None:
    """How to authenticate here (RFC 9110, 11.6.1; RFC 6750, 3)."""
    bearer = f'Bearer realm="{_REALM}"'
    if not isinstance(error, TokenMissingError):
        bearer += ', error="invalid_token"'
    response.headers.add("WWW-Authenticate", bearer)
    if is_odata:
        response.headers.add("WWW-Authenticate", f'Basic realm="{_REALM}", charset="UTF-8"')


def _note_denial(error: ApiError) -> None:
    """For the audit log, which is written when everything else has been undone."""
    if isinstance(error, ForbiddenError):
        permissions = [detail.message for detail in error.details if detail.field == "permission"]
        current_exchange().denied = {
            "action": "access.denied",
            **dict(zip(["permission"], permissions, strict=False)),
        }
    elif (
        isinstance(error, InvalidCredentialsError | ApiKeyInvalidError)
        and current_exchange().is_guess
    ):
        current_exchange().denied = {"action": "auth.refused", "code": error.code}


def as_api_error(error: Exception, method: str | None = None) -> ApiError:
    """``error`` as one of ours; ``method`` as in ``error_response``."""
    if isinstance(error, ApiError):
        return error
    if isinstance(error, RateLimitExceeded):
        return rate_limits.current.refusal()
    if isinstance(error, SQLAlchemyError) and (api_error := from_database(error, method)):
        return api_error
    if isinstance(error, HTTPException) and (error.code in _OF_STATUS or (error.code or 500) < 500):
        return _from_http(error)
    if isinstance(error, ParseException):  # while the body was read: what follows is no chunk
        return ValidationError([("", "The body is not HTTP that can be read.")])
    if _is_full(error):
        _log.error("no space left", exc_info=error)
        return ServiceUnavailableError(
            "The service has no space left on its disk; try again later.",
            headers={"Retry-After": str(RETRY_AFTER_SECONDS)},
        )
    _log.error("unhandled exception", exc_info=error)
    return ApiError(f"Something went wrong on our side. Request id: {current_request_id()}")


def _is_full(error: BaseException | None) -> bool:
    """Whether a disk without space is behind ``error``; libraries wrap what they get."""
    for _ in range(_MOST_CAUSES):
        if isinstance(error, OSError) and error.errno in _NO_SPACE:
            return True
        if error is None:
            return False
        error = error.__cause__ or error.__context__
    return False


def _from_http(error: HTTPException) -> ApiError:
    headers: dict[str, Any] = {}
    if isinstance(error, MethodNotAllowed) and error.valid_methods:
        headers["Allow"] = ", ".join(sorted(error.valid_methods))
    kind = _OF_STATUS.get(error.code or 400)
    if kind is None:
        return ValidationError([("", "The request cannot be understood.")])
    return kind(headers=headers)
