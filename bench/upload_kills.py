"""Kill -9 of the web process while files come in: what was answered for is there, whole.

    python -m bench.upload_kills [--kills 20]

Callers upload files, replace them, and download what they have. The web process is killed again
and again. Afterwards every upload that was answered with success comes back to the byte, every
row has its bytes, and what the store has besides is found by the look for files without a record.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import signal
import sys
import threading
import time
from dataclasses import dataclass, field
from typing import Any

import requests
from sqlalchemy import select

from app.auth.api_keys import create_api_key
from app.blobs import blobs
from app.db.engines import read_engine, transaction
from app.http.security import acting_as, system_caller
from app.models.document import DocumentVersion
from bench.services import Place, service, signal_group

CALLERS = 3
LIFE_SECONDS = (0.5, 1.5)
START_SECONDS = 30
LARGEST_BYTES = 9_000_000
UNLIMITED = "100000000/minute"
PORT = 8158


@dataclass
class Ledger:
    """What callers were told: key of the document and number of its file -> SHA-256."""

    uploaded: dict[tuple[int, int], str] = field(default_factory=dict)
    cut: int = 0
    refused: list[str] = field(default_factory=list)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kills", type=int, default=20)
    wanted = parser.parse_args()
    with service(**settings()) as place:
        problems = run(place, wanted.kills)
    print("\n".join(problems) or "nothing is lost, nothing is half there")
    return 1 if problems else 0


def settings(port: int = PORT) -> dict[str, str]:
    """Of the measured service."""
    return {"PORT": str(port), "RATE_LIMIT_API_KEY": UNLIMITED, "RATE_LIMIT_USER": UNLIMITED}


def run(place: Place, kills: int) -> list[str]:
    """Kill the web process ``kills`` times under load; returns what went wrong."""
    with place.app.app_context(), transaction(), acting_as(system_caller("bench")):
        key = create_api_key(name="bench", role="Admin").key
    root = f"http://127.0.0.1:{place.settings['PORT']}"
    ledger, stop = Ledger(), threading.Event()
    callers = [
        threading.Thread(target=call, args=(root, key, ledger, stop, number), daemon=True)
        for number in range(CALLERS)
    ]
    process = start(place, root)
    for caller in callers:
        caller.start()
    for _ in range(kills):
        time.sleep(random.uniform(*LIFE_SECONDS))
        signal_group(process, signal.SIGKILL)
        process.wait()
        process = start(place, root)
    time.sleep(1)
    stop.set()
    for caller in callers:
        caller.join(60)
    print(
        f"{kills} kills, {len(ledger.uploaded)} files acknowledged, {ledger.cut} requests cut off",
        file=sys.stderr,
    )
    return [*ledger.refused, *check_files(root, key, ledger), *check_rows(place)]


def start(place: Place, root: str) -> Any:
    """A web process that answers."""
    process = place.start("gunicorn", "--config", "gunicorn.conf.py", "wsgi:app")
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        try:
            requests.get(f"{root}/healthz", timeout=1)
            return process
        except requests.RequestException:
            time.sleep(0.05)
    raise SystemExit("the service does not start")


def call(root: str, key: str, ledger: Ledger, stop: threading.Event, number: int) -> None:
    """Upload files, of a few bytes and of several parts; now and then as a new version."""
    chance = random.Random(number)
    last: int | None = None
    while not stop.is_set():
        content = os.urandom(chance.choice((100, 20_000, chance.randrange(LARGEST_BYTES))))
        fields = {"documentId": str(last)} if last and chance.random() < 0.4 else {}
        try:
            answer = requests.post(
                f"{root}/api/documents/upload", headers={"X-API-Key": key}, data=fields,
                files={"file": ("a.dat", content)}, timeout=30,
            )  # fmt: skip
        except requests.RequestException:
            ledger.cut += 1
            time.sleep(0.05)
            continue
        if answer.status_code != 201:
            ledger.refused.append(f"{answer.status_code} {answer.text[:200]}")
            continue
        last = int(answer.json()["id"])
        digest = hashlib.sha256(content).hexdigest()
        ledger.uploaded[last, answer.json()["version"]] = digest


def check_files(root: str, key: str, ledger: Ledger) -> list[str]:
    """Whether every file that was answered for comes back."""
    problems = []
    for (document, number), digest in ledger.uploaded.items():
        answer = requests.get(
            f"{root}/api/documents/{document}/download?version={number}",
            headers={"X-API-Key": key}, timeout=30,
        )  # fmt: skip
        if hashlib.sha256(answer.content).hexdigest() != digest:
            problems.append(f"document {document} version {number}: {answer.status_code}")
    return problems


def check_rows(place: Place) -> list[str]:
    """Whether every row has all its bytes; also those of answers that were cut off."""
    table: Any = DocumentVersion.__table__
    with place.app.app_context():
        sizes = {entry.key: entry.size for entry in blobs.current.entries("documents")}
        with read_engine().connect() as connection:
            rows = connection.execute(select(table)).all()
    problems = [
        f"row {row.id} names {row.blob_key}: {sizes.get(row.blob_key)} of {row.size} bytes"
        for row in rows
        if sizes.get(row.blob_key) != row.size
    ]
    left = len(sizes.keys() - {row.blob_key for row in rows})
    print(f"{len(rows)} rows, {left} files without one, to be swept up", file=sys.stderr)
    return problems


if __name__ == "__main__":
    sys.exit(main())
