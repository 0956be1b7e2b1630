"""A hundred open streams on one process of the real server, and what other requests notice.

    python -m bench.streams [--streams 100] [--seconds 20]

It starts gunicorn as the Procfile does, with one process, on a new SQLite database, and opens the
streams of as many answers that are being made. Other requests are timed before, and while all the
streams are open; then the answers end, and every reader must have heard its own.
"""

from __future__ import annotations

import argparse
import http.client
import os
import secrets
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import flask_migrate
from flask import Flask

from app.ai import store
from app.ai.parts import BUILT_IN
from app.auth.users import create_user
from app.clock import utc_now
from app.config import Config
from app.db.engines import transaction
from app.factory import create_app
from app.http.security import acting_as, make_caller, system_caller
from bench.peers.processes import children, ending_with_us, free_port

PASSWORD = "three-blue-kettles"
SECRET = "only-for-this-measurement-0123456789"


def main() -> int:
    """Measure and print; fails when a reader did not hear its answer."""
    options = _options()
    with tempfile.TemporaryDirectory() as folder:
        app, port = prepared(Path(folder)), free_port()
        server = serve(Path(folder), port)
        try:
            return measure(app, port, server.pid, options)
        finally:
            server.terminate()
            server.wait(30)


def measure(app: Flask, port: int, pid: int, options: argparse.Namespace) -> int:
    """Open the streams, time others, end the answers."""
    token = sign_in(port)
    before = times(port, token, options.seconds / 4)
    turns = [begin(app, number) for number in range(options.streams)]
    began = time.monotonic()
    readers = [Reader(port, token, key) for key, _, _ in turns]
    opened = time.monotonic() - began
    during = times(port, token, options.seconds)
    for _, session_id, message in turns:
        end(app, session_id, message)
    heard = sum(reader.hears(b"message.end") for reader in readers)
    for reader in readers:
        reader.close()
    print(f"{len(readers)} streams opened in {opened:.2f} s; {heard} heard the end")
    for name, values in (("without streams", before), ("with streams", during)):
        p95 = values[int(len(values) * 0.95)]
        print(f"{name:16} {len(values):5} requests, median {statistics.median(values):5.1f} ms,"
              f" 95th {p95:5.1f} ms, slowest {values[-1]:5.1f} ms")  # fmt: skip
    print(f"threads of the web process: {threads_of(pid)}")
    return int(heard != len(readers))


class Reader:
    """A client that reads one stream."""

    def __init__(self, port: int, token: str, session: str) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        self._socket.sendall(
            f"GET /api/ai/chat/stream?sessionId={session} HTTP/1.1\r\nHost: localhost\r\n"
            f"Authorization: Bearer {token}\r\n\r\n".encode()
        )
        self._seen = b""
        assert self.hears(b"message.start"), self._seen

    def close(self) -> None:
        """Leave."""
        self._socket.close()

    def hears(self, word: bytes) -> bool:
        """Read until ``word`` came; False when the stream ended before."""
        while word not in self._seen:
            found = self._socket.recv(65536)
            if not found:
                return False
            self._seen += found
        return True


def times(port: int, token: str, seconds: float) -> list[float]:
    """Milliseconds of other requests, one after the other, sorted."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    headers = {"Authorization": f"Bearer {token}"}
    found = []
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        begin_at = time.perf_counter()
        connection.request("GET", "/odata/Clients?$top=5", headers=headers)
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 200, answer.status
        found.append((time.perf_counter() - begin_at) * 1000)
        time.sleep(0.01)
    connection.close()
    return sorted(found)


def begin(app: Flask, number: int) -> tuple[str, int, Any]:
    """An answer that is being made for a long time: session key, session id, message."""
    caller = make_caller(1, "anna", "jwt", {})
    with app.app_context(), transaction(), acting_as(caller):
        session = store.new_session(caller, f"Question {number}")
        message = store.add_message(
            session["id"], "assistant", "", status="in_progress", model=BUILT_IN,
            leased_until=utc_now() + timedelta(hours=1),
        )  # fmt: skip
        store.add_events(session["id"], message["id"], [("message.start", {"n": number})])
    return session["key"], session["id"], message


def end(app: Flask, session_id: int, message: Any) -> None:
    """The answer is complete."""
    with app.app_context(), transaction():
        store.change_message(message["id"], {"status": "completed"})
        store.add_events(session_id, message["id"], [("message.end", {"status": "completed"})])


def prepared(folder: Path) -> Flask:
    """A database with one person in it."""
    app = create_app(
        Config(
            SECRET_KEY=SECRET,
            DATA_DIR=folder,
            SQLALCHEMY_DATABASE_URI=f"sqlite:///{folder / 'platform.db'}",
            LOG_FORMAT="json",
        )
    )
    with app.app_context():
        flask_migrate.upgrade()
        with transaction(), acting_as(system_caller("bench")):
            create_user(
                username="anna", email=None, display_name="Anna", password=PASSWORD,
                roles=["Manager"],
            )  # fmt: skip
    return app


def serve(folder: Path, port: int) -> subprocess.Popen[bytes]:
    """gunicorn as in the Procfile."""
    environment = {
        **os.environ, "DATA_DIR": str(folder), "PORT": str(port), "SECRET_KEY": SECRET,
        "RATE_LIMIT_USER": "1000000/minute", "DEMO_DATA": "0",
    }  # fmt: skip
    gunicorn = ["-m", "gunicorn", "--config", "gunicorn.conf.py", "wsgi:app"]
    command = [*ending_with_us(), sys.executable, *gunicorn]
    with (folder / f"web-{secrets.token_hex(4)}.log").open("wb") as log:
        server = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    for _ in range(150):
        # A connection is not enough: the port is shut until a process can answer.
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            connection.request("GET", "/healthz")
            connection.getresponse().read()
            connection.close()
            return server
        except (OSError, http.client.HTTPException):
            time.sleep(0.2)
    server.terminate()
    raise RuntimeError("the server did not start")


def sign_in(port: int) -> str:
    """An access token."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    body = f'{{"username":"anna","password":"{PASSWORD}"}}'
    connection.request("POST", "/api/auth/login", body, {"Content-Type": "application/json"})
    answer = connection.getresponse().read().decode()
    connection.close()
    return answer.partition('"accessToken":"')[2].partition('"')[0]


def threads_of(pid: int) -> int:
    """Threads of the worker process below gunicorn's master."""
    return sum(len(list(Path(f"/proc/{child}/task").iterdir())) for child in children(pid))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--streams", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=20)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
