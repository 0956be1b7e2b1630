"""Traces are on where OTEL_EXPORTER_OTLP_ENDPOINT names who takes them; off, nothing is loaded.

How they are sampled, named and sent is said by the other OTEL_* variables, which the SDK reads.
"""

from __future__ import annotations

import os
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from flask import Flask

from app.config import Config, ConfigError
from app.extensions import Extension, db
from app.http.route_names import route_names

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

SERVICE_NAME = "business-platform"
_NEEDED = ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http")


traces: Extension[TracerProvider] = Extension("traces")


def init_app(app: Flask, config: Config) -> None:
    """Trace requests, statements and calls to other hosts, if that is wanted.

    Raises: ConfigError, it is wanted and what it needs is not installed.
    """
    if config.OTEL_EXPORTER_OTLP_ENDPOINT is None:
        return
    if not all(_is_installed(name) for name in _NEEDED):
        raise ConfigError(
            "OTEL_EXPORTER_OTLP_ENDPOINT is set: install requirements-otel.txt, or unset it"
        )
    from app.outbound.client import outbound_client
    from app.tracing import spans

    provider = _provider(config.OTEL_EXPORTER_OTLP_ENDPOINT)
    tracer = provider.get_tracer("app")
    traces.bind(app, provider)
    app.wsgi_app = spans.TracedRequests(  # type: ignore[method-assign]
        app.wsgi_app, tracer, route_names.of(app)
    )
    with app.app_context():
        for engine in db.engines.values():
            spans.trace(engine, tracer)
    outbound_client.bind(app, partial(spans.TracedClient, tracer))


def _provider(endpoint: str) -> TracerProvider:
    from opentelemetry.exporter.otlp.proto.http import trace_exporter as otlp
    from opentelemetry.sdk import resources, trace
    from opentelemetry.sdk.trace import export

    named = {"service.name": os.environ.get("OTEL_SERVICE_NAME") or SERVICE_NAME}
    provider = trace.TracerProvider(resource=resources.Resource.create(named))
    exporter: Any = otlp.OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces")
    provider.add_span_processor(export.BatchSpanProcessor(exporter))
    return provider


def _is_installed(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False
