"""The transport adapter of requests: connects to the very address that was checked (ADR 0010).

An exchange as a whole has a limit, too: the timeouts of a socket begin anew with every byte.
"""

from __future__ import annotations

import heapq
import ipaddress
import socket
import ssl
import threading
import time
from contextlib import suppress
from functools import cache
from itertools import count
from typing import Any

import certifi
import urllib3
from requests import PreparedRequest, Response
from requests.adapters import HTTPAdapter
from requests.exceptions import ConnectionError as RequestsConnectionError
from urllib3.connection import HTTPConnection, HTTPSConnection

from app.outbound.addresses import Target, is_public

# What an exchange may take where nobody says otherwise.
EXCHANGE_SECONDS = 15.0


class Deadline:
    """The end of one exchange; ``passed`` once it was enforced."""

    def __init__(self, at: float) -> None:
        self.at = at  # by time.monotonic()
        self.passed = False
        self.sock: socket.socket | None = None
        self._is_over = False
        self._lock = threading.Lock()

    @property
    def left(self) -> float:
        """Seconds that are left; 0 when none are."""
        return max(0.0, self.at - time.monotonic())

    def lift(self) -> None:
        """The exchange has ended: its socket may be used for another."""
        with self._lock:
            self._is_over = True
            self.sock = None

    def watch(self, sock: socket.socket | None) -> None:
        """Cut this connection when the time is over; at once, if it is."""
        with self._lock:
            self.sock = sock
        if sock is not None and self.passed:
            self.cut()

    def enforce(self) -> None:
        """Cut the connection, so that whoever reads from it wakes up."""
        with self._lock:
            if self._is_over:
                return
            self.passed = True
        self.cut()

    def cut(self) -> None:
        """End the connection for whoever reads from it."""
        with self._lock:
            if self.sock is not None and not self._is_over:
                # Not the method of a TLS socket, which would take the session from its reader.
                with suppress(OSError):
                    socket.socket.shutdown(self.sock, socket.SHUT_RDWR)


class Watch:
    """One thread that enforces the deadlines of all exchanges."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Deadline]] = []
        self._numbers = count()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def begin(self, seconds: float) -> Deadline:
        """A deadline ``seconds`` from now; the caller gives it its socket and lifts it."""
        deadline = Deadline(time.monotonic() + seconds)
        with self._changed:
            heapq.heappush(self._heap, (deadline.at, next(self._numbers), deadline))
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="deadlines", daemon=True)
                self._thread.start()
            elif self._heap[0][2] is deadline:
                self._changed.notify()
        return deadline

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._heap or self._heap[0][0] > time.monotonic():
                    pause = self._heap[0][0] - time.monotonic() if self._heap else None
                    self._changed.wait(pause)
                _, _, deadline = heapq.heappop(self._heap)
            deadline.enforce()


CONNECT_SECONDS = 5.0
# Connections that wait for the next exchange with the same host, and how many hosts have any.
IDLE_PER_HOST = 16
HOSTS = 16


class RefusedAddressError(OSError):
    """A name means an address that is not public."""


class OutboundExchange(threading.local):
    """What the running thread is exchanging, for the adapter and its connections."""

    deadline: Deadline
    target: Target
    address: str
    has_waited = False  # whether its connection has served another exchange before


class PinnedAdapter(HTTPAdapter):
    """Resolves the name once, refuses it for any address that is not public, and uses that answer.

    Raises: RefusedAddressError, socket.gaierror; what requests raises.
    """

    def __init__(self, exchange: OutboundExchange, *, allow_private: bool) -> None:
        self._exchange = exchange
        self._allow_private = allow_private
        super().__init__(pool_connections=HOSTS, pool_maxsize=IDLE_PER_HOST, max_retries=0)

    def init_poolmanager(self, *arguments: Any, **options: Any) -> None:
        """Pools whose connections have the deadline of the exchange that uses them."""
        super().init_poolmanager(*arguments, **options)
        self.poolmanager.pool_classes_by_scheme = _pools(self._exchange)

    def send(self, request: PreparedRequest, *arguments: Any, **options: Any) -> Response:
        """As ``HTTPAdapter.send``, to the first address that answers."""
        addresses = self._resolve()
        for address in addresses[:-1]:
            self._exchange.address = address
            try:
                return self._send(request, *arguments, **options)
            except RequestsConnectionError as error:
                if not _is_unanswered(error):
                    raise
        self._exchange.address = addresses[-1]
        return self._send(request, *arguments, **options)

    def _send(self, request: PreparedRequest, *arguments: Any, **options: Any) -> Response:
        """To one address; a connection that was closed while it waited is replaced.

        What the other side took before it closed, it takes twice.
        """
        while True:
            try:
                return super().send(request, *arguments, **options)
            except RequestsConnectionError as error:
                was_closed = self._exchange.has_waited and _is_closed(error)
                if not was_closed or self._exchange.deadline.passed:
                    raise

    def build_connection_pool_key_attributes(
        self, request: PreparedRequest, verify: Any, cert: Any = None
    ) -> Any:
        """The address in place of the name, which the certificate has to be of all the same."""
        target = self._exchange.target
        host = {"scheme": target.scheme, "host": self._exchange.address, "port": target.port}
        if target.scheme == "http":
            return host, {}
        names = {"server_hostname": target.host, "assert_hostname": target.host}
        return host, {"ssl_context": tls_context(), **names}

    def cert_verify(self, conn: Any, url: str, verify: Any, cert: Any) -> None:
        """Nothing to add: the context verifies, by authorities that it has loaded once."""

    def _resolve(self) -> list[str]:
        target = self._exchange.target
        entries = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
        addresses = list(dict.fromkeys(str(entry[4][0]) for entry in entries))
        if not self._allow_private and not all(
            is_public(ipaddress.ip_address(address.partition("%")[0])) for address in addresses
        ):
            raise RefusedAddressError("the address is not public")
        if not addresses:
            raise OSError("the name has no address")
        return addresses


def _pools(exchange: OutboundExchange) -> dict[str, Any]:
    """Pools of urllib3 whose connections show their socket to the deadline."""

    class Http(HTTPConnection):
        has_served = False

        def connect(self) -> None:
            super().connect()  # with TLS bounded by the timeout, one for the whole handshake
            self.has_served = False
            exchange.deadline.watch(self.sock)

        def request(self, *arguments: Any, **options: Any) -> None:
            exchange.has_waited = self.sock is not None and self.has_served
            exchange.deadline.watch(self.sock)  # None before the first
            super().request(*arguments, **options)
            self.has_served = True

    class Https(Http, HTTPSConnection):
        """The same over TLS: ``super()`` above is urllib3's own connection for it."""

    class HttpPool(urllib3.HTTPConnectionPool):
        ConnectionCls = Http

    class HttpsPool(urllib3.HTTPSConnectionPool):
        ConnectionCls = Https

    return {"http": HttpPool, "https": HttpsPool}


def _is_unanswered(error: RequestsConnectionError) -> bool:
    """Whether nothing was sent: another address may be tried."""
    reason = getattr(error.args[0] if error.args else None, "reason", None)
    return isinstance(
        reason, urllib3.exceptions.NewConnectionError | urllib3.exceptions.ConnectTimeoutError
    )


def _is_closed(error: RequestsConnectionError) -> bool:
    """Whether the other side closed the connection, and answered nothing."""
    reason = error.args[0] if error.args else None
    return isinstance(reason, urllib3.exceptions.ProtocolError) and any(
        isinstance(part, ConnectionError) for part in reason.args
    )


@cache
def tls_context() -> ssl.SSLContext:
    """Verifies certificates by the authorities of the system and those that Mozilla trusts."""
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context
