"""Reads go to a replica, and what must see the last commit does not, however far it lags."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import flask_migrate
import psycopg
import pytest
from flask import Flask

from app.auth.api_keys import create_api_key
from app.auth.users import create_user
from app.config import Config, database_url
from app.db.engines import transaction
from app.factory import create_app
from app.http.security import acting_as, system_caller
from tests.databases import close_engines
from tests.faults.servers import PostgreSQL, free_ports, running

PASSWORD = "three-blue-kettles-and-a-cup"
UNLIMITED = "1000000/minute"


@dataclass
class Replicated:
    """A service with a replica."""

    app: Flask
    primary: str
    replica: str

    def lag(self) -> None:
        """The replica stays where it is."""
        self._on_replica("SELECT pg_wal_replay_pause()")

    def catch_up(self) -> None:
        """The replica has what the primary has."""
        self._on_replica("SELECT pg_wal_replay_resume()")
        with psycopg.connect(self.primary) as connection:
            row = connection.execute("SELECT pg_current_wal_lsn()").fetchone()
        assert row is not None
        deadline = time.monotonic() + 60
        while not self._on_replica(f"SELECT pg_last_wal_replay_lsn() >= '{row[0]}'"):
            assert time.monotonic() < deadline
            time.sleep(0.05)

    def _on_replica(self, statement: str) -> bool:
        with psycopg.connect(self.replica, autocommit=True) as connection:
            row = connection.execute(statement).fetchone()  # type: ignore[arg-type]
        return bool(row and row[0])


@pytest.fixture
def replicated(data_dir: Path) -> Iterator[Replicated]:
    ports = free_ports()
    with tempfile.TemporaryDirectory(prefix="replica-") as name:
        Path(name).chmod(0o755)
        folders = [Path(name, folder) for folder in ("primary", "replica")]
        for folder in folders:
            folder.mkdir()
        first = PostgreSQL(folders[0], next(ports))
        with running(first):
            with psycopg.connect(first.url, autocommit=True) as connection:
                connection.execute("CREATE DATABASE platform")
            second = PostgreSQL(folders[1], next(ports), copied_from=first)
            with running(second):
                primary, replica = (f"{cluster.url}/platform" for cluster in (first, second))
                app = create_app(
                    Config(
                        SECRET_KEY="not-a-secret-only-for-the-tests-of-this-run",
                        DATA_DIR=data_dir, RATE_LIMIT_API_KEY=UNLIMITED, TESTING=True,
                        SQLALCHEMY_DATABASE_URI=database_url(primary),
                        DATABASE_REPLICA_URL=database_url(replica),
                    )
                )  # fmt: skip
                with app.app_context():
                    flask_migrate.upgrade()
                pair = Replicated(app, primary, replica)
                pair.catch_up()
                yield pair
                close_engines(app)


@pytest.mark.needs("postgresql")
def test_a_lagging_replica_shows_old_lists_and_no_old_rights(replicated: Replicated) -> None:
    app, client = replicated.app, replicated.app.test_client()
    with app.app_context(), transaction(), acting_as(system_caller("cli")):
        key = create_api_key(name="replica", role="Admin").key
        create_user(
            username="anna", email=None, display_name="Anna", password=PASSWORD, roles=["Admin"]
        )
    headers = {"X-API-Key": key}
    replicated.catch_up()
    replicated.lag()

    created = client.post("/odata/Clients", json={"name": "New"}, headers=headers)
    assert created.status_code == 201
    assert client.get("/odata/Clients", headers=headers).json["value"] == []
    # A change of what the replica has not yet got.
    address = f"/odata/Clients({created.json['id']})"
    changed = client.patch(
        address, json={"notes": "x"}, headers={**headers, "If-Match": created.headers["ETag"]}
    )
    assert changed.status_code == 200
    assert changed.json["notes"] == "x"

    login = client.post("/api/auth/login", json={"username": "anna", "password": PASSWORD})
    bearer = {"Authorization": f"Bearer {login.json['accessToken']}"}
    assert client.get("/api/auth/me", headers=bearer).status_code == 200
    client.post("/api/auth/logout", headers=bearer)
    assert client.get("/api/auth/me", headers=bearer).status_code == 401

    again = {**headers, "Idempotency-Key": "once"}
    lead = client.post("/odata/Leads", json={"lastName": "Jones"}, headers=headers).json["id"]
    answers = [client.post(f"/api/crm/leads/{lead}/convert", json={}, headers=again)
               for _ in range(2)]  # fmt: skip
    assert answers[0].json == answers[1].json
    assert answers[1].headers["Idempotency-Replayed"] == "true"

    replicated.catch_up()
    names = {row["name"] for row in client.get("/odata/Clients", headers=headers).json["value"]}
    assert "New" in names
