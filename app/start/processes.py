"""Web and worker of the Procfile: started together, kept alive, stopped together."""

from __future__ import annotations

import os
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from honcho import manager as honcho_manager, printer as honcho_printer
from honcho.manager import Manager

from app.start.supervisor import STARTED_BY

ROOT = Path(__file__).parents[2]
PROCESSES = ("web", "worker")
START_SECONDS = 60
POLL_SECONDS = 0.1
# Both end by themselves, the worker after the job that it is at; its own limit is 25 seconds and
# that of the web process 30. The library would kill five seconds after the first has ended.
KILL_SECONDS = 32


class Printer(honcho_printer.Printer):  # type: ignore[misc]  # the library has no types
    """The library's, which is also asked in the handler of a signal.

    Where the signal comes in the middle of a line that is being written, Python refuses to write
    there: without this the supervisor would fail, and leave web and worker running.
    """

    def write(self, message: Any) -> None:
        """Print a line, or leave it out."""
        with suppress(RuntimeError):
            super().write(message)


def supervisor(printer: Printer, *, kill_seconds: float = KILL_SECONDS) -> Manager:
    """When one process has ended the others are told to, and killed ``kill_seconds`` later."""
    honcho_manager.KILL_WAIT = kill_seconds
    return Manager(printer)


def run_processes(env: Mapping[str, str], address: str, on_ready: Callable[[], None]) -> int:
    """Run web and worker until a signal ends both; returns the exit status.

    ``on_ready`` is called once the service answers at ``address``.
    """
    # The commands are found beside this Python, whether or not its environment is activated.
    path = f"{Path(sys.executable).parent}{os.pathsep}{env.get('PATH', os.defpath)}"
    manager = supervisor(Printer(sys.stdout))
    for name in PROCESSES:
        variables = {**env, "PATH": path, "PYTHONUNBUFFERED": "1", STARTED_BY: str(os.getpid())}
        # ``exec``: signals reach the program itself, not a shell that dies before it.
        keeper = f"exec python -m app.start.supervisor {name}"
        manager.add_process(name, keeper, env=variables, cwd=str(ROOT))
    threading.Thread(target=_call_when_ready, args=(address, on_ready), daemon=True).start()
    manager.loop()
    # Ctrl-C is how a run ends.
    return 0 if manager.returncode == 130 else int(manager.returncode or 0)


def _call_when_ready(address: str, on_ready: Callable[[], None]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"{address}/healthz", timeout=10):  # nosec B310  # our own http
                on_ready()
                return
        except (urllib.error.URLError, OSError):
            time.sleep(POLL_SECONDS)
