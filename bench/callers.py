"""Callers over kept connections that never try anything twice, and what they were answered."""

from __future__ import annotations

import select
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from typing import Any

import orjson

# Longer than any answer may take; what takes longer counts as no answer.
PATIENCE_SECONDS = 25.0
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


class Caller:
    """One connection, kept alive; a new one after it was cut."""

    def __init__(
        self,
        address: tuple[str, int],
        credentials: dict[str, str],
        note: Callable[[Answer], object],
    ) -> None:
        self._address = address
        self._credentials = credentials
        self.note = note
        self._connection: HTTPConnection | None = None

    def send(
        self, kind: str, method: str, path: str, body: Any = None, **headers: str
    ) -> Answer:  # fmt: skip
        """Send once, note the answer."""
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        if "Authorization" not in given and kind != "login":
            given |= self._credentials
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
        self.note(answer)
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
            self._connection = HTTPConnection(*self._address, timeout=PATIENCE_SECONDS)
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
