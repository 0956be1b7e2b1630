"""Under ``make coverage`` the processes that the tests start are measured like the tests.

Coverage tells a new process so in a variable. Some processes get an environment of their own, and
one of app/jobs/processes.py is ended by a signal that leaves no time to write anything down.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

VARIABLE = "COVERAGE_PROCESS_CONFIG"
_CHILD = "app.jobs.processes"
_SECONDS_TO_WRITE = 3.0


def measure_children(popen: type[subprocess.Popen[Any]], environment: Mapping[str, str]) -> None:
    """Let ``popen`` hand the variable on, and end processes of ours so that they can write.

    Nothing changes where ``environment`` has no such variable: outside of ``make coverage``.
    """
    if VARIABLE not in environment:
        return
    start, kill = popen.__init__, popen.kill

    def start_measured(self: subprocess.Popen[Any], *given: Any, **named: Any) -> None:
        if named.get("env") is not None:
            named["env"] = {**named["env"], VARIABLE: environment[VARIABLE]}
        start(self, *given, **named)

    def end_measured(self: subprocess.Popen[Any]) -> None:
        if _CHILD in self.args:  # type: ignore[operator]
            self.terminate()
            with suppress(subprocess.TimeoutExpired):
                self.wait(_SECONDS_TO_WRITE)
        kill(self)

    popen.__init__ = start_measured  # type: ignore[method-assign]
    popen.kill = end_measured  # type: ignore[method-assign]


def measure_what_tests_start() -> None:
    """For the whole run."""
    measure_children(subprocess.Popen, os.environ)
