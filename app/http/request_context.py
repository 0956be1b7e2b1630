"""What a request carries besides its caller: its id, the address it came from, its bucket."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from time import perf_counter
from typing import Any, NamedTuple, TypeVar

from flask import Flask, Response, after_this_request, current_app, has_request_context, request

from app.http.security import CLOSED, RouteRules

# What a client may send as X-Request-ID; anything else is replaced, so that no line of a log can
# be forged.
_ACCEPTED = re.compile(r"[A-Za-z0-9._-]{1,64}")
_NAME = "platform.exchange"
_KEPT = "platform.kept"
_READS = ("GET", "HEAD")
T = TypeVar("T")


class Standing(NamedTuple):
    """How a bucket stands: of ``limit`` requests so many remain; seconds until one leaves it."""

    limit: int
    remaining: int
    reset: int


class Exchange:
    """One request and its answer, as the edge sees them; lies in the WSGI environment.

    ``bucket`` is what it counts against, as ``cost`` requests (app/http/limits.py), and
    ``standing`` how that stands, None where nothing is counted; ``rules`` are those of its view;
    ``refused`` is what is wrong with its credentials, ``is_guess`` whether they may be a guess;
    ``denied`` is what the audit log is to say of it; ``route`` what the log shows in place of the
    address; ``credential_expires`` when the caller's token or key ends, in seconds since 1970.
    """

    __slots__ = (
        "bucket", "cost", "credential_expires", "denied", "is_guess", "principal", "refused",
        "request_id", "route", "rules", "standing", "started",
    )  # fmt: skip

    def __init__(self, environ: dict[str, Any]) -> None:
        request_id: str | None = environ.get("HTTP_X_REQUEST_ID")
        if request_id is None or not _ACCEPTED.fullmatch(request_id):
            request_id = os.urandom(16).hex()
        self.request_id = request_id
        self.started = perf_counter()
        self.bucket = ""
        self.cost = 1
        self.principal: str | None = None
        self.route: str | None = None
        self.credential_expires = 0.0
        self.rules: RouteRules = CLOSED
        self.refused: Exception | None = None
        self.is_guess = False
        self.denied: dict[str, Any] | None = None
        self.standing: Standing | None = None


def begin_exchange(environ: dict[str, Any]) -> Exchange:
    """Give the request its id: the client's X-Request-ID when it is harmless, else a new one."""
    exchange = environ[_NAME] = Exchange(environ)
    return exchange


def exchange_of(environ: dict[str, Any]) -> Exchange:
    """The exchange of the request with this WSGI environment."""
    exchange: Exchange = environ.get(_NAME) or begin_exchange(environ)
    return exchange


def current_exchange() -> Exchange:
    return exchange_of(request.environ)


def kept_while_reading(name: str, make: Callable[[], T]) -> T:
    """What ``make`` gives; the same for the whole of a request that changes nothing."""
    if not has_request_context() or request.method not in _READS:
        return make()
    values: dict[str, Any] = request.environ.setdefault(_KEPT, {})
    if name not in values:
        values[name] = make()
    value: T = values[name]
    return value


def current_request_id() -> str | None:
    """The id of this request; None in jobs and commands."""
    return current_exchange().request_id if has_request_context() else None


def running_app() -> Flask:
    """The application itself, for threads and loops that outlive the context of its proxy."""
    return current_app.app_context().app


def when_answered(call: Callable[[], object]) -> None:
    """Call when the caller has the answer to this request, and its transaction has ended."""

    @after_this_request
    def register(response: Response) -> Response:
        response.call_on_close(call)
        return response


def client_address() -> str | None:
    """The address the request came from, after the trusted proxies; None in jobs."""
    return request.remote_addr if has_request_context() else None
