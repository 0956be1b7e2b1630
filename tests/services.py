"""The services beside which the tests run: which answer here, and what is left out without one.

A test for a service that is away is not collected, so nothing untested counts as passed; the end
of the run names what was left out. ``REQUIRE_SERVICES=1`` makes a service that is away an error.
"""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

import psycopg
import redis

from app.config import database_url


@dataclass(frozen=True)
class Service:
    """A service that tests may need; ``problem`` is None when it answers."""

    label: str
    url: str
    problem: str | None

    @property
    def place(self) -> str:
        """Host and port; never the password."""
        parts = urlsplit(self.url)
        if parts.hostname is None:
            return self.url
        return f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname


def find_services(env: Mapping[str, str]) -> dict[str, Service]:
    """Ask every service for a sign of life; a second each at most."""
    return {
        "postgresql": _probe(
            "PostgreSQL",
            database_url(env.get("TEST_DATABASE_URL") or "postgresql://postgres@127.0.0.1:5432"),
            _ask_postgresql,
        ),
        "redis": _probe(
            "Redis", env.get("TEST_REDIS_URL") or "redis://127.0.0.1:6379/15", _ask_redis
        ),
        "s3": _probe("S3", env.get("TEST_S3_URL") or "http://127.0.0.1:9000", _ask_port),
        "model": _probe("a model", env.get("TEST_AI_URL") or "http://127.0.0.1:8081/v1", _ask_port),
        "chromium": _program("Chromium", env.get("TEST_BROWSER") or "/usr/bin/chromium"),
        "curl": _program("curl", shutil.which("curl") or "/usr/bin/curl"),
        "nginx": _program("nginx", shutil.which("nginx") or "/usr/sbin/nginx"),
        # A PostgreSQL that a test brings along makes itself an account where the tests run as root.
        "useradd": _program(
            "useradd", shutil.which("useradd") or "/usr/sbin/useradd", is_wanted=os.geteuid() == 0
        ),
        "pgbouncer": _program("PgBouncer", shutil.which("pgbouncer") or "/usr/sbin/pgbouncer"),
    }


def required(env: Mapping[str, str]) -> tuple[str, ...]:
    """The services whose absence is an error.

    ``1`` means PostgreSQL and Redis; S3 is required where its address is given.
    """
    if env.get("REQUIRE_SERVICES") != "1":
        return ()
    return ("postgresql", "redis", "s3") if env.get("TEST_S3_URL") else ("postgresql", "redis")


def _probe(label: str, url: str, ask: Callable[[str], None]) -> Service:
    try:
        ask(url)
    except (OSError, psycopg.Error, redis.RedisError) as error:
        return Service(label, url, str(error).splitlines()[0] or type(error).__name__)
    return Service(label, url, None)


def _program(label: str, path: str, *, is_wanted: bool = True) -> Service:
    problem = "there is no such program" if is_wanted and not os.access(path, os.X_OK) else None
    return Service(label, path, problem)


def _ask_postgresql(url: str) -> None:
    plain = url.replace("postgresql+psycopg://", "postgresql://")
    psycopg.connect(plain, connect_timeout=1).close()


def _ask_redis(url: str) -> None:
    with redis.Redis.from_url(url, socket_connect_timeout=1) as client:
        client.ping()


def _ask_port(url: str) -> None:
    parts = urlsplit(url)
    socket.create_connection((str(parts.hostname), parts.port or 443), timeout=1).close()


SERVICES = find_services(os.environ)
