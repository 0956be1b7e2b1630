"""A process that dies is started again; one that never worked, or was told to stop, is not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from app.start import supervisor
from tests.processes import is_alive

KEEPER = """
import sys
from app.start import supervisor
supervisor.STARTED_AFTER_SECONDS = float(sys.argv[2])
supervisor.PAUSE_SECONDS = 0.01
sys.exit(supervisor.Keeper(sys.argv[1]).run())
"""
# Seconds after which a process has worked: a test waits longer, or none ends that late however busy
# the machine is.
SOON, LATE = "0.3", "20"
# Writes its process id into a file, so that the test can end it.
CHILD = "import os,sys,time; open(sys.argv[1],'a').write(str(os.getpid())+chr(10)); time.sleep(60)"


def pids(file: Path, count: int) -> list[int]:
    """The ids in ``file`` once there are ``count`` of them."""
    deadline = time.monotonic() + 15
    while time.monotonic() < deadline:
        lines = file.read_text().splitlines() if file.exists() else []
        if len(lines) >= count:
            return [int(line) for line in lines]
        time.sleep(0.02)
    raise AssertionError(f"{count} processes were not started")


@pytest.fixture
def command(tmp_path: Path) -> str:
    script = tmp_path / "child.py"
    script.write_text(CHILD)
    return f"{sys.executable} {script} {tmp_path / 'pids'}"


def test_killed_process_is_started_again_and_a_stop_ends_it(command: str, tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", KEEPER, command, SOON],
        stdout=subprocess.PIPE,
        cwd=supervisor.ROOT,
    ) as keeper:
        first = pids(tmp_path / "pids", 1)[0]
        time.sleep(0.5)
        os.kill(first, signal.SIGKILL)
        second = pids(tmp_path / "pids", 2)[1]
        assert is_alive(second)
        keeper.terminate()
        keeper.wait(15)
    assert not is_alive(second)


def test_process_is_started_again_where_nothing_can_be_logged(command: str, tmp_path: Path) -> None:
    with (
        open("/dev/full", "wb") as full,
        subprocess.Popen([sys.executable, "-c", KEEPER, command, SOON], stdout=full,
                         cwd=supervisor.ROOT) as keeper,
    ):  # fmt: skip
        first = pids(tmp_path / "pids", 1)[0]
        time.sleep(0.5)
        os.kill(first, signal.SIGKILL)
        # This one ends at once, as it would while the disk is full; the next is tried all the same.
        os.kill(pids(tmp_path / "pids", 2)[1], signal.SIGKILL)
        third = pids(tmp_path / "pids", 3)[2]
        assert is_alive(third)
        keeper.terminate()
        keeper.wait(15)
    assert not is_alive(third)


@pytest.mark.parametrize("status", [0, 3])
def test_process_that_ends_at_once_is_not_repeated(status: int) -> None:
    command = f"{sys.executable} -c 'raise SystemExit({status})'"
    ended = subprocess.run(
        [sys.executable, "-c", KEEPER, command, LATE],
        cwd=supervisor.ROOT,
        timeout=30,
        check=False,
    )
    assert ended.returncode == status


def test_commands_are_those_of_the_procfile() -> None:
    assert supervisor.command_of("worker") == "flask --app wsgi worker"
    assert supervisor.command_of("web").startswith("gunicorn ")
