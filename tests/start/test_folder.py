"""One folder, one service."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import urllib.request
from contextlib import suppress
from pathlib import Path

import pytest

from app.config import ConfigError
from app.start.checks import hold_folder
from bench.peers.processes import free_port

ROOT = Path(__file__).parents[2]


def start(folder: Path, port: int) -> subprocess.Popen[str]:
    """``make run``, which has a group of its own."""
    variables = {
        "PATH": os.environ["PATH"], "DATA_DIR": str(folder), "PORT": str(port), "DEMO_DATA": "0",
        "ADMIN_PASSWORD": "three-blue-kettles",
    }  # fmt: skip
    return subprocess.Popen(
        [sys.executable, "-m", "app.start"], cwd=ROOT, env=variables, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
    )  # fmt: skip


def answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=10) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


@pytest.mark.costly(0)
def test_of_two_that_are_started_together_on_an_empty_folder_one_serves(tmp_path: Path) -> None:
    ports = [free_port(), free_port()]
    services = [start(tmp_path / "data", port) for port in ports]
    try:
        deadline = time.monotonic() + 120
        while all(service.poll() is None for service in services):
            assert time.monotonic() < deadline, "both go on"
            time.sleep(0.1)
        (refused,) = [service for service in services if service.poll() is not None]
        (serving,) = [service for service in services if service is not refused]
        port = ports[services.index(serving)]
        assert refused.stdout is not None
        (line,) = refused.stdout.read().splitlines()
        assert line.startswith("Cannot start: DATA_DIR ")
        assert f"process {serving.pid} at http://127.0.0.1:{port}" in line
        assert refused.returncode == 1
        while not answers(port):
            assert time.monotonic() < deadline and serving.poll() is None
            time.sleep(0.2)
        with pytest.raises(ConfigError, match=f"process {serving.pid} "):
            hold_folder(tmp_path / "data", "http://127.0.0.1:1")
        serving.kill()  # without a word; what it started ends with it
        serving.wait(10)
        while True:
            with suppress(ConfigError):
                hold_folder(tmp_path / "data", "http://127.0.0.1:1").close()
                break
            assert time.monotonic() < deadline, "the lock outlives the service"
            time.sleep(0.1)
    finally:
        for service in services:
            with suppress(ProcessLookupError):
                os.killpg(service.pid, signal.SIGKILL)
            service.communicate(timeout=10)
