"""Measure the service beside SAP CAP and print the ratios of CPU time against the budgets.

    python -m bench.peers --peers DIR [--sqlite] [--postgresql URL] [--plain] [--rounds 3]

Both serve the same 100,000 clients with their contacts, invoices and lines, each in one process on
core 0, while the requests come from core 1. Ours checks tokens, limits, permissions and ETags, and
writes audit and event rows; CAP checks a token and counts requests. The rows are made once and kept
in the work folder. With ``--plain`` the libraries alone answer as well: where they exceed a budget,
nothing that is built on them can keep it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from bench.peers import report, workloads
from bench.peers.databases import Database, Postgresql, Sqlite
from bench.peers.processes import BenchError, Server
from bench.peers.rows import load_ours
from bench.peers.servers import Rig, our_token, peer_token

LEAST_CLIENTS = 10_123  # measure.py asks for keys up to here
DEFAULT_WORK = Path(tempfile.gettempdir()) / f"bench-peers-{os.getuid()}"


def main() -> int:
    """Measure on each database; 1 if a budget is exceeded or a request failed."""
    options = _options()
    options.work.mkdir(parents=True, exist_ok=True)
    databases: list[Database] = []
    if options.sqlite or not options.postgresql:
        databases.append(Sqlite(options.work))
    if options.postgresql:
        databases.append(Postgresql.at(options.postgresql))
    try:
        passed = [_measure(database, options) for database in databases]
    except BenchError as error:
        print(error, file=sys.stderr)
        return 2
    return int(not all(passed))


def _measure(database: Database, options: argparse.Namespace) -> bool:
    rig = Rig(options.peers, options.work, database)
    _load(rig, options.clients)
    with ExitStack() as running:
        servers = {"ours": running.enter_context(rig.ours())}
        servers["cap"] = running.enter_context(rig.cap())
        if options.plain:
            servers["plain"] = running.enter_context(rig.plain())
        figures = _drive(rig, servers, options)
    found = report.lines(figures, database.name)
    print(report.render(found, database.name, figures["memory_mib"]))
    return all(line.passes for line in found)


def _load(rig: Rig, clients: int) -> None:
    rig.database.prepare()
    if not rig.database.has_peer_rows():
        _tell(f"{rig.database.name}: making the peers' rows")
        command = [sys.executable, "make_data.py", "--clients", str(clients)]
        subprocess.run(
            [*command, *rig.database.make_data_options()], cwd=rig.peers, check=True
        )  # fmt: skip
    load_ours(rig.database, rig.peers, rig.work, clients, _tell)


def _drive(rig: Rig, servers: dict[str, Server], options: argparse.Namespace) -> report.Figures:
    output = rig.work / "figures.json"
    output.unlink(missing_ok=True)
    command = [sys.executable, "-m", "bench.peers.drive", str(rig.peers)]
    command += ["--seconds", str(options.seconds), "--rounds", str(options.rounds)]
    command += ["--workloads", options.workloads, "--json", str(output)]
    tokens = {"ours": our_token(servers["ours"]), "cap": peer_token()}
    for name, server in servers.items():
        command += ["--server", f"{name}={server.url}"]
        command += ["--pid", f"{name}={','.join(map(str, server.roots))}"]
        if name in tokens:
            command += ["--token", f"{name}={tokens[name]}"]
    for name, paths in (("ours", workloads.OURS), ("cap", workloads.PEER)):
        file = rig.work / f"paths-{name}.json"
        file.write_text(json.dumps(paths))
        command += ["--paths", f"{name}={file}"]
    finished = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if not output.exists():
        raise BenchError(f"measure.py gave up:\n{finished.stdout[-1500:]}")
    (rig.work / f"measure-{rig.database.name}.txt").write_text(finished.stdout)
    for line in finished.stdout.splitlines():
        if line.startswith("ERRORS"):
            _tell(line)
    figures: report.Figures = json.loads(output.read_text())
    return figures


def _tell(message: str) -> None:
    print(message, file=sys.stderr)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.peers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    peers = os.environ.get("PEERS_DIR")
    add("--peers", type=Path, default=peers, required=not peers, help="their folder; PEERS_DIR")
    add("--work", type=Path, default=DEFAULT_WORK, help="where rows and logs are kept")
    add("--sqlite", action="store_true", help="on SQLite; the default")
    add("--postgresql", metavar="URL", help="on this PostgreSQL server, in databases of our own")
    add("--plain", action="store_true", help="also the libraries alone (bench/peers/plain.py)")
    add("--clients", type=int, default=100_000, help="rows, where none are there yet")
    add("--workloads", default=",".join(workloads.BUDGETS), help="some of W1 to W8")
    add("--seconds", type=float, default=2.5, help="for a server, workload and round")
    add("--rounds", type=int, default=3)
    options = parser.parse_args()
    if options.clients < LEAST_CLIENTS:
        parser.error(f"at least {LEAST_CLIENTS} clients are asked for")
    options.peers, options.work = Path(options.peers).resolve(), options.work.resolve()
    return options


if __name__ == "__main__":
    sys.exit(main())
