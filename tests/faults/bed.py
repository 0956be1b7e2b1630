"""What the faults are put to: web processes, a worker, and servers of their own."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

import boto3
import orjson
import psycopg
import pytest
from sqlalchemy import select

from app.auth.api_keys import create_api_key
from app.config import database_url
from app.db.engines import primary_engine, transaction
from app.http.security import acting_as, system_caller
from app.models.client import Client
from app.models.event import Event
from app.models.webhook import WebhookDelivery
from app.webhooks.endpoints import register_endpoint
from bench.kills import settled
from bench.receiver import ReceiverProcess
from bench.services import Place, service
from tests.faults.results import Report
from tests.faults.servers import (
    ObjectStore,
    PostgreSQL,
    Redis,
    children_of,
    free_ports,
    running,
)
from tests.faults.traffic import Ledger
from tests.object_store import CREDENTIALS

UNLIMITED = "100000000/minute"
READY_SECONDS = 180


@dataclass
class Bed:
    """A running service; servers that it does without are None."""

    place: Place
    port: int
    key: str
    receiver: ReceiverProcess
    web: subprocess.Popen[bytes]
    worker: subprocess.Popen[bytes]
    postgresql: PostgreSQL | None = None
    redis: Redis | None = None
    s3: ObjectStore | None = None
    mail_port: int = 0
    model_port: int = 0

    def ask(self, path: str, method: str = "GET", body: Any = None) -> tuple[int, Any]:
        """Status and JSON of one request, over a connection of its own; (0, None): no answer."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=20)
        headers = {"X-API-Key": self.key, "Content-Type": "application/json"}
        try:
            content = None if body is None else orjson.dumps(body)
            connection.request(method, path, content, headers)
            response = connection.getresponse()
            return response.status, orjson.loads(response.read() or b"null")
        except (OSError, HTTPException):
            return 0, None
        finally:
            connection.close()

    def download(self, document: int) -> bytes | None:
        """The bytes of a document; None when the service does not give them."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            path = f"/api/documents/{document}/download"
            connection.request("GET", path, headers={"X-API-Key": self.key})
            response = connection.getresponse()
            content = response.read()
            return content if response.status == 200 else None
        except (OSError, HTTPException):
            return None
        finally:
            connection.close()

    def wait_until_ready(self, seconds: float = READY_SECONDS) -> float:
        """Until the service can serve; returns how long that took.

        Raises: TimeoutError, it cannot.
        """
        began = time.monotonic()
        while self.ask("/readyz")[0] != 200:
            if time.monotonic() - began > seconds:
                log = (self.place.folder / "log").read_text("utf-8", "replace")
                raise TimeoutError(f"not ready; its log ends with\n{log[-1500:]}")
            time.sleep(0.1)
        return time.monotonic() - began

    @property
    def web_master(self) -> int:
        """gunicorn's first process."""
        return children_of(self.web.pid)[0]

    def check_kept(self, report: Report, ledger: Ledger) -> None:
        """Every acknowledged write is there, none is there twice, every event arrives."""
        kept = look_at_kept(self.place, self.receiver, ledger)
        report.check(
            "nothing acknowledged is lost, nothing is there twice",
            bool(ledger.created) and not kept.lost and not kept.twice,
            f"{len(ledger.created)} acknowledged, {kept.lost} lost, {kept.twice} twice",
        )
        report.check(
            "the event of every write arrives",
            not kept.missing,
            f"{kept.written} written, {len(kept.missing)} events missing"
            + "".join(f"; {each}" for each in kept.missing[:3]),
        )


@dataclass(frozen=True)
class Kept:
    """What is there of what callers wrote; ``missing``: where events are that did not come."""

    written: int
    lost: int
    twice: int
    missing: list[str]


def look_at_kept(place: Place, receiver: ReceiverProcess, ledger: Ledger) -> Kept:
    """What is there, once all events have come, or no more come.

    Each look is at one state: a request that was cut off may be done while we look.
    """
    columns = (
        Client.name, Client.id, Event.id.label("event"), Event.dispatched_at,
        WebhookDelivery.message_id, WebhookDelivery.status, WebhookDelivery.attempts,
        WebhookDelivery.leased_until,
    )  # fmt: skip
    told = (Event.entity_id == Client.id) & (Event.type == "client.created")
    owed = WebhookDelivery.event_id == Event.id
    statement = (
        select(*columns)
        .outerjoin_from(Client, Event, told)
        .outerjoin(WebhookDelivery, owed)
        .order_by(Client.id)
    )

    def look() -> Kept:
        with place.app.app_context(), primary_engine().connect() as connection:
            rows = [row for row in connection.execute(statement) if row.name in ledger.sent]
        came = receiver.ask("counts").get("all", {})
        ours = {row.name: row.id for row in rows}
        return Kept(
            written=len(rows),
            lost=len(ledger.created.items() - ours.items()),
            twice=len(rows) - len(ours),
            missing=[str(row) for row in rows if row.message_id not in came],
        )

    return settled(look, lambda kept: len(kept.missing))


@contextmanager
def production_bed(first_port: int | None) -> Iterator[Bed]:
    """PostgreSQL, Redis, S3, SMTP, two web processes and a worker."""
    ports = free_ports(first_port)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="faults-")))
        folder.chmod(0o755)
        postgresql, redis, s3 = (
            kind(_made(folder / kind.__name__.lower()), next(ports))
            for kind in (PostgreSQL, Redis, ObjectStore)
        )
        stack.enter_context(running(postgresql, redis, s3))
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        for name, value in {**CREDENTIALS, "AWS_ENDPOINT_URL": s3.url}.items():
            patch.setenv(name, value)
        boto3.client("s3", region_name="us-east-1").create_bucket(Bucket="faults")
        mail_port, model_port = next(ports), next(ports)
        place = stack.enter_context(
            service(
                None, redis.url, database=_new_database(postgresql), WEB_CONCURRENCY="2",
                STORAGE_URL="s3://faults/files",
                MAIL_URL=f"smtp://127.0.0.1:{mail_port}?starttls=never",
                AI_BASE_URL=f"http://127.0.0.1:{model_port}/v1", **_settings(),
            )
        )  # fmt: skip
        bed = stack.enter_context(_served(place, next(ports)))
        bed.postgresql, bed.redis, bed.s3 = postgresql, redis, s3
        bed.mail_port, bed.model_port = mail_port, model_port
        yield bed


@contextmanager
def small_bed(first_port: int | None, folder: Path, storage: Path) -> Iterator[Bed]:
    """SQLite and files, one web process and a worker; all they write is below the two folders."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(folder))
        with (
            service(STORAGE_URL=f"file://{storage}", TMPDIR=str(folder), **_settings()) as place,
            _served(place, next(free_ports(first_port))) as bed,
        ):
            yield bed


def wait_for_port(port: int, seconds: float = READY_SECONDS) -> None:
    """Until the service at ``port`` can serve.

    Raises: TimeoutError, it cannot.
    """
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        connection = HTTPConnection("127.0.0.1", port, timeout=5)
        try:
            connection.request("GET", "/readyz")
            if connection.getresponse().status == 200:
                return
        except (OSError, HTTPException):
            pass
        finally:
            connection.close()
        time.sleep(0.1)
    raise TimeoutError(f"nothing answers on port {port}")


def _new_database(server: PostgreSQL) -> str:
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("CREATE DATABASE faults")
    return database_url(f"{server.url}/faults")


def _settings() -> dict[str, str]:
    return {
        "WEBHOOK_ALLOW_PRIVATE": "1",
        "WEBHOOK_RETRY_SCHEDULE": ",".join(["1"] * 200),
        "RATE_LIMIT_API_KEY": UNLIMITED,
        "RATE_LIMIT_USER": UNLIMITED,
        "RATE_LIMIT_AUTH": UNLIMITED,
    }


@contextmanager
def _served(place: Place, port: int) -> Iterator[Bed]:
    receiver = ReceiverProcess()
    try:
        with place.app.app_context(), transaction(), acting_as(system_caller("cli")):
            register_endpoint(url=f"{receiver.url}/hook/all", patterns=["client.*"])
            key = create_api_key(name="faults", role="Admin").key
        web = place.start("app.start.supervisor", "web", PORT=str(port), **_path())
        worker = place.start("app.start.supervisor", "worker", **_path())
        bed = Bed(place, port, key, receiver, web, worker)
        bed.wait_until_ready()
        yield bed
    finally:
        place.stop_all()
        receiver.stop()


def _path() -> dict[str, str]:
    """The Procfile's programs are those beside this Python."""
    return {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"}


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder
