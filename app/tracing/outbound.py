"""A span for each call to another host: its name and what it answered; nothing of the path."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from opentelemetry.trace import SpanKind, StatusCode, Tracer

from app.outbound.client import Answer, Client


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
