"""The client for addresses that somebody else chose: bounded in time and bytes, and led nowhere.

Redirects are answers like others, proxies and credentials of the environment are not used, bodies
are not unpacked, cookies not kept.
"""

from __future__ import annotations

import http.client
import select
import socket
import ssl
import threading
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

from app.outbound.addresses import Target, UrlError, read_url
from app.outbound.connections import Connection, RefusedAddressError
from app.outbound.deadlines import Deadline, Watch

EXCHANGE_SECONDS = 15.0
READ_BYTES = 65_536
# Connections that wait for the next exchange with the same host.
IDLE_SECONDS = 15.0
IDLE_PER_HOST = 16
IDLE_AT_ALL = 256


class OutboundError(Exception):
    """No answer came; the text says why, for whoever chose the address."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the other host said; ``body`` may be cut at the limit, or by the deadline."""

    status: int
    headers: Mapping[str, str]  # by lower-case name; the last of several
    body: bytes


class Client:
    """Sends requests; one for a process, used by many threads."""

    def __init__(self, *, allow_private: bool = False, https_only: bool = False) -> None:
        self._allow_private = allow_private
        self._https_only = https_only
        self._watch = Watch()
        self._idle: dict[tuple[str, str, int], deque[Connection]] = {}
        self._idle_count = 0
        self._lock = threading.Lock()

    def send(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes = b"",
        *,
        seconds: float = EXCHANGE_SECONDS,
        read_bytes: int = READ_BYTES,
    ) -> Answer:
        """One exchange, over within ``seconds`` whatever the other host does.

        Args:
            headers: all but Host and Content-Length.
            read_bytes: how much of the answer's body is read at most.
        Raises: OutboundError, there was no answer in time, or the address is not called.
        """
        try:
            target = read_url(url, allow_private=self._allow_private, https_only=self._https_only)
        except UrlError as error:
            raise OutboundError("The address is not allowed.") from error
        deadline = self._watch.begin(seconds)
        try:
            return self._exchange(target, method, headers, body, deadline, read_bytes)
        except RefusedAddressError as error:
            raise OutboundError("The address is not allowed.") from error
        except (OSError, http.client.HTTPException, UnicodeError) as error:
            raise OutboundError(reason_of(error, deadline)) from error
        finally:
            deadline.lift()

    def close(self) -> None:
        """Close the idle connections; the client can go on."""
        with self._lock:
            waiting = [connection for queue in self._idle.values() for connection in queue]
            self._idle.clear()
            self._idle_count = 0
        for connection in waiting:
            connection.close()

    def _exchange(
        self,
        target: Target,
        method: str,
        headers: Mapping[str, str],
        body: bytes,
        deadline: Deadline,
        read_bytes: int,
    ) -> Answer:
        wire = {"Host": target.header, **headers}
        used = self._take(target)
        if used is not None:
            try:
                return self._read(
                    used, target, _ask(used, target, method, wire, body, deadline), read_bytes
                )
            except ConnectionError:
                # The other side closed it while it was idle; what it took before, it takes twice.
                if deadline.passed:
                    raise
        fresh = Connection(target, self._allow_private)
        return self._read(
            fresh, target, _ask(fresh, target, method, wire, body, deadline), read_bytes
        )

    def _read(
        self,
        connection: Connection,
        target: Target,
        response: http.client.HTTPResponse,
        read_bytes: int,
    ) -> Answer:
        """Take the answer in, and keep the connection if the answer has ended."""
        body = bytearray()
        is_whole = False
        try:
            while len(body) < read_bytes:
                part = response.read1(read_bytes - len(body))
                if not part:
                    break
                body += part
            is_whole = response.isclosed() or response.length == 0
        except (OSError, http.client.HTTPException):
            pass  # the status has been said; the rest of the answer changes nothing
        answer = Answer(
            response.status,
            {name.lower(): value for name, value in response.getheaders()},
            bytes(body),
        )
        response.close()
        if is_whole and not response.will_close and not connection.deadline.passed:
            self._keep(connection, target)
        else:
            connection.close()
        return answer

    def _take(self, target: Target) -> Connection | None:
        """An idle connection to ``target`` that is still open."""
        key = (target.scheme, target.host, target.port)
        while True:
            with self._lock:
                waiting = self._idle.get(key)
                if not waiting:
                    return None
                connection = waiting.pop()  # the one used last; the others grow old
                self._idle_count -= 1
                if not waiting:
                    del self._idle[key]
            if connection.idle_since > time.monotonic() - IDLE_SECONDS and _is_open(connection):
                return connection
            connection.close()

    def _keep(self, connection: Connection, target: Target) -> None:
        key = (target.scheme, target.host, target.port)
        connection.idle_since = time.monotonic()
        connection.deadline.lift()
        with self._lock:
            waiting = self._idle.setdefault(key, deque())
            waiting.append(connection)
            self._idle_count += 1
            dropped = [waiting.popleft()] if len(waiting) > IDLE_PER_HOST else []
            self._idle_count -= len(dropped)
            while self._idle_count > IDLE_AT_ALL:
                oldest = next(iter(self._idle))
                dropped.append(self._idle[oldest].popleft())
                self._idle_count -= 1
                if not self._idle[oldest]:
                    del self._idle[oldest]
        for old in dropped:
            old.close()


def _ask(
    connection: Connection,
    target: Target,
    method: str,
    headers: Mapping[str, str],
    body: bytes,
    deadline: Deadline,
) -> http.client.HTTPResponse:
    connection.deadline = deadline
    if connection.sock is not None:
        connection.sock.settimeout(max(0.001, deadline.left))
        deadline.sock = connection.sock
    try:
        connection.request(method, target.path, body=body, headers=headers)
        response = connection.getresponse()
        # Headers that were cut by the deadline look as if they had ended.
        if deadline.passed:
            response.close()
            raise TimeoutError
        return response
    except BaseException:
        connection.close()
        raise


def _is_open(connection: Connection) -> bool:
    """An idle connection has nothing to say; what can be read is its end."""
    poll = select.poll()
    poll.register(connection.sock, select.POLLIN)
    return not poll.poll(0)


def reason_of(error: Exception, deadline: Deadline) -> str:
    """A short text without addresses and ports."""
    if deadline.passed or isinstance(error, TimeoutError):
        return "No answer came in time."
    if isinstance(error, socket.gaierror):
        return "The name of the host was not found."
    if isinstance(error, ssl.SSLCertVerificationError):
        return "The certificate of the host was not accepted."
    if isinstance(error, ssl.SSLError):
        return "No secure connection came about."
    if isinstance(error, http.client.HTTPException) and not isinstance(error, OSError):
        return "The answer was not HTTP."
    return "The connection failed."
