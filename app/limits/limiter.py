"""The limits of the service: how much a user, a key and an address may (contract P11)."""

from __future__ import annotations

import ipaddress
from functools import lru_cache

from flask import Flask, current_app

from app.config import Config
from app.errors import RateLimitedError
from app.limits.memory import MemoryStore
from app.limits.rate import LimitStore, Rate, Verdict
from app.limits.shared import SharedStore
from app.request_context import current_exchange
from app.security import Caller, current_caller


class Limiter:
    """Counts in one store, at the rates of the settings."""

    def __init__(self, config: Config, store: LimitStore) -> None:
        self.store = store
        self.user = Rate.parse(config.RATE_LIMIT_USER, "RATE_LIMIT_USER")
        self.api_key = Rate.parse(config.RATE_LIMIT_API_KEY, "RATE_LIMIT_API_KEY")
        self.sign_in = Rate.parse(config.RATE_LIMIT_AUTH, "RATE_LIMIT_AUTH")

    def count_caller(self, caller: Caller, cost: int = 1) -> Verdict:
        """Count requests of a principal: all tokens of a user together, each key by itself."""
        rate = self.user if caller.api_key_id is None else self.api_key
        return self.store.hit(caller.principal, rate, cost)

    def look_at(self, principal: str) -> Verdict:
        """How much of its limit a principal has left; nothing is counted.

        Args:
            principal: ``user:1`` or ``key:1``.
        """
        rate = self.api_key if principal.startswith("key:") else self.user
        return self.store.hit(principal, rate, 0)

    def count_address(self, address: str | None, cost: int = 1) -> Verdict:
        """Count requests for public pages; 0 only looks."""
        return self.store.hit("address:" + network(address), self.user, cost)

    def count_sign_in(self, address: str | None) -> Verdict:
        """Count a login or a refresh."""
        return self.store.hit("sign-in:" + network(address), self.sign_in)

    def count_guess(self, address: str | None) -> Verdict:
        """Count credentials that were wrong: guessing is slowed, others are not shut out."""
        return self.store.hit("guess:" + network(address), self.user)


def init_app(app: Flask, config: Config) -> None:
    """Give ``app`` its limiter: in Redis when there is one, else in memory."""
    link = app.extensions["redis"]
    store: LimitStore = SharedStore(link) if link is not None else MemoryStore()
    app.extensions["limiter"] = Limiter(config, store)


def charge(requests: int) -> None:
    """Count ``requests`` more for the caller, all of them or none: the parts of a ``$batch``.

    The request that carries them was counted as one already.
    Raises: RateLimitedError, they do not fit any more.
    """
    limiter: Limiter = current_app.extensions["limiter"]
    verdict = limiter.count_caller(current_caller(), requests)
    current_exchange().verdict = verdict
    require_allowed(verdict)


def require_allowed(verdict: Verdict) -> None:
    """Let pass what fits.

    Raises: RateLimitedError, with ``Retry-After``.
    """
    if not verdict.allowed:
        raise RateLimitedError(
            f"More than {verdict.limit} requests: try again in {verdict.reset} seconds.",
            headers={"Retry-After": str(verdict.reset)},
        )


@lru_cache(maxsize=4096)
def network(address: str | None) -> str:
    """The name that an address is counted under: IPv6 by the network of a household, /64."""
    try:
        found = ipaddress.ip_address(address or "")
    except ValueError:
        return "unknown"  # a Unix socket
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    if found.ipv4_mapped:
        return str(found.ipv4_mapped)
    return str(ipaddress.ip_network((int(found) >> 64 << 64, 64)))
