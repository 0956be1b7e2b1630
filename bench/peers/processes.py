"""Servers as child processes: pinned to a core, awaited until they answer, ended by number."""

from __future__ import annotations

import http.client
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

SERVER_CORE = 0
READY_SECONDS = 90
STOP_SECONDS = 15

# Below those that the kernel gives to outgoing connections and to whoever asks for any port: one of
# theirs may be taken in the seconds until the server listens.
PORTS = range(21_000, 30_000)


class BenchError(Exception):
    """The measurement cannot be made; the message says why in a line."""


@dataclass(frozen=True)
class Server:
    """A running server: ``roots`` are the processes whose trees are charged for its work."""

    name: str
    port: int
    roots: tuple[int, ...]

    @property
    def url(self) -> str:
        """Root of its OData service."""
        return f"http://127.0.0.1:{self.port}/odata"


@contextmanager
def serving(
    name: str,
    command: Sequence[str],
    *,
    port: int,
    ready: str,
    folder: Path,
    log: Path,
    env: Mapping[str, str],
    also: Sequence[int] = (),
) -> Iterator[Server]:
    """Run ``command`` pinned to one core for the length of the block.

    Args:
        ready: a path that answers, with any status, when the server is up.
        also: roots of other trees that work for this server, such as a database.
    Raises: BenchError, the server ended or did not answer; the message shows the end of its log.
    """
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*ending_with_us(), "taskset", "-c", str(SERVER_CORE), *command],
            cwd=folder,
            env={**os.environ, **env},
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        _await(name, process, port, ready, log)
        yield Server(name, port, (process.pid, *also))
    finally:
        stop(process)


def ending_with_us() -> tuple[str, ...]:
    """What stands before a command whose process Linux ends (TERM) with ours, even a killed one."""
    program = shutil.which("setpriv")
    return (program, "--pdeathsig", "TERM", "--") if program else ()


@contextmanager
def ended_in_order() -> Iterator[None]:
    """Who is told to end (TERM) within the block leaves it: no process and no folder stays."""
    if threading.current_thread() is not threading.main_thread():  # Python lets no other ask
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def stop(process: subprocess.Popen[bytes]) -> None:
    """End ``process`` and what it started: politely, then not."""
    for signal_number in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is not None:
            return
        # The child leads a process group of its own, so nobody else is hit.
        os.killpg(process.pid, signal_number)
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            continue


def free_port() -> int:
    """A port of the loopback interface that nobody listens on, any of ``PORTS``."""
    while True:
        number = secrets.choice(PORTS)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", number))
            return number


def children(pid: int) -> list[int]:
    """The processes that a process, any of its threads, started and that still run."""
    try:
        texts = [file.read_text() for file in Path(f"/proc/{pid}/task").glob("*/children")]
    except OSError:  # it has just ended
        return []
    return sorted(int(word) for text in texts for word in text.split())


def process_tree(pid: int) -> list[int]:
    """A process and all that it has started, those that still run."""
    if not Path(f"/proc/{pid}").exists():
        return []
    return [pid, *(one for child in children(pid) for one in process_tree(child))]


def parent_of(pid: int) -> int:
    """The parent process of ``pid``, from /proc."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[1])


def _await(name: str, process: subprocess.Popen[bytes], port: int, ready: str, log: Path) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        try:
            connection.request("GET", ready)
            connection.getresponse().read()
            return
        except OSError:
            time.sleep(0.2)
        finally:
            connection.close()
    tail = log.read_text("utf-8", "replace")[-1500:]
    raise BenchError(f"{name} did not answer on port {port}:\n{tail}")
