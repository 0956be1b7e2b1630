"""Behind a pooler every transaction may meet another connection of the server."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import flask_migrate
import psycopg
import pytest
from flask import Flask

from app.auth.api_keys import create_api_key
from app.config import Config, database_url
from app.db.engines import read_engine, transaction
from app.factory import create_app
from app.http.security import acting_as, system_caller
from tests.databases import close_engines
from tests.faults.servers import PgBouncer, PostgreSQL, free_ports, running

pytestmark = pytest.mark.needs("pgbouncer")
UNLIMITED = "1000000/minute"
THREADS, ROUNDS = 12, 10


@pytest.fixture
def pooled(data_dir: Path) -> Iterator[Flask]:
    """A service behind PgBouncer, which pools transactions over eight connections."""
    ports = free_ports()
    with tempfile.TemporaryDirectory(prefix="pooled-") as name:
        server = PostgreSQL(Path(name), next(ports))
        with running(server):
            with psycopg.connect(server.url, autocommit=True) as connection:
                connection.execute("CREATE DATABASE pooled")
            pooler = PgBouncer(Path(name), next(ports), f"{server.url}/pooled")
            with running(pooler):
                app = create_app(
                    Config(
                        SECRET_KEY="not-a-secret-only-for-the-tests-of-this-run",
                        DATA_DIR=data_dir, RATE_LIMIT_API_KEY=UNLIMITED, TESTING=True,
                        SQLALCHEMY_DATABASE_URI=database_url(pooler.url),
                    )
                )  # fmt: skip
                with app.app_context():
                    flask_migrate.upgrade()
                yield app
                close_engines(app)


def test_many_callers_share_few_connections(pooled: Flask) -> None:
    with pooled.app_context(), transaction(), acting_as(system_caller("cli")):
        headers = {"X-API-Key": create_api_key(name="pooled", role="Admin").key}

    def work(number: int) -> list[int]:
        client = pooled.test_client()
        statuses = []
        # More often than it takes until a driver would prepare its statements.
        for turn in range(ROUNDS):
            body = {"name": f"Client {number} {turn}"}
            created = client.post("/odata/Clients", json=body, headers=headers)
            statuses.append(created.status_code)
            address = f"/odata/Clients({created.json['id']})"
            statuses.append(client.patch(address, json={"notes": "x"}, headers=headers).status_code)
            statuses.append(client.get(address, headers=headers).status_code)
            page = client.get(f"/odata/Clients?$top=5&$skip={turn}&$count=true", headers=headers)
            statuses.append(page.status_code)
        return statuses

    with ThreadPoolExecutor(THREADS) as pool:
        statuses = [status for each in pool.map(work, range(THREADS)) for status in each]
    assert statuses == [201, 200, 200, 200] * (THREADS * ROUNDS)
    with pooled.app_context(), read_engine().connect() as connection:
        driver = connection.connection.driver_connection
        assert driver is not None
        assert driver.prepare_threshold is None
