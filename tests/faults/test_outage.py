"""A PostgreSQL of the test's own goes away while callers write, and comes back."""

from __future__ import annotations

import secrets
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import flask_migrate
import psycopg
import pytest
from flask import Flask
from sqlalchemy import text

from app.auth.api_keys import create_api_key
from app.config import Config, database_url
from app.db.engines import primary_engine, transaction
from app.factory import create_app
from app.http.security import acting_as, system_caller
from tests.databases import close_engines
from tests.faults.servers import PostgreSQL, free_ports, running

UNLIMITED = "1000000/minute"
OUTAGES = 3


@pytest.fixture
def cluster() -> Iterator[PostgreSQL]:
    with tempfile.TemporaryDirectory(prefix="outage-") as name:
        server = PostgreSQL(Path(name), next(free_ports()))
        with running(server):
            yield server


@pytest.fixture
def service(cluster: PostgreSQL, data_dir: Path) -> Iterator[Flask]:
    with psycopg.connect(cluster.url, autocommit=True) as connection:
        connection.execute("CREATE DATABASE outage")
    app = create_app(
        Config(
            SECRET_KEY="not-a-secret-only-for-the-tests-of-this-run", DATA_DIR=data_dir,
            SQLALCHEMY_DATABASE_URI=database_url(f"{cluster.url}/outage"),
            RATE_LIMIT_API_KEY=UNLIMITED, TESTING=True,
        )
    )  # fmt: skip
    with app.app_context():
        flask_migrate.upgrade()
    yield app
    close_engines(app)


@pytest.mark.costly(0)
@pytest.mark.needs("postgresql")
@pytest.mark.requirement("OUT-01", "OUT-03", "OUT-04", "OUT-05", "OUT-07", "OUT-08")
def test_an_outage_loses_nothing_acknowledged_and_doubles_nothing(
    service: Flask, cluster: PostgreSQL
) -> None:
    with service.app_context(), transaction(), acting_as(system_caller("cli")):
        headers = {"X-API-Key": create_api_key(name="outage", role="Admin").key}
    acknowledged: set[str] = set()
    refused: list[tuple[int, str | None, object]] = []
    stop = threading.Event()

    def write() -> None:
        client = service.test_client()
        while not stop.is_set():
            name = secrets.token_hex(8)
            answer = client.post("/odata/Clients", json={"name": name}, headers=headers)
            if answer.status_code == 201:
                acknowledged.add(name)
            else:
                found = (answer.status_code, answer.headers.get("Retry-After"), answer.json)
                refused.append(found)
                time.sleep(0.02)

    writers = [threading.Thread(target=write) for _ in range(3)]
    for writer in writers:
        writer.start()
    for _ in range(OUTAGES):
        before = len(acknowledged)
        while len(acknowledged) < before + 5:
            time.sleep(0.05)
        cluster.stop()
        time.sleep(0.3)
        assert service.test_client().get("/readyz").status_code == 503
        assert service.test_client().get("/healthz").status_code == 200
        cluster.start()
    before = len(acknowledged)
    while len(acknowledged) < before + 5:
        time.sleep(0.05)
    stop.set()
    for writer in writers:
        writer.join()

    with service.app_context(), primary_engine().connect() as connection:
        names = list(connection.execute(text("SELECT name FROM clients")).scalars())
        events = connection.execute(
            text("SELECT count(*) FROM events WHERE type = 'client.created'")
        ).scalar()
    assert acknowledged <= set(names)
    assert len(names) == len(set(names)) == events
    assert refused
    for status, retry_after, body in refused:
        assert status == 503
        assert retry_after is not None and retry_after.isdigit()
        assert isinstance(body, dict) and body["error"]["code"] == "SERVICE_UNAVAILABLE"
