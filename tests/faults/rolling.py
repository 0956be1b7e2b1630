"""A new version is rolled out while callers are at work: nobody may notice."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

from bench.nginx import find_nginx, nginx
from tests.faults.bed import Bed, wait_for_port
from tests.faults.results import Report
from tests.faults.traffic import traffic

ROUNDS = 3
CALLERS = 6


def reloaded(bed: Bed, report: Report) -> None:
    """gunicorn reloads (HUP) under load, three times."""
    with traffic(bed.port, bed.key, each=CALLERS) as ledger:
        for _ in range(ROUNDS):
            time.sleep(4)
            os.kill(bed.web_master, signal.SIGHUP)
        time.sleep(8)
    report.check_no_errors(ledger, "0 failed requests")
    report.check_in_time(ledger, 10)
    bed.check_kept(report, ledger)


def hosts_in_turn(bed: Bed, report: Report) -> None:
    """Two hosts behind nginx are stopped (TERM) and started in turn under load, three times."""
    if find_nginx() is None:
        report.leave_out("nginx is not installed")
        return
    ports = [bed.port + 41, bed.port + 42]
    folder = Path(bed.place.folder)
    hosts = [_start(bed, port) for port in ports]
    try:
        for port in ports:
            wait_for_port(port)
        front = bed.port + 43
        addresses = [f"127.0.0.1:{port}" for port in ports]
        with (
            nginx(folder, f"127.0.0.1:{front}", addresses),
            traffic(front, bed.key, each=CALLERS) as ledger,
        ):
            for turn in range(2 * ROUNDS):
                time.sleep(3)
                host = turn % 2
                hosts[host].terminate()
                status = hosts[host].wait(40)
                report.check(f"stop {turn + 1} ends in order", status == 0, f"status {status}")
                hosts[host] = _start(bed, ports[host])
                wait_for_port(ports[host])
            time.sleep(4)
    finally:
        for process in hosts:
            process.terminate()
        for process in hosts:
            process.wait(40)
    report.check_no_errors(ledger, "0 failed requests")
    report.check_in_time(ledger, 10)
    if ledger.errors():
        print((folder / "nginx.log").read_text("utf-8"))
    bed.check_kept(report, ledger)


def _start(bed: Bed, port: int) -> subprocess.Popen[bytes]:
    return bed.place.start("gunicorn", "--config", "gunicorn.conf.py", "wsgi:app", PORT=str(port))
