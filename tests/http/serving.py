"""gunicorn with the settings of this service and a small application, for tests of the server."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.peers.processes import free_port
from tests.faults.servers import is_listening

ROOT = Path(__file__).parents[2]
# Answers with what it was sent; a large answer; one before the body is read; many open files.
APPLICATION = """
import os, time

def application(environ, start_response):
    path = environ["PATH_INFO"]
    if path == "/unread":
        body = b"unread"
    elif path == "/large":
        body = b"x" * 3_000_000
    elif path == "/process":
        body = b"%10d" % os.getpid()
    else:
        body = environ["wsgi.input"].read()
    if path == "/hog":
        held = []
        try:
            while True:
                held.append(os.dup(0))
        except OSError:
            time.sleep(2)
        for one in held:
            os.close(one)
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]
"""
# The application takes longer to load than a caller waits for an answer.
LOADING_SECONDS, PATIENCE_SECONDS = 8, 4
SLOWLY = f"""
import pathlib, time
if (pathlib.Path(__file__).parent / "slow").exists():
    time.sleep({LOADING_SECONDS})
"""
# A silent client, and one that takes nothing, is waited for: else several seconds.
WAITING_SECONDS = 2
WAITING = f"""
from app.http import connections

connections.RECEIVE_SECONDS = connections.SEND_SECONDS = {WAITING_SECONDS}
"""


@dataclass
class Server:
    """gunicorn with one process that serves; ``log`` is all it said."""

    port: int
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def workers(self) -> list[int]:
        """The processes that serve."""
        listed = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return [int(word) for word in listed.split()]


@contextmanager
def serving(
    folder: Path, *prefix: str, port: int | None = None, awaited: bool = True
) -> Iterator[Server]:
    """The server, for the length of the block, which begins when it serves.

    Args:
        prefix: a command before it.
        port: a free one when left out.
        awaited: False begins the block at once.
    """
    (folder / "hello.py").write_text(WAITING + SLOWLY + APPLICATION)
    port, log = port or free_port(), folder / "log"
    command = [
        *prefix, sys.executable, "-m", "gunicorn", "--config", str(ROOT / "gunicorn.conf.py"),
        "--pythonpath", str(folder), "hello:application",
    ]  # fmt: skip
    environment = {**os.environ, "PORT": str(port), "PYTHONPATH": str(ROOT)}
    environment.pop("WEB_CONCURRENCY", None)
    with (
        log.open("wb") as output,
        subprocess.Popen(command, env=environment, stderr=output, cwd=folder) as process,
    ):
        try:
            deadline = time.monotonic() + 60
            server = Server(port, process, log)
            while awaited and not (is_listening(port) and server.workers):
                assert time.monotonic() < deadline, log.read_text()
                time.sleep(0.05)
            yield server
        finally:
            process.terminate()
