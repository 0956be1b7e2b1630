"""Whether the process lives, and whether it can serve."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
import time_machine
from flask import Flask
from flask.testing import FlaskClient

from app.clock import utc_now
from app.jobs.schedule import LATE_AFTER, beat
from tests.conftest import KeepApp
from tests.databases import AWAY
from tests.services import SERVICES

MakeApp = Callable[..., Flask]


def test_a_living_process_says_so(client: FlaskClient) -> None:
    answer = client.get("/healthz")
    assert (answer.status_code, answer.json) == (200, {"status": "ok"})


def test_everything_there_is_ok(app: Flask, client: FlaskClient) -> None:
    with app.app_context():
        beat()
    answer = client.get("/readyz")
    assert answer.status_code == 200
    assert answer.json == {
        "status": "ok",
        "checks": {
            "database": "ok",
            "worker": "ok",
            "redis": "not used",
            "storage": "ok",
            "search": "ok",
            "assistant": "not used",
        },
    }


def test_a_worker_that_is_late_or_was_never_seen_degrades(app: Flask, client: FlaskClient) -> None:
    assert client.get("/readyz").json["checks"]["worker"] == "never seen"
    with app.app_context():
        beat()
        beat()
    assert client.get("/readyz").json["checks"]["worker"] == "ok"
    with time_machine.travel(utc_now() + LATE_AFTER + timedelta(seconds=1)):
        answer = client.get("/readyz")
    assert (answer.status_code, answer.json["status"]) == (200, "degraded")
    assert answer.json["checks"]["worker"] == "late"


@pytest.mark.needs("redis")
@pytest.mark.only_on("sqlite")
def test_redis_that_is_away_degrades(make_app: MakeApp) -> None:
    there = make_app(REDIS_URL=SERVICES["redis"].url).test_client()
    assert there.get("/readyz").json["checks"]["redis"] == "ok"
    away = make_app(REDIS_URL="redis://127.0.0.1:1/0").test_client()
    answer = away.get("/readyz")
    assert (answer.status_code, answer.json["status"]) == (200, "degraded")
    assert answer.json["checks"]["redis"] == "away"


@pytest.mark.only_on("sqlite")
def test_a_store_that_cannot_be_written_degrades(make_app: MakeApp, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch(mode=0o400)
    answer = make_app(STORAGE_URL=f"file://{file}/below").test_client().get("/readyz")
    assert answer.json["checks"]["storage"] == "not writable"


@pytest.mark.requirement("OUT-04")
@pytest.mark.only_on("sqlite")
def test_without_the_database_nothing_is_ready_and_the_process_lives(keep_app: KeepApp) -> None:
    app = keep_app(SQLALCHEMY_DATABASE_URI=AWAY)
    client = app.test_client()
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.headers["Retry-After"] == "5"
    assert (answer.json["status"], answer.json["checks"]["database"]) == ("unavailable", "away")
    assert "127.0.0.1" not in answer.text
    assert client.get("/healthz").status_code == 200


@pytest.mark.requirement("OUT-01", "OUT-03")
@pytest.mark.only_on("sqlite")
def test_without_the_database_requests_are_503(keep_app: KeepApp) -> None:
    app = keep_app(SQLALCHEMY_DATABASE_URI=AWAY)
    answer = app.test_client().post("/api/auth/login", json={"username": "x", "password": "y"})
    assert (answer.status_code, answer.json["error"]["code"]) == (503, "SERVICE_UNAVAILABLE")
    assert int(answer.headers["Retry-After"]) > 0
