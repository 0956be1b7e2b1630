"""Callers that never try anything twice, and what they were answered."""

from __future__ import annotations

import secrets
import select
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from typing import Any

import orjson

# Longer than any answer may take; what takes longer counts as no answer.
PATIENCE_SECONDS = 25.0
PAUSE_SECONDS = 0.02
NO_ANSWER = 0


@dataclass(frozen=True)
class Answer:
    """One answer; ``began`` by the monotonic clock. ``flaw``: what its form lacks."""

    kind: str
    began: float
    seconds: float
    status: int
    flaw: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    body: Any = None

    @property
    def is_error(self) -> bool:
        """Whether it is a failure of the service: none at all, or a 5xx."""
        return self.status == NO_ANSWER or self.status >= 500


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


class Caller:
    """One connection, kept alive; a new one after it was cut."""

    def __init__(self, port: int, key: str, ledger: Ledger) -> None:
        self._port = port
        self._key = key
        self.ledger = ledger
        self._connection: HTTPConnection | None = None

    def send(
        self, kind: str, method: str, path: str, body: Any = None, **headers: str
    ) -> Answer:  # fmt: skip
        """Send once, note the answer."""
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        if "Authorization" not in given and kind != "login":
            given["X-API-Key"] = self._key
        content = body
        if body is not None and not isinstance(body, bytes):
            content = orjson.dumps(body)
            given["Content-Type"] = "application/json"
        began = time.monotonic()
        try:
            answer = self._exchange(kind, began, method, path, content, given)
        except (OSError, HTTPException) as error:
            self.close()
            seconds = time.monotonic() - began
            answer = Answer(kind, began, seconds, NO_ANSWER, f"{type(error).__name__}: {error}")
        self.ledger.answers.append(answer)
        return answer

    def close(self) -> None:
        """End the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _exchange(
        self, kind: str, began: float, method: str, path: str, content: Any, given: dict[str, str]
    ) -> Answer:
        if self._connection is not None and is_ended(self._connection):
            self.close()  # the service may end a connection that pauses (RFC 9112, 9.5)
        if self._connection is None:
            self._connection = HTTPConnection("127.0.0.1", self._port, timeout=PATIENCE_SECONDS)
        self._connection.request(method, path, content, given)
        response = self._connection.getresponse()
        text = response.read()
        seconds = time.monotonic() - began
        headers = {name.lower(): value for name, value in response.getheaders()}
        try:
            read = orjson.loads(text) if "json" in headers.get("content-type", "") else text
        except ValueError:
            read = text
        flaw = flaw_of(response.status, headers, read) if response.status >= 500 else None
        return Answer(kind, began, seconds, response.status, flaw, headers, read)


def is_ended(connection: HTTPConnection) -> bool:
    """Whether the other side has closed a connection that is idle."""
    waiting = select.poll()
    if connection.sock is None:
        return False
    waiting.register(connection.sock, select.POLLIN)
    return bool(waiting.poll(0))


def flaw_of(status: int, headers: dict[str, str], body: Any) -> str | None:
    """What an error of ours lacks: only 503, with Retry-After, in the form of errors."""
    if status not in (503, 507):
        return f"status {status}: {str(body)[:200]}"
    if not headers.get("retry-after", "").isdigit():
        return "no Retry-After"
    error = body.get("error") if isinstance(body, dict) else None
    if not isinstance(error, dict) or not {"code", "message", "details"} <= error.keys():
        return f"not the form of errors: {str(body)[:200]}"
    return None if "x-request-id" in headers else "no X-Request-ID"


Work = Callable[[Caller], None]


def write_clients(caller: Caller) -> None:
    """Create a client, change it, look at it."""
    name = secrets.token_hex(8)
    caller.ledger.sent.add(name)
    made = caller.send("create", "POST", "/odata/Clients", {"name": name})
    if made.status != 201:
        return
    key = made.body["id"]
    caller.ledger.created[name] = key
    caller.send("change", "PATCH", f"/odata/Clients({key})", {"notes": "changed"})
    caller.send("read", "GET", f"/odata/Clients({key})")


def read_clients(caller: Caller) -> None:
    """Read a page, and search."""
    caller.send("read", "GET", "/odata/Clients?$top=20&$orderby=name&$count=true")
    caller.send("read", "GET", "/api/crm/search?q=acme")


def move_files(caller: Caller) -> None:
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
        caller.ledger.files[key] = content
        caller.send("download", "GET", f"/api/documents/{key}/download")


@contextmanager
def traffic(port: int, key: str, *works: Work, each: int = 2) -> Iterator[Ledger]:
    """Callers at work for the length of the block, ``each`` of every kind."""
    ledger, stop = Ledger(), threading.Event()

    def run(work: Work) -> None:
        caller = Caller(port, key, ledger)
        while not stop.is_set():
            work(caller)
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
