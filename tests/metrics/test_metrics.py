"""``/metrics``: who may read it, and that its numbers are those of what happened."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import insert

from app.clock import utc_now
from app.config import Config
from app.db.engines import transaction
from app.factory import create_app
from app.models.event import OutgoingMail
from tests.conftest import KeepApp

TOKEN = "a-token-of-the-monitoring-system"


@pytest.fixture
def monitored(keep_app: KeepApp) -> Flask:
    """It has counted what earlier tests asked of it."""
    return keep_app(METRICS_TOKEN=TOKEN)


def read(app: Flask) -> str:
    answer = app.test_client().get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert answer.status_code == 200, answer.text
    return answer.text


def number(text: str, series: str) -> float:
    match = re.search(rf"^{re.escape(series)} (\S+)$", text, re.MULTILINE)
    assert match is not None, series
    return float(match[1])


def samples(text: str) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    """What Prometheus' own reader makes of the text; each series is there once."""
    values: dict[Any, float] = {}
    for family in text_string_to_metric_families(text):
        assert family.type != "unknown", family.name
        assert family.documentation, family.name
        for sample in family.samples:
            name = (sample.name, frozenset(sample.labels.items()))
            assert name not in values, name
            values[name] = sample.value
    return values


def test_without_a_token_set_there_is_no_such_address(client: FlaskClient) -> None:
    assert client.get("/metrics").status_code == 404


@pytest.mark.parametrize(
    "header", ["", "Bearer", "Bearer wrong", f"Basic {TOKEN}", f"Bearer {TOKEN}x"]
)
def test_only_the_token_opens_it(monitored: Flask, header: str) -> None:
    headers = {"Authorization": header} if header else {}
    answer = monitored.test_client().get("/metrics", headers=headers)
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"].startswith("Bearer")


def test_requests_are_counted_by_route_and_status(make_app: Callable[..., Flask]) -> None:
    monitored = make_app(METRICS_TOKEN=TOKEN)
    client = monitored.test_client()
    for _ in range(3):
        client.get("/odata/Clients")
    client.get("/healthz")
    text = read(monitored)
    refused = 'http_requests_total{method="GET",route="/odata/Clients",status="401"}'
    assert number(text, refused) == 3
    assert number(text, 'http_requests_total{method="GET",route="/healthz",status="200"}') == 1
    timed = 'http_request_duration_seconds_count{method="GET",route="/odata/Clients"}'
    assert number(text, timed) == 3


def test_what_callers_make_up_makes_no_series(make_app: Callable[..., Flask]) -> None:
    monitored = make_app(METRICS_TOKEN=TOKEN)
    client = monitored.test_client()
    for index in range(20):
        client.get(f"/odata/Invented{index}")
        client.get(f"/nothing/{index}")
        client.open("/healthz", method=f"METHOD{index}")
    routes = set(
        re.findall(r'http_requests_total\{method="(\w+)",route="([^"]+)"', read(monitored))
    )
    assert routes == {("GET", "/odata"), ("GET", "none"), ("other", "none")}


def test_queues_and_the_worker_are_told(monitored: Flask) -> None:
    text = read(monitored)
    for queue in ("events", "webhooks", "mail"):
        assert number(text, f'queue_depth{{queue="{queue}"}}') == 0
        assert number(text, f'queue_oldest_seconds{{queue="{queue}"}}') == 0
    assert number(text, "redis_away") == 0
    assert number(text, "worker_heartbeat_age_seconds") == float("inf")


def test_prometheus_reads_every_series(monitored: Flask) -> None:
    monitored.test_client().get("/odata/Clients")
    names = {name for name, _ in samples(read(monitored))}
    assert {
        "http_requests_total", "http_request_duration_seconds_bucket", "database_up",
        "database_ping_seconds", "queue_depth", "queue_oldest_seconds", "odata_plans",
        "odata_plan_hits_total", "odata_plan_misses_total", "webhook_attempts_recent",
        "webhook_attempt_recent_seconds_max", "mail_failed", "redis_away",
        "worker_heartbeat_age_seconds",
    } <= names  # fmt: skip


@pytest.mark.only_on("postgresql")
def test_connections_of_all_processes_are_told(monitored: Flask) -> None:
    values = samples(read(monitored))
    assert values["database_connections", frozenset({("state", "active")})] >= 1
    assert values["database_connections_max", frozenset()] > 1


def test_refusals_are_counted_by_whose_limit_it_was(make_app: Callable[..., Flask]) -> None:
    app = make_app(METRICS_TOKEN=TOKEN, RATE_LIMIT_USER="6/minute")
    for _ in range(8):
        app.test_client().get("/docs", environ_base={"REMOTE_ADDR": "192.0.2.1"})
    assert number(read(app), 'rate_limit_refusals_total{kind="address"}') == 2


@pytest.mark.parametrize("token", [TOKEN, None], ids=["a token is set", "none is set"])
def test_who_knows_the_token_is_never_limited(keep_app: KeepApp, token: str | None) -> None:
    app = keep_app(METRICS_TOKEN=token, RATE_LIMIT_USER="3/minute")
    strangers = [app.test_client().get("/metrics").status_code for _ in range(5)]
    assert strangers == [401 if token else 404] * 3 + [429] * 2
    if token:
        assert [read(app) == "" for _ in range(5)] == [False] * 5


def test_the_age_of_the_oldest_work_is_told(monitored: Flask) -> None:
    with monitored.app_context(), transaction() as session:
        session.execute(
            insert(OutgoingMail).values(
                created_at=utc_now(), message_id="<a@b>", to=["a@example.com"], subject="s",
                text_body="t", next_attempt_at=utc_now(),
            )
        )  # fmt: skip
    text = read(monitored)
    assert number(text, 'queue_depth{queue="mail"}') == 1
    assert number(text, 'queue_oldest_seconds{queue="mail"}') >= 0


def test_without_the_database_the_requests_are_told_all_the_same(data_dir: Path) -> None:
    nowhere = "postgresql+psycopg://postgres@127.0.0.1:1/nothing"
    config = Config(
        SECRET_KEY="not-a-secret-only-for-the-tests-of-this-run", DATA_DIR=data_dir,
        SQLALCHEMY_DATABASE_URI=nowhere, METRICS_TOKEN=TOKEN, TESTING=True,
    )  # fmt: skip
    app = create_app(config)
    app.test_client().get("/healthz")
    values = samples(read(app))
    assert values["database_up", frozenset()] == 0
    assert ("http_requests_total", frozenset({("method", "GET"), ("route", "/healthz"),
                                              ("status", "200")})) in values  # fmt: skip
