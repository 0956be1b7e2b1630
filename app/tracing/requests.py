"""A span for each request that comes in, and for each that goes out; both carry the trace on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import urlsplit

from opentelemetry import context
from opentelemetry.propagate import extract
from opentelemetry.trace import SpanKind, StatusCode, Tracer

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
