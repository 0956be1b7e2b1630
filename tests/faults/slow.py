"""Clients that send slowly, behind the documented proxy: nobody else waits (SEC-118 to 120)."""

from __future__ import annotations

import socket
import time
from contextlib import ExitStack
from pathlib import Path

from bench.nginx import find_nginx, nginx
from tests.faults.bed import Bed
from tests.faults.results import Report
from tests.faults.traffic import Ledger, caller_at

CLIENTS = 300
PROMPT_SECONDS = 2.0
HEADERS = b"GET /healthz HTTP/1.1\r\nHost: a\r\nX-Slow: "
BODY = (
    b"POST /api/auth/login HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
    b'Content-Length: 5000\r\n\r\n{"username": "'
)


def headers(bed: Bed, report: Report) -> None:
    """300 clients begin a request and send a byte of its headers now and then."""
    _slowly(bed, report, HEADERS)


def bodies(bed: Bed, report: Report) -> None:
    """300 clients begin a body and send a byte of it now and then."""
    _slowly(bed, report, BODY)


def _slowly(bed: Bed, report: Report, beginning: bytes) -> None:
    if find_nginx() is None:
        report.leave_out("nginx is not installed")
        return
    port = bed.port + 44
    ledger = Ledger()
    with (
        nginx(Path(bed.place.folder), f"127.0.0.1:{port}", [f"127.0.0.1:{bed.port}"]),
        ExitStack() as stack,
    ):
        slow = [
            stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=5))
            for _ in range(CLIENTS)
        ]
        for connection in slow:
            connection.sendall(beginning)
        caller = caller_at(port, bed.key, ledger)
        for _ in range(5):
            for connection in slow:
                connection.sendall(b"a")
            time.sleep(0.5)
            caller.send("read", "GET", "/odata/Clients?$top=5")
        caller.close()
    report.check_no_errors(ledger)
    report.check_in_time(ledger, PROMPT_SECONDS)
