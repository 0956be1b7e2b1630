"""Rate limits by Flask-Limiter: how much a user, a key and an address may (contract P11, ADR 0003).

Every request counts against one bucket, which the gate names before the limiter looks:
``user:7`` over all tokens of a user, ``key:7`` for each API key, and by address ``sign-in:…`` for
login and refresh, ``guess:…`` for wrong credentials, ``address:…`` for public pages.
"""

from __future__ import annotations

import ipaddress
import math
import time
from collections import deque
from functools import lru_cache
from threading import Lock
from typing import Any

from flask import Flask
from flask_limiter import ApplicationLimit, Limiter, RateLimitExceeded
from limits import parse
from limits.storage import MovingWindowSupport, Storage

from app.config import Config, ConfigError
from app.errors import RateLimitedError
from app.extensions import Extension
from app.http.request_context import Exchange, Standing, current_exchange


class WindowStorage(Storage, MovingWindowSupport):
    """Moving windows in the memory of this process: the instants of each key's requests in order.

    A storage as ``limits`` documents them. The library's own starts a thread a hundred times a
    second to look for what has passed, and moves a whole window for each request (ADR 0003).
    """

    STORAGE_SCHEME = ["window"]  # as the base class declares it

    def __init__(self, uri: str | None = None, wrap_exceptions: bool = False, **_: str) -> None:
        super().__init__(uri, wrap_exceptions=wrap_exceptions)
        self._lock = Lock()
        # Key -> the seconds that its window is long, and the instants in it.
        self._windows: dict[str, tuple[int, deque[float]]] = {}
        self._looked = time.time()

    def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        """Count ``amount`` more requests in the last ``expiry`` seconds, all of them or none."""
        now = time.time()
        with self._lock:
            if now - self._looked > expiry:
                self._forget(now)
            _, instants = self._windows.setdefault(key, (expiry, deque()))
            _leave(instants, now - expiry)
            if len(instants) + amount > limit:
                return False
            instants.extend([now] * amount)
            return True

    def get_moving_window(self, key: str, limit: int, expiry: int) -> tuple[float, int]:
        """The instant of the oldest request in the window, and how many there are."""
        now = time.time()
        with self._lock:
            _, instants = self._windows.get(key, (expiry, deque()))
            _leave(instants, now - expiry)
            return (instants[0], len(instants)) if instants else (now, 0)

    def _forget(self, now: float) -> None:
        """Let go of the keys that nobody has used for the length of their window."""
        self._looked = now
        passed = [
            key
            for key, (seconds, instants) in self._windows.items()
            if not instants or instants[-1] < now - seconds
        ]
        for key in passed:
            del self._windows[key]

    @property
    def base_exceptions(self) -> type[Exception]:
        """What memory raises when it cannot be reached: nothing."""
        return ValueError

    def check(self) -> bool:
        return True

    def reset(self) -> int:
        """Forget all keys; returns how many there were."""
        with self._lock:
            count = len(self._windows)
            self._windows.clear()
            return count

    def clear(self, key: str) -> None:
        with self._lock:
            self._windows.pop(key, None)

    def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        """Not offered: for other strategies."""
        raise NotImplementedError

    def get(self, key: str) -> int:
        """Not offered: for other strategies."""
        raise NotImplementedError

    def get_expiry(self, key: str) -> float:
        """Not offered: for other strategies."""
        raise NotImplementedError


def _leave(instants: deque[float], start: float) -> None:
    while instants and instants[0] < start:
        instants.popleft()


# Under load Redis is late by tenths of a second now and then; who leaves it for that counts anew.
REDIS_TIMEOUT_SECONDS = 0.5
# All requests of a bucket count together, whatever they ask for.
_SCOPE = "all"


class RateLimits:
    """The limits of one application, in memory or in Redis.

    While Redis is away each process counts for itself, as Flask-Limiter's fallback does.
    Raises: ConfigError, a rate or the address of Redis cannot be used.
    """

    def __init__(self, config: Config) -> None:
        user = _checked("RATE_LIMIT_USER", config.RATE_LIMIT_USER)
        self._rates = {
            "user": user,
            "address": user,
            "guess": user,
            "key": _checked("RATE_LIMIT_API_KEY", config.RATE_LIMIT_API_KEY),
            "sign-in": _checked("RATE_LIMIT_AUTH", config.RATE_LIMIT_AUTH),
        }
        self.limiter = Limiter(
            _bucket,
            application_limits=[
                ApplicationLimit(
                    limit_provider=self._rate, scope=_SCOPE, cost=_cost, exempt_when=_is_free
                )
            ],
            strategy="moving-window",
            storage_uri=_storage(config.REDIS_URL),
            storage_options=_redis_options() if config.REDIS_URL else {},
            in_memory_fallback_enabled=config.REDIS_URL is not None,
            # Of several requests that wait for a Redis that goes away the library sends one to
            # the fallback; the others are answered, and are the last that nobody counts.
            swallow_errors=config.REDIS_URL is not None,
            request_identifier=lambda: _SCOPE,  # an address that there is not counts, too
        )
        self._more = self.limiter.shared_limit(
            self._rate, _SCOPE, key_func=_bucket, cost=_cost, override_defaults=False
        )

    def charge(self, requests: int, bucket: str | None = None) -> None:
        """Count ``requests`` more, all of them or none: the parts of a ``$batch``.

        The request that carries them was counted as one already.
        Args:
            bucket: another than that of the request.
        Raises: RateLimitedError, they do not fit any more.
        """
        exchange = current_exchange()
        exchange.cost = requests
        exchange.bucket = bucket or exchange.bucket
        try:
            with self._more:
                pass
        except RateLimitExceeded as error:
            raise self.refusal() from error
        self.note_standing(exchange)

    def refusal(self) -> RateLimitedError:
        """The error for a request that was over its limit, with ``Retry-After``."""
        standing = self.note_standing(current_exchange())
        limit, reset = (standing.limit, standing.reset) if standing else (0, 1)
        return RateLimitedError(
            f"More than {limit} requests: try again in {reset} s.",
            headers={"Retry-After": str(reset)},
        )

    def note_standing(self, exchange: Exchange) -> Standing | None:
        """Note how the request's bucket stands; None where nothing is counted, or Redis is away."""
        current, exchange.standing = self.limiter.current_limit, None
        if current is None:
            return None
        try:
            reset = current.window.reset_time - time.time()
        except self.limiter.storage.base_exceptions:
            return None
        # Rounded up: nobody is refused at the second that they were told.
        seconds = max(math.ceil(reset), 1 if current.breached else 0)
        exchange.standing = Standing(current.limit.amount, current.remaining, seconds)
        return exchange.standing

    def look_at(self, principal: str) -> Standing:
        """How the bucket of a principal (``user:1``, ``key:1``) stands; nothing is counted."""
        rate = parse(self._rates[principal.partition(":")[0]])
        window = self.limiter.limiter.get_window_stats(rate, principal, _SCOPE)
        return Standing(rate.amount, window.remaining, math.ceil(window.reset_time - time.time()))

    def _rate(self) -> str:
        return self._rates[_bucket().partition(":")[0] or "address"]


rate_limits = Extension[RateLimits]("rate_limits")


def init_app(app: Flask, config: Config) -> None:
    """Give ``app`` its limits: Flask-Limiter checks them in a ``before_request`` of its own."""
    limits = RateLimits(config)
    try:
        limits.limiter.init_app(app)
        # What a connection would say of its options; nothing is asked yet.
        if config.REDIS_URL:
            _try_options(config.REDIS_URL)
    except TypeError as error:  # it names the option behind the name of a function of its own
        problem = str(error).rpartition("got an ")[2]
        raise ConfigError(f"REDIS_URL cannot be used: {problem}") from error
    except Exception as error:  # each library has its own, and none tells the address
        raise ConfigError(f"REDIS_URL cannot be used: {error}") from error
    rate_limits.bind(app, limits)


def charge(requests: int) -> None:
    """As ``RateLimits.charge``, of the running application."""
    rate_limits.current.charge(requests)


@lru_cache(maxsize=4096)
def network(address: str | None) -> str:
    """The name that an address is counted under: IPv6 by the network of a household, /64."""
    try:
        ip = ipaddress.ip_address(address or "")
    except ValueError:
        return "unknown"  # a Unix socket
    if isinstance(ip, ipaddress.IPv4Address):
        return str(ip)
    if ip.ipv4_mapped:
        return str(ip.ipv4_mapped)
    return str(ipaddress.ip_network((int(ip) >> 64 << 64, 64)))


def _bucket() -> str:
    return current_exchange().bucket


def _cost() -> int:
    return current_exchange().cost


def _is_free() -> bool:
    return not current_exchange().bucket


def _checked(name: str, rate: str) -> str:
    try:
        parse(rate)
    except ValueError as error:
        raise ConfigError(f"{name} must look like 100/minute, not {rate!r}") from error
    return rate


def _storage(redis_url: str | None) -> str:
    if redis_url is None:
        return f"{WindowStorage.STORAGE_SCHEME[0]}://"
    return f"redis+{redis_url}" if redis_url.startswith("unix:") else redis_url


def _redis_options() -> dict[str, Any]:
    from redis.backoff import NoBackoff  # a laptop does not load its client
    from redis.exceptions import ConnectionError as Disconnected
    from redis.retry import Retry

    # A server that was restarted has closed the connection: a second try finds a new one.
    # One that says nothing is not waited for twice.
    return {
        "socket_timeout": REDIS_TIMEOUT_SECONDS,
        "socket_connect_timeout": REDIS_TIMEOUT_SECONDS,
        "retry": Retry(NoBackoff(), 1, (Disconnected,)),
    }


def _try_options(url: str) -> None:
    from redis import ConnectionPool

    pool = ConnectionPool.from_url(url, **_redis_options())
    pool.connection_class(**pool.connection_kwargs)
