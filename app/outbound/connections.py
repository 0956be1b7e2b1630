"""Connections to the address that was checked: a name is resolved once, and that answer used."""

from __future__ import annotations

import http.client
import ipaddress
import socket
import ssl
import threading
from functools import cache
from typing import TYPE_CHECKING

from app.lazy import lazy
from app.outbound.addresses import Target, is_public
from app.outbound.deadlines import Deadline

if TYPE_CHECKING:
    import certifi
else:
    certifi = lazy("certifi")

CONNECT_SECONDS = 5.0


class RefusedAddressError(OSError):
    """A name means an address that is not public."""


class Connection(http.client.HTTPConnection):
    """A connection of this service; ``deadline`` is that of the exchange it is used for."""

    deadline: Deadline
    idle_since: float = 0.0

    def __init__(self, target: Target, allow_private: bool) -> None:
        super().__init__(target.host, target.port)
        self._target = target
        self._allow_private = allow_private

    def connect(self) -> None:
        """Connect, and for https prove who the other is, under the name that was asked for.

        Raises: RefusedAddressError; OSError, ssl.SSLError.
        """
        sock = open_socket(self._target, self.deadline, allow_private=self._allow_private)
        if self._target.scheme == "https":
            secured = tls_context().wrap_socket(
                sock, server_hostname=self._target.host, do_handshake_on_connect=False
            )
            self.sock = self.deadline.sock = secured
            secured.do_handshake()
        else:
            self.sock = self.deadline.sock = sock


def open_socket(target: Target, deadline: Deadline, *, allow_private: bool) -> socket.socket:
    """A connected socket to the first address of ``target`` that answers.

    Raises: RefusedAddressError, one of the addresses is not public; OSError.
    """
    found = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
    if not allow_private and not all(
        is_public(ipaddress.ip_address(str(entry[4][0]).partition("%")[0])) for entry in found
    ):
        raise RefusedAddressError("the address is not public")
    problem: OSError = OSError("the name has no address")
    for family, kind, protocol, _, address in found:
        sock = socket.socket(family, kind, protocol)
        try:
            sock.settimeout(max(0.001, min(CONNECT_SECONDS, deadline.left)))
            sock.connect(address)
            sock.settimeout(max(0.001, deadline.left))
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError as error:
            sock.close()
            problem = error
        else:
            return sock
    raise problem


_tls_lock = threading.Lock()


def tls_context() -> ssl.SSLContext:
    """Verifies certificates by the authorities of the system and those that Mozilla trusts."""
    with _tls_lock:
        return _make_context()


@cache
def _make_context() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context
