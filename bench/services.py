"""A service for a measurement: a database and a folder of its own, processes as in production."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import flask_migrate
import psycopg
from flask import Flask
from sqlalchemy import make_url

from app.config import Config, database_url
from app.db.engines import transaction
from app.extensions import db
from app.factory import create_app
from bench.peers.processes import ended_in_order, ending_with_us

ROOT = Path(__file__).parents[1]
SECRET_KEY = "a key for measurements only, long enough"


@dataclass
class Place:
    """Where a measured service lives; ``app`` is the same application in this process."""

    folder: Path
    database: str
    redis: str | None
    app: Flask
    settings: Mapping[str, str]
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(
        self, *command: str, prefix: Sequence[str] = (), **more: str
    ) -> subprocess.Popen[bytes]:
        """A process of the service, in a group of its own; its output goes to ``folder/log``.

        Args:
            prefix: a command before it, such as one that enters a network namespace.
            more: environment variables.
        """
        environment = {
            **os.environ,
            "SECRET_KEY": SECRET_KEY,
            "DATABASE_URL": self.database,
            "DATA_DIR": str(self.folder),
            "DEMO_DATA": "0",
            "LOG_FORMAT": "json",
            **({"REDIS_URL": self.redis} if self.redis else {}),
            **self.settings,
            **more,
        }
        with (self.folder / "log").open("ab") as log:
            process = subprocess.Popen(
                [*prefix, *ending_with_us(), sys.executable, "-m", *command],
                cwd=ROOT, env=environment,
                stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        self.processes.append(process)
        return process

    def start_worker(self, prefix: Sequence[str] = ()) -> subprocess.Popen[bytes]:
        """``flask worker``."""
        return self.start("flask", "--app", "wsgi", "worker", prefix=prefix)

    def stop_all(self) -> None:
        """End every process that still runs, gracefully at first."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            for process in self.processes:
                if process.poll() is None:
                    signal_group(process, number)
            deadline = time.monotonic() + 28
            for process in self.processes:
                try:
                    process.wait(max(0.1, deadline - time.monotonic()))
                except subprocess.TimeoutExpired:
                    continue


def signal_group(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """Send a signal to a process with all its children."""
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        return


def memory_mb(process: subprocess.Popen[bytes]) -> float:
    """Resident memory of a process; 0 when it has ended."""
    try:
        status = Path(f"/proc/{process.pid}/status").read_text("ascii")
    except FileNotFoundError:
        return 0.0
    line = next((line for line in status.splitlines() if line.startswith("VmRSS")), "VmRSS: 0")
    return int(line.split()[1]) / 1024


@contextmanager
def service(
    postgresql: str | None = None,
    redis: str | None = None,
    *,
    database: str | None = None,
    **settings: str,
) -> Iterator[Place]:
    """A migrated service without content, gone at the end.

    Args:
        postgresql: address of a server on which a database is made; None for SQLite.
        database: address of an empty database to use instead; it stays.
        settings: environment variables of its processes.
    """
    with (
        ended_in_order(),
        tempfile.TemporaryDirectory(prefix="measured-") as name,
        _database(postgresql, name, database) as url,
    ):
        folder = Path(name)
        env = {"SECRET_KEY": SECRET_KEY, "DATABASE_URL": url, "DATA_DIR": name, **settings}
        app = create_app(Config.from_env(env))
        with app.app_context():
            flask_migrate.upgrade()
        place = Place(folder, url, redis, app, settings)
        try:
            yield place
        finally:
            place.stop_all()
            with app.app_context():
                for engine in db.engines.values():
                    engine.dispose()


@contextmanager
def _database(server: str | None, folder: str, given: str | None) -> Iterator[str]:
    if given is not None:
        yield given
        return
    if server is None:
        yield f"sqlite:///{folder}/platform.db"
        return
    url = make_url(database_url(server))
    name = f"measured_{os.getpid()}"
    plain = url.set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(plain, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
        try:
            yield url.set(database=name).render_as_string(hide_password=False)
        finally:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


__all__ = ["Place", "memory_mb", "service", "signal_group", "transaction"]
