"""Keeps one process of the Procfile alive: ``python -m app.start.supervisor worker``.

A host does this for every process of a deployment; on a laptop this module does.
"""

from __future__ import annotations

import ctypes
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from types import FrameType

from honcho.environ import parse_procfile

ROOT = Path(__file__).parents[2]
# What ends sooner did not work. If it never did, starting it again would only repeat its message.
STARTED_AFTER_SECONDS = 5.0
PAUSE_SECONDS = 0.5
# Between attempts of what has worked before: a disk may be full, a port not yet free.
PAUSES_BETWEEN_ATTEMPTS = 6
_PR_SET_PDEATHSIG = 1
# The process whose end ends all that it started.
STARTED_BY = "STARTED_BY"


class Keeper:
    """Runs ``command`` until it is told to stop, or the command ends of itself."""

    def __init__(self, command: str) -> None:
        self._command = shlex.split(command)
        self._process: subprocess.Popen[bytes] | None = None
        self._is_stopping = False

    def run(self) -> int:
        """Returns the exit status of the last run of the command."""
        for signum in (signal.SIGTERM, signal.SIGINT):
            signal.signal(signum, self._stop)
        if started_by := os.environ.get(STARTED_BY):
            threading.Thread(target=self._watch, args=(int(started_by),), daemon=True).start()
        has_worked = False
        while True:
            started_at = time.monotonic()
            self._process = subprocess.Popen(self._command, preexec_fn=_die_with_parent)
            status = self._process.wait()
            was_up = time.monotonic() - started_at > STARTED_AFTER_SECONDS
            has_worked = has_worked or was_up
            if self._is_stopping or status == 0 or not has_worked:
                return status
            # The disk of the log may be full, which is no reason to let the process stay away.
            with suppress(OSError):
                print(f"ended with status {status}, and is started again", flush=True)
            if not self._wait(1 if was_up else PAUSES_BETWEEN_ATTEMPTS):
                return status

    def _wait(self, pauses: int) -> bool:
        """Wait before the next run; False as soon as there shall be none."""
        for _ in range(pauses):
            time.sleep(PAUSE_SECONDS)
            if self._is_stopping:
                return False
        return True

    def _watch(self, pid: int) -> None:
        """Stop when the process that started all is gone, even if it was killed."""
        while not self._is_stopping:
            try:
                os.kill(pid, 0)
            except ProcessLookupError:
                self._stop(signal.SIGTERM, None)
            time.sleep(PAUSE_SECONDS)

    def _stop(self, signum: int, frame: FrameType | None) -> None:
        self._is_stopping = True
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)


def _die_with_parent() -> None:
    """Linux ends the process with its keeper, even if that is killed; elsewhere nothing does."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def command_of(name: str) -> str:
    """What the Procfile says under ``name``."""
    commands = parse_procfile((ROOT / "Procfile").read_text("utf-8")).processes
    return str(commands[name])


if __name__ == "__main__":
    os.chdir(ROOT)
    sys.exit(Keeper(command_of(sys.argv[1])).run())
