"""Callers of a service under faults, and what they were answered."""

from __future__ import annotations

import secrets
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from bench.callers import PATIENCE_SECONDS, Answer, Caller

PAUSE_SECONDS = 0.02


@dataclass
class Ledger:
    """What callers sent, and what they were told."""

    answers: list[Answer] = field(default_factory=list)
    sent: set[str] = field(default_factory=set)
    created: dict[str, int] = field(default_factory=dict)
    files: dict[int, bytes] = field(default_factory=dict)

    def errors(self, since: float = 0.0) -> list[Answer]:
        """The failures among requests that began at ``since`` or later."""
        return [answer for answer in self.answers if answer.is_error and answer.began >= since]

    def told(self, since: float = 0.0) -> str:
        """The answers by status, for people."""
        counts = Counter(one.status for one in self.answers if one.began >= since)
        return ", ".join(
            f"{count} x {status or 'no answer'}" for status, count in sorted(counts.items())
        )


def caller_at(port: int, key: str, ledger: Ledger) -> Caller:
    """A caller on loopback whose answers go into ``ledger``."""
    return Caller(("127.0.0.1", port), {"X-API-Key": key}, ledger.answers.append)


Work = Callable[[Caller, Ledger], None]


def write_clients(caller: Caller, ledger: Ledger) -> None:
    """Create a client, change it, look at it."""
    name = secrets.token_hex(8)
    ledger.sent.add(name)
    made = caller.send("create", "POST", "/odata/Clients", {"name": name})
    if made.status != 201:
        return
    key = made.body["id"]
    ledger.created[name] = key
    caller.send("change", "PATCH", f"/odata/Clients({key})", {"notes": "changed"})
    caller.send("read", "GET", f"/odata/Clients({key})")


def read_clients(caller: Caller, ledger: Ledger) -> None:
    """Read a page, and search."""
    caller.send("read", "GET", "/odata/Clients?$top=20&$orderby=name&$count=true")
    caller.send("read", "GET", "/api/crm/search?q=acme")


def move_files(caller: Caller, ledger: Ledger) -> None:
    """Upload a document and download it again."""
    content = secrets.token_bytes(3000).hex().encode()
    kind = {"Content_Type": "multipart/form-data; boundary=frontier"}
    form = (
        b'--frontier\r\nContent-Disposition: form-data; name="file"; filename="note.txt"\r\n'
        b"Content-Type: text/plain\r\n\r\n" + content + b"\r\n--frontier--\r\n"
    )
    made = caller.send("upload", "POST", "/api/documents/upload", form, **kind)
    if made.status == 201:
        key = made.body["id"]
        ledger.files[key] = content
        caller.send("download", "GET", f"/api/documents/{key}/download")


@contextmanager
def traffic(port: int, key: str, *works: Work, each: int = 2) -> Iterator[Ledger]:
    """Callers at work for the length of the block, ``each`` of every kind."""
    ledger, stop = Ledger(), threading.Event()

    def run(work: Work) -> None:
        caller = caller_at(port, key, ledger)
        while not stop.is_set():
            work(caller, ledger)
            stop.wait(PAUSE_SECONDS)
        caller.close()

    threads = [
        threading.Thread(target=run, args=(work,), daemon=True)
        for work in works or (write_clients, read_clients)
        for _ in range(each)
    ]
    for thread in threads:
        thread.start()
    try:
        yield ledger
    finally:
        stop.set()
        for thread in threads:
            thread.join(3 * PATIENCE_SECONDS)
