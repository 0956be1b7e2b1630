"""A reload: the old workers serve until the new ones have loaded the application."""

from __future__ import annotations

import http.client
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from bench.peers.processes import free_port
from tests.faults.servers import is_listening

ROOT = Path(__file__).parents[1]
# The application takes longer to load than a caller waits for an answer.
LOADING_SECONDS, PATIENCE_SECONDS = 8, 4
APPLICATION = f"""
import os, pathlib, time
here = pathlib.Path(__file__).parent
if (here / "slow").exists():
    time.sleep({LOADING_SECONDS})

def application(environ, start_response):
    start_response("200 OK", [("Content-Length", "10")])
    return [b"%10d" % os.getpid()]
"""
HOOKS = """
from app.web_sockets import hold_back, let_in
from app.web_worker import succession

hold_back()

def on_reload(arbiter):
    succession.begin()

def post_worker_init(worker):
    let_in(worker)
    succession.note_ready(worker)
"""


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    (tmp_path / "hello.py").write_text(APPLICATION)
    (tmp_path / "hooks.py").write_text(HOOKS)
    port = free_port()
    command = [
        sys.executable, "-m", "gunicorn", "--config", str(tmp_path / "hooks.py"), "--threads", "4",
        "--worker-class", "app.web_worker.LingeringWorker", "--bind", f"127.0.0.1:{port}",
        "--pythonpath", str(tmp_path), "--no-control-socket", "hello:application",
    ]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as server:
        try:
            while not is_listening(port):
                time.sleep(0.05)
            yield port, server
        finally:
            server.terminate()


def worker_at(port: int) -> int:
    """The process that answers a new connection."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)
    try:
        connection.request("GET", "/")
        return int(connection.getresponse().read())
    finally:
        connection.close()


@pytest.mark.requirement("DUR-17")
def test_a_reload_keeps_nobody_waiting(
    served: tuple[int, subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    port, server = served
    (tmp_path / "slow").touch()
    before = worker_at(port)
    server.send_signal(signal.SIGHUP)
    deadline = time.monotonic() + 60
    while worker_at(port) == before:  # each answered, while the other loads
        assert time.monotonic() < deadline, "the new worker never came"
        time.sleep(0.1)


def test_nobody_is_let_in_before_the_application_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "hello.py").write_text(APPLICATION)
    (tmp_path / "hooks.py").write_text(HOOKS)
    (tmp_path / "slow").touch()
    port = free_port()
    command = [
        sys.executable, "-m", "gunicorn", "--config", str(tmp_path / "hooks.py"), "--bind",
        f"127.0.0.1:{port}", "--worker-class", "app.web_worker.LingeringWorker",
        "--pythonpath", str(tmp_path), "--no-control-socket", "hello:application",
    ]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as server:
        try:
            deadline = time.monotonic() + 60
            answered = 0
            while not answered:
                assert time.monotonic() < deadline
                with suppress(ConnectionRefusedError):  # no reset, and no waiting
                    answered = worker_at(port)
        finally:
            server.terminate()
