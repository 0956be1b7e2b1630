"""Put every fault to a running service, and print what came of it: ``make faults``.

python -m tests.faults [--ports 21000] [name ...]
"""

from __future__ import annotations

import argparse
import shutil
import sys
import traceback
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from bench.peers.processes import ended_in_order
from tests.faults import database, disk, neighbours, processes, rolling, slow
from tests.faults.bed import Bed, production_bed
from tests.faults.results import Report, Result
from tests.faults.servers import has_redis

Fault = Callable[[Bed, Report], None]

PRODUCTION: dict[str, Fault] = {
    "PostgreSQL restarted": database.restarted,
    "PostgreSQL away": database.away,
    "PostgreSQL frozen": database.frozen,
    "a lock held long": database.locked,
    "no connection left": database.crowded,
    "Redis restarted": neighbours.redis_restarted,
    "Redis away": neighbours.redis_away,
    "Redis frozen": neighbours.redis_frozen,
    "mail server away": neighbours.mail_away,
    "store of files away": neighbours.store_away,
    "model away": neighbours.model_away,
    "model silent": neighbours.model_silent,
    "web process killed": processes.web_process_killed,
    "web server killed": processes.web_killed,
    "worker killed": processes.worker_killed,
    "clock jumps": processes.clock_jumps,
    "reload under load": rolling.reloaded,
    "rolling restart of two hosts": rolling.hosts_in_turn,
    "slow headers": slow.headers,
    "slow bodies": slow.bodies,
}
# On SQLite and files; each is given the disk that it harms.
EMBEDDED: dict[str, Callable[[Bed, Report, Path], None]] = {
    "disk full": disk.full,
    "disk of the files full": disk.full_files,
    "files not writable": disk.read_only_files,
}


def main() -> int:
    """Returns 1 when a requirement is not met."""
    options = _options()
    results: list[Result] = []
    with ended_in_order(), ExitStack() as stack:
        faults = _chosen(PRODUCTION, options.names)
        if faults:
            bed = stack.enter_context(production_bed(options.ports))
            for name, fault in faults.items():
                results += _try(name, fault, bed)
    results += _embedded(options.ports, _chosen(EMBEDDED, options.names))
    failed = sum(one.passed is False for one in results)
    left_out = sum(one.passed is None for one in results)
    print(f"\n{len(results) - failed - left_out} met, {failed} not met, {left_out} not tried")
    return int(bool(failed))


def _embedded(ports: int | None, faults: dict[str, Any]) -> list[Result]:
    if not faults:
        return []
    try:
        with disk.on_small_disks(ports) as (bed, data, files):
            results = []
            for name, fault in faults.items():
                harmed = data if fault is disk.full else files
                results += _try(name, fault, bed, harmed)
            return results
    except PermissionError as error:
        report = Report("small disks")
        report.leave_out(str(error))
        return _show(report, "")


def _try(name: str, fault: Callable[..., None], bed: Bed, *more: Path) -> list[Result]:
    report = Report(name)
    try:
        bed.wait_until_ready()
        fault(bed, report, *more)
    except Exception as error:
        traceback.print_exc()
        report.check("the fault can be tried", False, f"{type(error).__name__}: {error}")
    return _show(report, fault.__doc__ or "")


def _show(report: Report, meaning: str) -> list[Result]:
    print(f"\n{report.fault}: {meaning.strip()}", flush=True)
    for one in report.results:
        word = {True: "met", False: "NOT MET", None: "not tried"}[one.passed]
        print(f"  {word:8} {one.requirement:62} {one.seen}", flush=True)
    return report.results


def _chosen(faults: dict[str, Any], names: list[str]) -> dict[str, Any]:
    return {
        name: fault for name, fault in faults.items()
        if not names or any(word.lower() in name.lower() for word in names)
    }  # fmt: skip


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Put faults to a running service.")
    parser.add_argument("names", nargs="*", help="parts of names; all faults when left out")
    parser.add_argument("--ports", type=int, help="the first of a hundred ports to use")
    return parser.parse_args()


if __name__ == "__main__":
    if not has_redis() or shutil.which("true") is None:
        sys.exit("redis-server is needed: install it, it is started by this command itself")
    sys.exit(main())
