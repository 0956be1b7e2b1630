"""How long the command of the README takes to its first answer, with the demo data there.

    python -m bench.start [--rounds 5]

The first start makes the data and does not count. Each further one runs from ``python -m
app.start`` to the first answer of ``/healthz`` and to the first page of clients for somebody with
a key; CPU is that of all processes until then. It fails when the median misses the budget.
"""

from __future__ import annotations

import argparse
import os
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.peers.processes import ending_with_us, free_port
from bench.services import ROOT, signal_group

BUDGET_SECONDS = 3.0
FIRST_SECONDS = 300
POLL_SECONDS = 0.02


@dataclass(frozen=True)
class Start:
    """Seconds from the command to the answers, and of CPU until it was stopped."""

    alive: float
    page: float
    cpu: float


def main() -> int:
    """Measure and print; fails when a start takes longer than its budget."""
    options = _options()
    with tempfile.TemporaryDirectory() as folder:
        environment = _environment(Path(folder))
        with running(environment) as base:
            first = since(time.perf_counter(), lambda: ask(f"{base}/healthz"), FIRST_SECONDS)
            key = make_key(environment)
        print(f"first start, with demo data: {first:.1f} s", flush=True)
        starts = [measure(environment, key) for _ in range(options.rounds)]
    print(f"{'':24}{'median':>8}{'least':>8}{'most':>8}")
    print_line("first answer, s", [one.alive for one in starts])
    print_line("first page of clients, s", [one.page for one in starts])
    print_line("CPU of all, s", [one.cpu for one in starts])
    missed = statistics.median(one.page for one in starts) > BUDGET_SECONDS
    print(f"budget {BUDGET_SECONDS:.0f} s: {'FAIL' if missed else 'pass'}")
    return int(missed)


def measure(environment: dict[str, str], key: str) -> Start:
    """One start of the service whose data is there."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    with running(environment) as base:
        alive = since(began, lambda: ask(f"{base}/healthz"))
        page = since(began, lambda: ask(f"{base}/odata/Clients?$top=10", key))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Start(alive, page, cpu)


@contextmanager
def running(environment: dict[str, str]) -> Iterator[str]:
    """The service for the length of a block; yields its address."""
    port = free_port()
    process = subprocess.Popen(
        [*ending_with_us(), sys.executable, "-m", "app.start"],
        cwd=ROOT, env={**environment, "PORT": str(port)},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        signal_group(process, signal.SIGINT)
        process.wait(60)


def since(began: float, asked: Callable[[], bool], seconds: float = 60) -> float:
    """Seconds from ``began`` until ``asked`` is answered.

    Raises: TimeoutError.
    """
    while time.perf_counter() - began < seconds:
        if asked():
            return time.perf_counter() - began
        time.sleep(POLL_SECONDS)
    raise TimeoutError(f"no answer within {seconds:.0f} s")


def ask(url: str, key: str | None = None) -> bool:
    """Whether ``url`` answers with 200."""
    request = urllib.request.Request(url, headers={"X-API-Key": key} if key else {})
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:
            return bool(answer.status == 200 and answer.read())
    except (urllib.error.URLError, OSError):
        return False


def make_key(environment: dict[str, str]) -> str:
    """An API key that may read clients."""
    command = [sys.executable, "-m", "flask", "--app", "wsgi", "api-key", "create", "bench.start",
               "--role", "Viewer"]  # fmt: skip
    made = subprocess.run(
        command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True
    )
    return next(word for word in made.stdout.split() if word.startswith("bpk_"))


def print_line(name: str, values: list[float]) -> None:
    """Median, least and most of ``values``."""
    figures = (statistics.median(values), min(values), max(values))
    print(f"{name:24}" + "".join(f"{value:8.2f}" for value in figures))


def _environment(folder: Path) -> dict[str, str]:
    """Nothing but what a laptop has, and a folder of its own."""
    home = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return {**home, "DATA_DIR": str(folder)}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.start", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
