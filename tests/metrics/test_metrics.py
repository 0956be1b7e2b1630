"""``/metrics``: who may read it, and that its numbers are those of what happened."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from flask import Flask
from flask.testing import FlaskClient

TOKEN = "a-token-of-the-monitoring-system"


@pytest.fixture
def monitored(make_app: Callable[..., Flask]) -> Flask:
    return make_app(METRICS_TOKEN=TOKEN)


def read(app: Flask) -> str:
    answer = app.test_client().get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert answer.status_code == 200, answer.text
    return answer.text


def number(text: str, series: str) -> float:
    found = re.search(rf"^{re.escape(series)} (\S+)$", text, re.MULTILINE)
    assert found is not None, series
    return float(found[1])


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


def test_requests_are_counted_by_route_and_status(monitored: Flask) -> None:
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


def test_what_callers_make_up_makes_no_series(monitored: Flask) -> None:
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
