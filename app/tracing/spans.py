"""A span for each request that comes in or goes out, and for each statement (never its values)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from opentelemetry import context
from opentelemetry.propagate import extract
from opentelemetry.trace import SpanKind, StatusCode, Tracer
from sqlalchemy import Connection, Engine, ExceptionContext, event

from app.http.request_context import exchange_of
from app.http.route_names import RouteNames
from app.outbound.client import Answer, Client

# Asked for by monitors every few seconds.
_UNTRACED = ("/healthz", "/readyz", "/metrics")


class TracedRequests:
    """The application with a span around each request; a WSGI middleware."""

    def __init__(self, application: Any, tracer: Tracer, names: RouteNames) -> None:
        self._application = application
        self._tracer = tracer
        self._names = names

    def __call__(
        self, environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[Any]:
        """Answer one request; the span ends when the answer begins to leave."""
        if environ["PATH_INFO"] in _UNTRACED:
            answer: Iterable[Any] = self._application(environ, start_response)
            return answer
        carrier = {
            name: environ[key]
            for name, key in (
                ("traceparent", "HTTP_TRACEPARENT"),
                ("tracestate", "HTTP_TRACESTATE"),
            )
            if key in environ
        }
        method = environ["REQUEST_METHOD"]
        token = context.attach(extract(carrier))
        try:
            with self._tracer.start_as_current_span(method, kind=SpanKind.SERVER) as span:

                def start(status: str, headers: list[Any], exc_info: Any = None) -> Any:
                    route = self._names.of(environ)
                    span.update_name(f"{method} {route}")
                    code = int(status[:3])
                    span.set_attributes(
                        {
                            "http.request.method": method,
                            "http.route": route,
                            "http.response.status_code": code,
                            "request.id": exchange_of(environ).request_id,
                        }
                    )
                    if code >= 500:
                        span.set_status(StatusCode.ERROR)
                    return start_response(status, headers, exc_info)

                body: Iterable[Any] = self._application(environ, start)
                return body
        finally:
            context.detach(token)


class TracedClient(Client):
    """The client for other hosts, each of its exchanges a span."""

    def __init__(self, tracer: Tracer, **options: Any) -> None:
        super().__init__(**options)
        self._tracer = tracer

    def send(self, method: str, url: str, *arguments: Any, **options: Any) -> Answer:
        """As ``Client.send``."""
        attributes = {
            "http.request.method": method,
            "server.address": urlsplit(url).hostname or "",
        }
        with self._tracer.start_as_current_span(
            method, kind=SpanKind.CLIENT, attributes=attributes, record_exception=False
        ) as span:
            answer = super().send(method, url, *arguments, **options)
            span.set_attribute("http.response.status_code", answer.status)
            if answer.status >= 400:
                span.set_status(StatusCode.ERROR)
            return answer


_VERB = re.compile(r"\s*(\w+)")
_BEHIND_WITH = re.compile(r"\b(SELECT|INSERT|UPDATE|DELETE)\b.*", re.IGNORECASE | re.DOTALL)
_PARENTHESES = re.compile(r"\([^()]*\)")
_TABLE = re.compile(r'\b(?:FROM|INTO|UPDATE|JOIN)\s+"?([A-Za-z_]\w*)', re.IGNORECASE)
# Where a connection keeps the span of the statement that it runs.
_SPAN = "span"


@lru_cache(maxsize=2048)
def describe(sql: str) -> tuple[str, str]:
    """Verb and first table of a statement: ``("SELECT", "clients")``; the table may be empty."""
    verb = _VERB.match(sql)
    if verb and verb[1].upper() == "WITH":
        sql = _main(sql)
        verb = _VERB.match(sql)
    table = _TABLE.search(sql)
    return (verb[1].upper() if verb else "SQL", table[1] if table else "")


def _main(sql: str) -> str:
    """The statement behind the parts of WITH, whatever stands in parentheses left out."""
    left, count = sql, 1
    while count:
        left, count = _PARENTHESES.subn("", left)
    verb = _BEHIND_WITH.search(left)
    return verb[0] if verb else sql


def trace(engine: Engine, tracer: Tracer) -> None:
    """Let every statement over ``engine`` have a span."""
    system = "postgresql" if engine.dialect.name == "postgresql" else "sqlite"

    @event.listens_for(engine, "before_cursor_execute")
    def begin(
        connection: Connection, cursor: Any, sql: str, parameters: Any, context: Any, many: bool
    ) -> None:
        verb, table = describe(sql)
        attributes = {"db.system.name": system, "db.operation.name": verb}
        if table:
            attributes["db.collection.name"] = table
        span = tracer.start_span(
            f"{verb} {table}".strip(), kind=SpanKind.CLIENT, attributes=attributes
        )
        connection.info[_SPAN] = span

    @event.listens_for(engine, "after_cursor_execute")
    def end(connection: Connection, *_: Any) -> None:
        connection.info.pop(_SPAN).end()

    @event.listens_for(engine, "handle_error")
    def fail(context: ExceptionContext) -> None:
        running = context.connection
        span = None if running is None else running.info.pop(_SPAN, None)
        if span is not None:
            # As a span that is left by an error: its kind, not what the database says of values.
            span.set_status(StatusCode.ERROR, type(context.original_exception).__name__)
            span.end()
