"""``make coverage`` counts what the processes of the tests run, whatever environment they get."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from tests.measured import VARIABLE, measure_children

TOLD = f"import os; print({VARIABLE!r} in os.environ, end='')"
# A process of ours, as far as its arguments go: it tells whether it could write before it ended.
ENDED = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: (os.write(1, b"written"), sys.exit()))
os.write(1, b"ready\\n")
time.sleep(60)
"""


class Popen(subprocess.Popen[Any]):
    """To be changed by these tests alone."""


def test_an_environment_of_its_own_hides_the_measuring_from_no_process() -> None:
    class Started(Popen):
        pass

    measure_children(Started, {VARIABLE: ""})
    with Started([sys.executable, "-c", TOLD], env={}, stdout=subprocess.PIPE) as process:
        assert process.communicate()[0] == b"True"


def test_a_run_that_is_not_measured_starts_and_ends_processes_as_ever() -> None:
    class Started(Popen):
        pass

    measure_children(Started, {})
    assert not {"__init__", "kill"} & set(vars(Started))


@pytest.mark.parametrize(
    ("argument", "written"), [("app.jobs.processes", b"written"), ("another", b"")]
)
def test_a_process_of_ours_writes_before_it_is_killed_and_no_other(
    argument: str, written: bytes
) -> None:
    class Started(Popen):
        pass

    measure_children(Started, {VARIABLE: ""})
    command = [sys.executable, "-c", ENDED, argument]
    with Started(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.kill()
        assert process.stdout.read() == written
