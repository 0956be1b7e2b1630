"""Many tiny files: how many a second are taken in and kept, and what one costs.

    python -m bench.small_uploads [--files 3000] [--at-once 16]
    python -m bench.small_uploads --postgresql postgresql://postgres@127.0.0.1:5432 \
        --redis redis://127.0.0.1:6379/15 --processes 2

The service runs as in production, its limits raised. Callers keep their connections and send one
file after another; every answer must be 201. An upload waits for the disk three times (the bytes,
their folder, the commit), so callers beside one another are what fills a minute; the CPU of the
web processes for one upload says how many a machine could take whose disk does not wait.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path

from bench.services import Place, service
from bench.upload import sign_in, web_processes

PORT = 8160
BOUNDARY = "xxBOUNDARYxx"
WANTED_IN_A_MINUTE = 10_000


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--files", type=int, default=3000)
    parser.add_argument("--at-once", type=int, default=16)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--postgresql")
    parser.add_argument("--redis")
    parser.add_argument("--port", type=int, default=PORT)
    wanted = parser.parse_args()
    settings = {
        "PORT": str(wanted.port),
        "WEB_CONCURRENCY": str(wanted.processes),
        "RATE_LIMIT_USER": "100000000/minute",
    }
    with service(wanted.postgresql, wanted.redis, **settings) as place:
        headers = sign_in(place, f"http://127.0.0.1:{wanted.port}")
        send(wanted.port, headers, range(wanted.at_once))
        return measure(place, wanted.port, headers, wanted.files, wanted.at_once)


def measure(place: Place, port: int, headers: dict[str, str], files: int, at_once: int) -> int:
    """Send ``files`` over ``at_once`` connections and print what came of it."""
    processes = web_processes(place)
    spent, started = cpu_seconds(processes), time.monotonic()
    with ThreadPoolExecutor(at_once) as pool:
        shares = [range(caller, files, at_once) for caller in range(at_once)]
        taken = sum(pool.map(lambda numbers: send(port, headers, numbers), shares))
    seconds = time.monotonic() - started
    cost = (cpu_seconds(processes) - spent) / files * 1000
    a_minute = int(taken / seconds * 60)
    print(
        f"{taken} of {files} files by {at_once} callers in {seconds:.1f} s:"
        f" {taken / seconds:.0f} a second, {a_minute:,} a minute;"
        f" {cost:.1f} ms of CPU each in {len(processes)} processes"
    )
    return int(taken < files or a_minute < WANTED_IN_A_MINUTE)


def send(port: int, headers: dict[str, str], numbers: range) -> int:
    """Upload a file for each number over one connection; how many were taken."""
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    form = {**headers, "Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
    taken = 0
    for number in numbers:
        connection.request("POST", "/api/documents/upload", _body(number), form)
        answer = connection.getresponse()
        answer.read()
        taken += answer.status == 201
    connection.close()
    return taken


def cpu_seconds(processes: list[str]) -> float:
    """What processes have used so far, of their own and in the kernel."""
    ticks = 0
    for process in processes:
        fields = Path(f"/proc/{process}/stat").read_text("ascii").rpartition(") ")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def _body(number: int) -> bytes:
    head = f'Content-Disposition: form-data; name="file"; filename="note-{number}.txt"'
    text = f"This is note {number}."
    return f"--{BOUNDARY}\r\n{head}\r\n\r\n{text}\r\n--{BOUNDARY}--\r\n".encode()


if __name__ == "__main__":
    sys.exit(main())
