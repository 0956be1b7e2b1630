"""Traces: sent to a real receiver of OTLP over HTTP, with what happened and no values."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest
from flask import Flask
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from sqlalchemy import text

from app.auth.api_keys import create_api_key
from app.db.engines import primary_engine, transaction
from app.http.security import acting_as, system_caller
from app.outbound.client import outbound_client
from app.tracing.setup import traces
from app.tracing.spans import describe
from tests.receivers import Receiver, receiver

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = f"00-{TRACE}-b7ad6b7169203331-01"


@pytest.fixture
def collector() -> Iterator[Receiver]:
    with receiver() as running:
        yield running


@pytest.fixture
def traced(make_app: Callable[..., Flask], collector: Receiver) -> Iterator[Flask]:
    app = make_app(OTEL_EXPORTER_OTLP_ENDPOINT=f"http://127.0.0.1:{collector.port}")
    yield app
    traces.of(app).shutdown()


def spans(app: Flask, collector: Receiver) -> list[Span]:
    """Everything that was sent."""
    traces.of(app).force_flush()
    all_spans: list[Span] = []
    for taken in collector.at("/v1/traces"):
        request = ExportTraceServiceRequest.FromString(taken.body)
        for resource in request.resource_spans:
            names = {
                attribute.key: attribute.value.string_value
                for attribute in resource.resource.attributes
            }
            assert names["service.name"] == "business-platform"
            all_spans += [span for scope in resource.scope_spans for span in scope.spans]
    return all_spans


def attributes(span: Span) -> dict[str, str | int]:
    return {
        attribute.key: attribute.value.string_value or attribute.value.int_value
        for attribute in span.attributes
    }


def key_of(app: Flask) -> str:
    with app.app_context(), transaction(), acting_as(system_caller("cli")):
        return create_api_key(name="traced", role="Admin").key


def test_a_request_is_a_span_and_its_statements_are_its_children(
    traced: Flask, collector: Receiver
) -> None:
    headers = {"X-API-Key": key_of(traced), "traceparent": PARENT}
    client = traced.test_client()
    created = client.post("/odata/Clients", json={"name": "Very Secret Ltd"}, headers=headers)
    assert created.status_code == 201
    sent = spans(traced, collector)
    request = next(span for span in sent if span.name == "POST /odata/Clients")
    assert request.trace_id.hex() == TRACE
    assert request.parent_span_id.hex() == PARENT.split("-")[2]
    request_attributes = attributes(request)
    assert request_attributes["http.route"] == "/odata/Clients"
    assert request_attributes["http.response.status_code"] == 201
    assert request_attributes["request.id"] == created.headers["X-Request-ID"]
    children = {span.name for span in sent if span.parent_span_id == request.span_id}
    assert "INSERT clients" in children, children
    assert "INSERT events" in children, children


def test_no_value_and_no_secret_is_sent(traced: Flask, collector: Receiver) -> None:
    key = key_of(traced)
    client = traced.test_client()
    client.post("/odata/Clients", json={"name": "Very Secret Ltd"}, headers={"X-API-Key": key})
    client.get("/odata/Clients?$filter=name eq 'Very Secret Ltd'", headers={"X-API-Key": key})
    assert spans(traced, collector)
    everything = b"".join(taken.body for taken in collector.at("/v1/traces"))
    assert b"Very Secret" not in everything
    assert key.encode() not in everything


def test_a_failure_is_marked(traced: Flask, collector: Receiver) -> None:
    @traced.get("/odata/broken")
    def broken() -> None:
        raise RuntimeError("on purpose")

    traced.test_client().get("/odata/broken", headers={"X-API-Key": key_of(traced)})
    failed = next(span for span in spans(traced, collector) if span.name.startswith("GET"))
    assert failed.status.code == failed.status.STATUS_CODE_ERROR


def test_what_monitors_ask_is_not_traced(traced: Flask, collector: Receiver) -> None:
    traced.test_client().get("/healthz")
    assert not [span for span in spans(traced, collector) if "healthz" in span.name]


def test_a_call_to_another_host_is_a_span(traced: Flask, collector: Receiver) -> None:
    client = outbound_client.of(traced)(allow_private=True)
    answer = client.send("POST", collector.url("/ok?token=secret"), {}, b"{}")
    client.close()
    assert answer.status == 200
    call = next(span for span in spans(traced, collector) if span.name == "POST")
    assert attributes(call)["server.address"] == "127.0.0.1"
    assert attributes(call)["http.response.status_code"] == 200
    assert "secret" not in str(call)


def test_statements_outside_of_requests_are_spans(traced: Flask, collector: Receiver) -> None:
    with traced.app_context(), primary_engine().connect() as connection:
        connection.execute(text("SELECT name FROM roles"))
    assert "SELECT roles" in {span.name for span in spans(traced, collector)}


def test_an_absent_receiver_hurts_nobody(
    make_app: Callable[..., Flask], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    app = make_app(OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:1")
    answer = app.test_client().get("/odata/Clients", headers={"X-API-Key": key_of(app)})
    traces.of(app).shutdown()
    assert answer.status_code == 200


@pytest.mark.parametrize(
    ("sql", "name"),
    [
        ("SELECT a FROM clients WHERE x = 1", ("SELECT", "clients")),
        ('INSERT INTO "events" (a) VALUES (?)', ("INSERT", "events")),
        ("update leads set a = 1", ("UPDATE", "leads")),
        ("DELETE FROM tasks", ("DELETE", "tasks")),
        ("BEGIN IMMEDIATE", ("BEGIN", "")),
        ("", ("SQL", "")),
    ],
)
def test_statements_are_named_by_verb_and_table(sql: str, name: tuple[str, str]) -> None:
    assert describe(sql) == name


def test_without_a_receiver_nothing_of_it_is_loaded() -> None:
    # redis-py looks for the API by itself; what sends and what wraps is ours.
    program = (
        "import sys, app.factory;"
        "ours = ('opentelemetry.exporter', 'opentelemetry.sdk.trace', 'app.tracing.spans');"
        "print([name for name in sys.modules if name.startswith(ours)])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
