"""The end of every request: the transaction, the headers that each answer has, its line of log."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from flask import Flask, Request, Response, g, request

from app.edge.transaction import end_transaction
from app.security import find_caller
from app.versions import VERSIONS, version_of

API_POLICY = "default-src 'none'; frame-ancestors 'none'"
SECURITY_HEADERS = [
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
]
# A year; only said where the connection was encrypted (RFC 6797, 7.2).
TRANSPORT_SECURITY = ("Strict-Transport-Security", "max-age=31536000; includeSubDomains")


class Finisher:
    """Finishes answers."""

    def __init__(self, app: Flask) -> None:
        self._log = app.extensions["request_log"]
        self._fixed = {
            version.name: [*SECURITY_HEADERS, *version.headers()] for version in VERSIONS
        }

    def leave(self, response: Response) -> Response:
        """After the view, or after the handler of its error."""
        asked: Request = request._get_current_object()  # type: ignore[attr-defined]
        response = end_transaction(response)
        self._add_headers(asked, response)
        self._write_line(asked, response)
        return response

    def _add_headers(self, asked: Request, response: Response) -> None:
        headers = response.headers
        added = [*self._fixed[version_of(asked.path).name], ("X-Request-ID", g.request_id)]
        verdict = g.get("verdict")
        if verdict is not None:
            added += [
                ("RateLimit-Limit", str(verdict.limit)),
                ("RateLimit-Remaining", str(verdict.remaining)),
                ("RateLimit-Reset", str(verdict.reset)),
            ]
        if "Content-Security-Policy" not in headers:
            added.append(("Content-Security-Policy", API_POLICY))
        if "Cache-Control" not in headers:
            # What has an ETag may be kept by the caller, and is asked for again each time.
            kept = "private, no-cache" if "ETag" in headers else "no-store"
            added.append(("Cache-Control", kept))
        if asked.environ["wsgi.url_scheme"] == "https":
            added.append(TRANSPORT_SECURITY)
        headers.extend(added)

    def _write_line(self, asked: Request, response: Response) -> None:
        caller = find_caller()
        self._log.info(
            "request",
            request_id=g.request_id,
            principal=caller.principal if caller else None,
            method=asked.method,
            route=_route(asked),
            status=response.status_code,
            ms=round((perf_counter() - g.started) * 1000, 2),
        )


def _route(asked: Request) -> Any:
    """The address without its query; where a secret is part of it, the rule that it fits."""
    if asked.view_args and "token" in asked.view_args and asked.url_rule:
        return asked.url_rule.rule
    return asked.path
