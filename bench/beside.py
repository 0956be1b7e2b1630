"""Measure two checkouts of this service beside each other: is the change faster?

    python -m bench.beside ../before --database ours.db [--workloads read,create,patch]
    python -m bench.beside ../before --postgresql postgresql://postgres@127.0.0.1:5432

Each serves its own copy of the SQLite file, migrated by its own code, or the same database of
PostgreSQL, as production runs it, both in one process on core 0. They are asked in turn, a hundred
requests each, so that what else the machine does falls on both; CPU of the process tree, and of
the database server, is read from /proc in nanoseconds, and the last column is the ratio of the
time that the callers had to wait. The databases are those that
``python -m bench.peers`` has made: its user is signed in.
"""

from __future__ import annotations

import argparse
import http.client
import itertools
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.peers.databases import Database, Postgresql, Sqlite
from bench.peers.processes import BenchError, Server, process_tree
from bench.peers.rows import SECRET_KEY
from bench.peers.servers import REPOSITORY, Rig, our_token

CONNECTIONS = 4
BURST = 100
WARM_UP = 400
WORKLOADS = ("read", "create", "patch")
# Keys that are asked for, and numbers that no run before has used: a change must be one.
KEYS = 10_000
_numbers = itertools.count(time.time_ns() // 1_000_000 % 1_000_000_000)


def main() -> int:
    """Print for each workload what both cost and their ratio; 2 if it cannot be measured."""
    options = _options()
    try:
        with ExitStack() as running:
            before = running.enter_context(_serving("before", options.before, options))
            now = running.enter_context(_serving("now", REPOSITORY, options))
            os.sched_setaffinity(0, {1})
            print("CPU us a request       before      now    ratio    time", flush=True)
            for workload in options.workloads.split(","):
                _compare(workload, before, now, options.rounds)
    except BenchError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def _compare(workload: str, before: Side, now: Side, rounds: int) -> None:
    for side in (before, now):
        side.ask(workload, WARM_UP)
    costs: dict[str, list[Cost]] = {before.server.name: [], now.server.name: []}
    for number in range(rounds):
        for side in (before, now) if number % 2 else (now, before):
            costs[side.server.name].append(side.cost(workload))
    first, second = costs.values()
    pairs = list(zip(first, second, strict=True))
    ratio = statistics.median(new.cpu / old.cpu for old, new in pairs)
    time_ratio = statistics.median(new.seconds / old.seconds for old, new in pairs)
    middle = [statistics.median(one.cpu for one in side) for side in (first, second)]
    print(
        f"{workload:<18} {middle[0]:10.0f} {middle[1]:8.0f} {ratio:8.2f} {time_ratio:7.2f}",
        flush=True,
    )


@dataclass(frozen=True)
class Cost:
    """Of a burst: microseconds of CPU a request, and seconds until all were answered."""

    cpu: float
    seconds: float


@dataclass(frozen=True)
class Side:
    """One of the two servers, and who asks it."""

    server: Server
    token: str

    def cost(self, workload: str) -> Cost:
        """What a burst takes."""
        start, began = self._cpu(), time.perf_counter()
        self.ask(workload, BURST)
        seconds = time.perf_counter() - began
        spent = sum(after - start.get(process, 0) for process, after in self._cpu().items())
        return Cost(spent / (BURST * 1000), seconds)

    def _cpu(self) -> dict[int, int]:
        return {
            process: _cpu_nanoseconds(process)
            for root in self.server.roots
            for process in process_tree(root)
        }

    def ask(self, workload: str, count: int) -> None:
        """``count`` requests over ``CONNECTIONS`` connections at once.

        Raises: BenchError, one was refused.
        """
        refused: list[str] = []
        threads = [
            threading.Thread(target=self._ask, args=(workload, count // CONNECTIONS, refused))
            for _ in range(CONNECTIONS)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if refused:
            raise BenchError(f"{self.server.name}, {workload}: {refused[0]}")

    def _ask(self, workload: str, count: int, refused: list[str]) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=30)
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        for _ in range(count):
            method, path, body = _request(workload, next(_numbers))
            connection.request(method, path, json.dumps(body) if body else None, headers)
            answer = connection.getresponse()
            content = answer.read()
            if not 200 <= answer.status < 300:
                refused.append(f"{answer.status} {content[:300]!r}")
                break
        connection.close()


def _request(workload: str, number: int) -> tuple[str, str, dict[str, object] | None]:
    client = f"/odata/Clients({number * 37 % KEYS + 123})"
    if workload == "read":
        return "GET", f"{client}?$select=id,name,email", None
    if workload == "patch":
        return "PATCH", client, {"email": f"p{number}@measure.example"}
    body = {"name": f"Measured Client {number}", "email": f"m{number}@measure.example"}
    return "POST", "/odata/Clients", body


@contextmanager
def _serving(name: str, repository: Path, options: argparse.Namespace) -> Iterator[Side]:
    with tempfile.TemporaryDirectory(prefix=f"bench-beside-{name}-") as folder:
        rows: Database = Sqlite(Path(folder))
        if options.postgresql:
            rows = Postgresql.at(options.postgresql)
        else:
            shutil.copy(options.database, Path(folder) / "ours.db")
            _migrate(name, repository, rows, folder)
        with Rig(repository, Path(folder), rows, repository).ours() as server:
            yield Side(Server(name, server.port, server.roots), our_token(server))


def _migrate(name: str, repository: Path, rows: Database, folder: str) -> None:
    environment = {"SECRET_KEY": SECRET_KEY, "DATABASE_URL": rows.ours, "DATA_DIR": folder}
    migrated = subprocess.run(
        [sys.executable, "-m", "flask", "--app", "wsgi", "db", "upgrade"],
        cwd=repository,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    if migrated.returncode:
        raise BenchError(f"{name} cannot migrate the database: {migrated.stderr[-500:]}")


def _cpu_nanoseconds(process: int) -> int:
    try:
        threads = list(Path(f"/proc/{process}/task").iterdir())
        return sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads)
    except OSError:
        return 0  # it has ended meanwhile, as workers of a database server do


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before", type=Path, help="the other checkout")
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--database", type=Path, help="an SQLite file")
    where.add_argument("--postgresql", metavar="URL", help="the server with our database")
    parser.add_argument("--workloads", default=",".join(WORKLOADS))
    parser.add_argument("--rounds", type=int, default=30)
    options = parser.parse_args()
    unknown = set(options.workloads.split(",")) - set(WORKLOADS)
    has_rows = options.postgresql or options.database.is_file()
    if unknown or not has_rows or not (options.before / "wsgi.py").is_file():
        parser.error("a checkout, a database file and some of " + ", ".join(WORKLOADS))
    return options


if __name__ == "__main__":
    sys.exit(main())
