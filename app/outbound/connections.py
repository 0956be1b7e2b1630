"""The transport adapter of requests: connects to the very address that was checked (ADR 0226)."""

from __future__ import annotations

import ipaddress
import socket
import ssl
import threading
from functools import cache
from typing import Any

import certifi
import urllib3
from requests import PreparedRequest, Response
from requests.adapters import HTTPAdapter
from requests.exceptions import ConnectionError as RequestsConnectionError
from urllib3.connection import HTTPConnection, HTTPSConnection

from app.outbound.addresses import Target, is_public
from app.outbound.deadlines import Deadline

CONNECT_SECONDS = 5.0
# Connections that wait for the next exchange with the same host, and how many hosts have any.
IDLE_PER_HOST = 16
HOSTS = 16


class RefusedAddressError(OSError):
    """A name means an address that is not public."""


class Exchange(threading.local):
    """What the running thread is exchanging, for the adapter and its connections."""

    deadline: Deadline
    target: Target
    address: str


class PinnedAdapter(HTTPAdapter):
    """Resolves the name once, refuses it for any address that is not public, and uses that answer.

    Raises: RefusedAddressError, socket.gaierror; what requests raises.
    """

    def __init__(self, exchange: Exchange, *, allow_private: bool) -> None:
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
                return super().send(request, *arguments, **options)
            except RequestsConnectionError as error:
                if not _is_unanswered(error):
                    raise
        self._exchange.address = addresses[-1]
        return super().send(request, *arguments, **options)

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
        found = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
        addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
        if not self._allow_private and not all(
            is_public(ipaddress.ip_address(address.partition("%")[0])) for address in addresses
        ):
            raise RefusedAddressError("the address is not public")
        if not addresses:
            raise OSError("the name has no address")
        return addresses


def _pools(exchange: Exchange) -> dict[str, Any]:
    """Pools of urllib3 whose connections show their socket to the deadline."""

    class Http(HTTPConnection):
        def connect(self) -> None:
            super().connect()
            exchange.deadline.watch(self.sock)

        def request(self, *arguments: Any, **options: Any) -> None:
            exchange.deadline.watch(self.sock)  # None before the first
            super().request(*arguments, **options)

    class Https(HTTPSConnection):
        def connect(self) -> None:
            super().connect()  # bounded by the timeout: one for the handshake as a whole
            exchange.deadline.watch(self.sock)

        def request(self, *arguments: Any, **options: Any) -> None:
            exchange.deadline.watch(self.sock)
            super().request(*arguments, **options)

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


@cache
def tls_context() -> ssl.SSLContext:
    """Verifies certificates by the authorities of the system and those that Mozilla trusts."""
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context
