"""schemathesis to its end: ``python -m tests.openapi.scan [--examples 3] [tag ...]``.

The service is started on SQLite with demonstration data and scanned one tag of its document after
the other, all phases each. Printed are, for each, how many operations there are and were tried, how
many cases that took, and what was found; it fails when something was, or when one was not tried.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from app.auth.users import create_user
from app.db.engines import transaction
from app.demo.load import load_demo_data
from app.http.security import acting_as, system_caller
from app.openapi.routes import openapi
from bench.load import UNLIMITED, wait
from bench.peers.processes import free_port
from bench.services import service

ROOT = Path(__file__).parents[2]
NAME, PASSWORD = "scanner", "four-green-doors-and-a-lamp"
# What ends sessions or locks the scanner out. Each of them has tests of its own.
LEFT_OUT = r"/auth/(logout|password)$|/reset-password$"
SECONDS = 1800
METHODS = ("get", "post", "put", "patch", "delete")
# A token lives for fifteen minutes: after a 401 it signs in again. If-Match is looked at before the
# body (RFC 9110, 13.2.1), and OData leaves options without a $ to the application.
SETTINGS = f"""
hooks = "tests.openapi.hooks"

[generation]
allow-extra-parameters = false
database = "none"

[checks.negative_data_rejection]
expected-statuses = [400, 401, 403, 404, 405, 406, 409, 412, 413, 414, 415]

[auth.dynamic.openapi.bearerAuth]
path = "/api/v1/auth/login"
payload = {{ username = "{NAME}", password = "{PASSWORD}" }}
extract_selector = "/accessToken"
"""


@dataclass(frozen=True)
class Scan:
    """Where the service is, and how much of it is tried."""

    folder: Path
    port: int
    examples: int

    def run(self, tag: str, expected: int) -> bool:
        """Scan the operations of a tag; print a line, and what was found. False: something was."""
        report = self.folder / f"{tag}.json"
        log = self.folder / f"{tag}.txt"
        command = [
            str(Path(sys.executable).with_name("schemathesis")), "--config-file",
            str(self.folder / "schemathesis.toml"), "run", f"http://127.0.0.1:{self.port}/openapi.json",
            "--include-tag", tag, "--exclude-path-regex", LEFT_OUT, "--checks", "all",
            "--exclude-checks", "positive_data_acceptance", "--max-examples", str(self.examples),
            "--seed", "1", "--suppress-health-check", "all", "--continue-on-failure", "--no-shrink",
            "--warnings", "off", "--request-timeout", "60", "--no-color",
            "--report-json-path", str(report),
        ]  # fmt: skip
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        with log.open("w", encoding="utf-8") as output:
            try:
                subprocess.run(
                    command, cwd=self.folder, env=environment, stdout=output, stderr=output,
                    check=False, timeout=SECONDS,
                )  # fmt: skip
            except subprocess.TimeoutExpired:
                print(f"{tag:16} not ended after {SECONDS} s", flush=True)
                return False
        if not report.exists():
            print(f"{tag:16} no report\n{log.read_text('utf-8')[-2000:]}", flush=True)
            return False
        return judge(tag, expected, json.loads(report.read_text("utf-8")), log)


def judge(tag: str, expected: int, result: dict[str, Any], log: Path) -> bool:
    """Print the figures of one tag; True when every operation was tried and nothing was found."""
    operations, cases = result["operations"], result["test_cases"]
    good = (
        result["complete"]
        and operations["tested"] == expected
        and not (result["failures"] or result["errors"])
    )
    print(
        f"{tag:16}{expected:6}{operations['tested']:7}{cases['generated']:8}"
        f"{len(result['failures']):7}{len(result['errors']):7}{result['running_time']:8.0f} s",
        flush=True,
    )
    if not good:
        print(log.read_text("utf-8"), flush=True)
    return bool(good)


def operations_by_tag(document: dict[str, Any]) -> dict[str, int]:
    """How many operations of each first tag are scanned."""
    counts: dict[str, int] = {}
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item and not re.search(LEFT_OUT, path):
                tag = item[method]["tags"][0]
                counts[tag] = counts.get(tag, 0) + 1
    return counts


@contextmanager
def scanned(options: argparse.Namespace) -> Iterator[tuple[Scan, dict[str, int]]]:
    """The service with demonstration data and somebody who may do everything."""
    with service(RATE_LIMIT_USER=UNLIMITED, RATE_LIMIT_AUTH=UNLIMITED) as place:
        with place.app.app_context():
            load_demo_data()
            with transaction(), acting_as(system_caller("cli")):
                create_user(
                    username=NAME, email=None, display_name=NAME, password=PASSWORD,
                    roles=["Admin"],
                )  # fmt: skip
        port = options.port or free_port()
        place.start("gunicorn", "--config", "gunicorn.conf.py", "wsgi:app", PORT=str(port))
        wait(port)
        folder = options.report or place.folder / "scan"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "schemathesis.toml").write_text(SETTINGS, "utf-8")
        document = orjson.loads(openapi.of(place.app).text())
        yield Scan(folder, port, options.examples), operations_by_tag(document)
        if options.report:
            os.replace(place.folder / "log", folder / "service.log")


def main() -> int:
    """Scan the tags named, or all; 1 when something was found."""
    options = _options()
    # Whoever ends this command early ends its processes with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))
    good = True
    with scanned(options) as (scan, counts):
        print(f"{'':16}{'all':>6}{'tried':>7}{'cases':>8}{'found':>7}{'errors':>7}", flush=True)
        for tag in options.tags or counts:
            good = scan.run(tag, counts[tag]) and good
    return int(not good)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("tags", nargs="*", help="tags of the document; all when left out")
    parser.add_argument("--examples", type=int, default=3, help="generated cases an operation")
    parser.add_argument("--port", type=int, help="where the service listens")
    parser.add_argument("--report", type=Path, help="a folder that keeps what was printed")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
