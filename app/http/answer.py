"""The end of every request: the transaction, its line of log, the headers that each answer has."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from functools import lru_cache
from http import HTTPStatus
from time import perf_counter
from typing import Any
from wsgiref.types import WSGIApplication

from flask import Flask, Response, request
from sqlalchemy.exc import SQLAlchemyError
from werkzeug.http import http_date

from app import audit
from app.config import ConfigError
from app.db.transactions import has_begun
from app.errors import ApiError
from app.extensions import db
from app.http import idempotency
from app.http.error_answers import error_response
from app.http.request_context import Exchange, exchange_of
from app.logs import request_log
from app.metrics.requests import request_metrics

MINIMUM_MONTHS = 12


@dataclass(frozen=True, slots=True)
class Version:
    """A version: current while ``deprecated_on`` is None; gone at ``sunset_on``."""

    name: str
    deprecated_on: date | None = None
    sunset_on: date | None = None

    def headers(self) -> list[tuple[str, str]]:
        """``API-Version``; for an old version ``Deprecation`` (RFC 9745), ``Sunset`` (RFC 8594)."""
        headers = [("API-Version", self.name)]
        if self.deprecated_on:
            headers.append(("Deprecation", f"@{int(_midnight(self.deprecated_on).timestamp())}"))
        if self.sunset_on:
            headers.append(("Sunset", http_date(_midnight(self.sunset_on))))
        return headers


# Newest last; the first is what an address without a version means.
VERSIONS = (Version("v1"),)


def check_versions(versions: tuple[Version, ...]) -> None:
    """Refuse a sunset that comes too soon.

    Raises: ConfigError, naming the version.
    """
    for version in versions:
        if version.sunset_on is None:
            continue
        if version.deprecated_on is None:
            raise ConfigError(f"API {version.name} has a sunset but was never deprecated")
        if version.sunset_on < _months_later(version.deprecated_on, MINIMUM_MONTHS):
            raise ConfigError(
                f"API {version.name} must stay {MINIMUM_MONTHS} months after its deprecation on"
                f" {version.deprecated_on}; its sunset is {version.sunset_on}"
            )


def version_of(path: str, versions: tuple[Version, ...] = VERSIONS) -> Version:
    """The version that an address belongs to: ``/api/v1/...``, ``/odata/v1/...``, or none named."""
    parts = path.split("/", 3)
    if len(parts) > 2:
        for version in versions[1:]:
            if parts[2] == version.name:
                return version
    return versions[0]


def _months_later(day: date, months: int) -> date:
    years, month = divmod(day.month - 1 + months, 12)
    # The last of February has no anniversary every year; the first of March is never too early.
    if (day.month, day.day) == (2, 29) and (years, month + 1) != (0, 2):
        return date(day.year + years, 3, 1)
    return date(day.year + years, month + 1, day.day)


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time.min, UTC)


def end_transaction(response: Response, environ: dict[str, Any], exchange: Exchange) -> Response:
    """Commit when the answer is a success, else roll back; before the answer leaves.

    Returns: ``response``; the stored answer, when a twin with the same Idempotency-Key was first;
        an error answer when the database refuses the commit.
    """
    is_keyed = idempotency.VARIABLE in environ
    if not has_begun() and not is_keyed and exchange.denied is None:
        return response  # nothing was written or locked
    try:
        if response.status_code >= 400:
            db.session.rollback()
            audit_denial(exchange, request.method, request.path)
        if is_keyed:
            response = idempotency.store(response)
        db.session.commit()
    except (SQLAlchemyError, ApiError) as error:
        db.session.rollback()
        return error_response(error)
    return response


def audit_denial(exchange: Exchange, method: str, path: str) -> None:
    """A refusal is part of the audit log though everything else of the request is undone."""
    denied, exchange.denied = exchange.denied, None
    if denied is not None:
        target = {"method": method, "path": path[:500]}
        audit.record(denied.pop("action"), after={**target, **denied})


WITHOUT_BODY = (HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED)
MOST_REST_BYTES, READ_BYTES = 1_000_000, 65_536
API_POLICY = ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
NOT_STORED = ("Cache-Control", "no-store")
# What has an ETag may be kept by the caller, and is asked for again each time.
KEPT_AND_CHECKED = ("Cache-Control", "private, no-cache")
SECURITY_HEADERS = (
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
)
# A year; only said where the connection was encrypted (RFC 6797, 7.2).
TRANSPORT_SECURITY = ("Strict-Transport-Security", "max-age=31536000; includeSubDomains")


class Finisher:
    """Finishes answers."""

    def __init__(self, app: Flask) -> None:
        self._app = app
        self._log = request_log.of(app)

    def leave(self, response: Response) -> Response:
        """After the view, or after the handler of its error."""
        environ = request.environ
        if response.status_code >= 400 and "HTTP_TRANSFER_ENCODING" in environ:
            read_rest(environ["wsgi.input"])
        exchange = exchange_of(environ)
        response = end_transaction(response, environ, exchange)
        drop_type_of_nothing(response)
        self._write(response.status_code, environ, exchange)
        return response

    def _write(self, status: int, environ: dict[str, Any], exchange: Exchange) -> None:
        """The numbers and the line of log."""
        seconds = perf_counter() - exchange.started
        if (metrics := request_metrics.find(self._app)) is not None:
            metrics.note(environ, status, seconds, exchange.principal)
        self._log.write(
            exchange.request_id,
            exchange.principal,
            environ["REQUEST_METHOD"],
            exchange.route or environ["PATH_INFO"],
            status,
            seconds * 1000,
        )


def drop_type_of_nothing(response: Response) -> None:
    """What has no body has no type, which Flask gives it: clients read by it what is not there."""
    if response.status_code in WITHOUT_BODY:
        response.headers.pop("Content-Type", None)


def read_rest(body: Any) -> None:
    """Read what is left of a refused body in chunks, so that the next request can follow it.

    How long it is nobody has said; gunicorn would read a little of it, and close.
    """
    left = MOST_REST_BYTES
    with suppress(Exception):  # no chunks, or too slow: gunicorn closes
        while left > 0 and (piece := body.read(READ_BYTES)):
            left -= len(piece)


def with_headers(answer: WSGIApplication) -> Any:
    """The application with the headers that each answer has; a page may frame or refer by its own.

    They join the others as the server is given these: to add each to the headers of a response
    takes as long as reading an entity.
    """

    def answer_with_headers(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        def start(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Any:
            return start_response(status, [*headers, *_lacking(environ, headers)], exc_info)

        return answer(environ, start)

    return answer_with_headers


def _lacking(environ: dict[str, Any], headers: list[tuple[str, str]]) -> list[tuple[str, str]]:
    exchange = exchange_of(environ)
    names = tuple([name for name, _ in headers])
    added = [
        *_added(version_of(environ["PATH_INFO"]).name, names),
        ("X-Request-ID", exchange.request_id),
    ]
    if environ["wsgi.url_scheme"] == "https":
        added.append(TRANSPORT_SECURITY)
    if (standing := exchange.standing) is not None:
        added.append(("RateLimit-Limit", str(standing.limit)))
        added.append(("RateLimit-Remaining", str(standing.remaining)))
        added.append(("RateLimit-Reset", str(standing.reset)))
    return added


@lru_cache(maxsize=256)
def _added(version: str, names: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """What an answer with headers of these names lacks."""
    lower_names = {name.lower() for name in names}
    fixed = next(each.headers() for each in VERSIONS if each.name == version)
    policy = KEPT_AND_CHECKED if "etag" in lower_names else NOT_STORED
    ours = (*SECURITY_HEADERS, *fixed, API_POLICY, policy)
    return tuple(header for header in ours if header[0].lower() not in lower_names)
