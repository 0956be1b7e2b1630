"""``Prefer: respond-async``: 202 with the address of the answer, which is kept for a while.

The request is done at once, in its own transaction, and the answer is a row beside those of
idempotent requests; so whoever fetches it may ask another process (docs/adr/0005).
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from datetime import timedelta
from http import HTTPStatus
from typing import Any

from flask import Response, request
from werkzeug.datastructures import Headers

from app.clock import utc_now
from app.db.types import AnyRow
from app.errors import GoneError, NotFoundError
from app.http.idempotency import MAXIMUM_STORED_BYTES, find_answer, forget_answer, keep_answer
from app.http.security import current_caller
from app.odata.protocol.preferences import parse_preferences, preferences_of
from app.odata.protocol.request import READ, allow, method_error
from app.sealing import UnsealError, unseal

KEPT_FOR = timedelta(minutes=10)
MONITORS = "$async/"
_PREFIX = "async:"
_METHODS = (*READ, "DELETE")


def is_wanted(environ: Mapping[str, Any]) -> bool:
    """Whether the request with this WSGI environment would take its answer later."""
    header: str = environ.get("HTTP_PREFER", "")
    return "respond-async" in header.lower() and parse_preferences([header]).respond_async


def defer(response: Response, root: str) -> Response:
    """Keep an answer, and answer with its address; an answer that is too large goes out as it is.

    Args:
        root: the address of the service, with a slash at its end.
    """
    if response.is_streamed or response.direct_passthrough or response.status_code >= 400:
        return response
    if len(response.get_data()) > MAXIMUM_STORED_BYTES:
        return response
    token = secrets.token_urlsafe(24)
    headers = [pair for pair in response.headers if pair[0] != "Content-Length"]
    keep_answer(current_caller().principal, _PREFIX + token, "", response, headers, KEPT_FOR)
    answer = Response(status=202)
    del answer.headers["Content-Type"]
    answer.headers["Location"] = f"{root}{MONITORS}{token}"
    answer.headers["Retry-After"] = "0"
    answer.headers["OData-Version"] = response.headers.get("OData-Version", "4.0")
    applied = preferences_of(request.headers).applied("respond-async")
    answer.headers["Preference-Applied"] = applied
    return answer


def monitored(token: str) -> Response:
    """The answer to a request for a kept answer, or for its removal.

    Raises: NotFoundError, there is none of this caller; GoneError, its time is over.
    """
    if request.method == "OPTIONS":
        return Response(status=204, headers=allow(_METHODS))
    if request.method not in _METHODS:
        raise method_error(request.method, _METHODS, "A monitor takes GET and DELETE.")
    stored = find_answer(current_caller().principal, _PREFIX + token)
    if stored is None:
        raise NotFoundError("There is no such answer.")
    if request.method == "DELETE":
        forget_answer(stored.id)
        response = Response(status=204)
        response.headers["OData-Version"] = "4.0"
        return response
    if stored.expires_at <= utc_now():
        raise GoneError("The answer was kept for ten minutes: send the request again.")
    try:
        body = unseal(stored.body)
    except UnsealError as error:
        raise GoneError("The answer cannot be read any more: send the request again.") from error
    return _wrapped(stored, body) if _wants_http() else _plain(stored, body)


def _wants_http() -> bool:
    """Whether the answer is wanted as the text of HTTP (Protocol 11.6).

    A client of 4.0 that names no format knows no other form: ``AsyncResult`` came with 4.01.
    """
    accept = request.headers.get("Accept", "")
    is_old = request.headers.get("OData-MaxVersion", "").strip() == "4.0"
    return "application/http" in accept or (is_old and not accept)


def _plain(stored: AnyRow, body: bytes) -> Response:
    """The answer itself; its status is in ``AsyncResult`` as well (Protocol 8.3.1, 11.6)."""
    response = Response(body, 200)
    response.headers = Headers(stored.headers)
    if response.headers.get("OData-Version") == "4.01" or "Accept" in request.headers:
        response.headers["AsyncResult"] = str(stored.status)
    return response


def _wrapped(stored: AnyRow, body: bytes) -> Response:
    """The answer as the text of HTTP (Protocol 11.6)."""
    lines = [f"HTTP/1.1 {stored.status} {HTTPStatus(stored.status).phrase}"]
    lines += [f"{name}: {value}" for name, value in stored.headers]
    text = "\r\n".join([*lines, f"Content-Length: {len(body)}", "", ""])
    response = Response(text.encode("latin-1", "replace") + body, content_type="application/http")
    response.headers["OData-Version"] = "4.0"
    return response
