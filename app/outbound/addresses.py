"""Which URLs and which addresses of the network may be called (SEC-91 to SEC-93, SEC-101).

A URL is judged by its text when it is given, the address when it is connected to: a name may mean
another address by then.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import SplitResult, quote, urlsplit

import idna

MAXIMUM_URL = 2048
# Ports below belong to services that are no web servers; answers would tell that they are there.
FIRST_FREE_PORT = 1024
WEB_PORTS = {"http": 80, "https": 443}

# Names that mean something inside a network only (RFC 6761, 6762, 8375, and customs).
INSIDE_NAMES = (
    "localhost", "local", "localdomain", "internal", "intranet", "private", "corp", "home", "lan",
    "home.arpa", "onion",
)  # fmt: skip

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# ``is_global`` of Python says yes to these, or did in a version that may be running.
_NOT_PUBLIC_4 = tuple(
    map(
        ipaddress.IPv4Network,
        (
            "100.64.0.0/10",  # carrier-grade NAT
            "168.63.129.16/32",  # the host of a virtual machine in Azure
            "192.0.0.0/24",  # protocol assignments
            "192.88.99.0/24",  # relays of 6to4
            "198.18.0.0/15",  # benchmarks
            "224.0.0.0/3",  # multicast, reserved, broadcast
        ),
    )
)
# Of IPv6 only what is given out to networks: no mapped, translated (NAT64) or unique local address.
_PUBLIC_6 = ipaddress.IPv6Network("2000::/3")
_NOT_PUBLIC_6 = tuple(
    map(
        ipaddress.IPv6Network,
        (
            "2001::/23",  # Teredo, ORCHID, benchmarks
            "2001:db8::/32",  # documentation
            "2002::/16",  # 6to4: has an IPv4 address inside
            "3fff::/20",  # documentation
        ),
    )
)
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
# What browsers take for an IPv4 address in another notation: decimal, octal, hexadecimal, short.
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
# Only what is no ASCII is written anew: the receiver sees the path that was registered.
_AS_THEY_ARE = "".join(chr(code) for code in range(0x21, 0x7F))
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f\\]")


class UrlError(ValueError):
    """A URL that is not called; the text says what to change, and nothing about the network."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where a URL leads. ``host`` is a name in ASCII or an address without brackets."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def header(self) -> str:
        """The Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == WEB_PORTS[self.scheme] else f"{host}:{self.port}"


def read_url(url: str, *, allow_private: bool = False, https_only: bool = False) -> Target:
    """Where ``url`` leads, when it may be called by its text.

    Args:
        allow_private: take addresses and names inside the network too, at any port.
        https_only: refuse plain http, where ``allow_private`` is off.
    Raises: UrlError.
    """
    if len(url) > MAXIMUM_URL:
        raise UrlError(f"must have at most {MAXIMUM_URL} characters")
    if _FORBIDDEN.search(url):
        raise UrlError("must not contain spaces, backslashes or control characters")
    parts, port = _split(url)
    if parts.scheme not in WEB_PORTS:
        raise UrlError("must begin with https:// or http://")
    if https_only and not allow_private and parts.scheme != "https":
        raise UrlError("must begin with https://")
    if parts.username is not None or parts.password is not None:
        raise UrlError("must not contain a user name or a password")
    host = _host(parts.hostname or "")
    port = WEB_PORTS[parts.scheme] if port is None else port
    if not allow_private:
        if port != WEB_PORTS[parts.scheme] and port < FIRST_FREE_PORT:
            raise UrlError(f"must have the usual port, or one from {FIRST_FREE_PORT} on")
        _require_outside(host)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(parts.scheme, host, port, quote(path, safe=_AS_THEY_ARE))


def is_public(address: Address) -> bool:
    """Whether an address belongs to the public internet, to a single host."""
    if isinstance(address, ipaddress.IPv4Address):
        return address.is_global and not any(address in network for network in _NOT_PUBLIC_4)
    return (
        address in _PUBLIC_6
        and address.is_global
        and not any(address in network for network in _NOT_PUBLIC_6)
    )


def _split(url: str) -> tuple[SplitResult, int | None]:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise UrlError("must be a URL, such as https://example.com/hook") from error
    if port == 0:
        raise UrlError("must be a URL, such as https://example.com/hook")
    return parts, port


def _host(written: str) -> str:
    """The host in one notation: an address as it is usually written, or a name in ASCII."""
    if ":" in written:
        try:
            return str(ipaddress.IPv6Address(written)) if "%" not in written else _refuse_host()
        except ValueError:
            _refuse_host()
    try:
        # Digits and dots of other scripts become plain ones here, as they do for a resolver.
        name = idna.encode(written, uts46=True, std3_rules=False).decode() if written else ""
    except idna.IDNAError:
        name = written.lower() if written.isascii() else ""
    name = name.removesuffix(".")
    labels = name.split(".")
    if _NUMBER.fullmatch(labels[-1]):
        try:
            return str(ipaddress.IPv4Address(name))
        except ValueError:
            raise UrlError("must name a host, or an address as four decimal numbers") from None
    if len(name) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        _refuse_host()
    return name


def _refuse_host() -> str:
    raise UrlError("must name a host, such as example.com")


def _require_outside(host: str) -> None:
    try:
        is_outside = is_public(ipaddress.ip_address(host))
    except ValueError:
        is_outside = "." in host and not any(
            host == name or host.endswith(f".{name}") for name in INSIDE_NAMES
        )
    if not is_outside:
        raise UrlError("must be a public address")


class OutboundError(Exception):
    """No answer came; the text says why, for whoever chose the address."""
