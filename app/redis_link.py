"""The line to Redis: one connection a thread, one round trip a script, and a quick farewell.

The client object of redis-py costs four times the CPU of its connections, and every request pays;
so scripts are sent over a connection directly. When Redis does not answer within
``TIMEOUT_SECONDS`` nobody asks it again until a background thread has heard from it.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import structlog

from app.config import ConfigError
from app.lazy import lazy

# A laptop without Redis does not load its client.
if TYPE_CHECKING:
    import redis
    from redis import backoff, exceptions, maint_notifications, retry
else:
    redis = lazy("redis")
    backoff = lazy("redis.backoff")
    exceptions = lazy("redis.exceptions")
    maint_notifications = lazy("redis.maint_notifications")
    retry = lazy("redis.retry")

# Under load Redis is late by tenths of a second now and then; who leaves it for that counts anew.
TIMEOUT_SECONDS = 0.5
PROBE_EVERY_SECONDS = 0.5

_log = structlog.get_logger()


class RedisAwayError(Exception):
    """Redis does not answer; whoever asked goes on without it."""


class Script:
    """A Lua script, known to the server by its digest."""

    def __init__(self, source: str, keys: int) -> None:
        self.source = source
        self.keys = keys
        self.digest = hashlib.sha1(source.encode(), usedforsecurity=False).hexdigest()


class RedisLink:
    """Runs scripts; ``away`` while Redis does not answer."""

    def __init__(self, url: str) -> None:
        try:
            self._pool = redis.ConnectionPool.from_url(
                url,
                socket_timeout=TIMEOUT_SECONDS,
                socket_connect_timeout=TIMEOUT_SECONDS,
                retry=retry.Retry(backoff.NoBackoff(), 0),
                protocol=2,
                maint_notifications_config=maint_notifications.MaintNotificationsConfig(
                    enabled=False
                ),
            )
            # What a connection would say of its options; this one connects to nothing.
            self._pool.connection_class(**self._pool.connection_kwargs)
        except TypeError as error:  # it names the option behind the name of a function of its own
            problem = str(error).rpartition("got an ")[2]
            raise ConfigError(f"REDIS_URL cannot be used: {problem}") from error
        except (ValueError, exceptions.RedisError) as error:  # as above, and tells no address
            raise ConfigError(f"REDIS_URL cannot be used: {error}") from error
        self._threads = threading.local()
        self._lock = threading.Lock()
        self.away = False
        self.on_return: list[Callable[[], object]] = []

    def run(self, script: Script, *arguments: str | int) -> Any:
        """The reply of ``script``; its keys come first in ``arguments``.

        Raises: RedisAwayError, at once while Redis is away, else after the timeout.
        """
        if self.away:
            raise RedisAwayError
        try:
            return self._run(script, arguments)
        except (redis.RedisError, OSError) as error:
            self._leave(error)
            raise RedisAwayError from error

    def is_away(self) -> bool:
        """Whether Redis does not answer, asked anew while it is thought to."""
        if not self.away and not self._answers():
            self._leave(redis.ConnectionError("no answer to a ping"))
        return self.away

    def _run(self, script: Script, arguments: tuple[str | int, ...]) -> Any:
        try:
            return self._evaluate(script, arguments)
        except redis.TimeoutError:
            raise
        except redis.ConnectionError:
            # The server was restarted, or has closed an idle connection: a new one may do.
            return self._evaluate(script, arguments)

    def _evaluate(self, script: Script, arguments: tuple[str | int, ...]) -> Any:
        try:
            return self._ask("EVALSHA", script.digest, script.keys, *arguments)
        except exceptions.NoScriptError:
            return self._ask("EVAL", script.source, script.keys, *arguments)

    def _ask(self, *command: str | int) -> Any:
        connection: Any = getattr(self._threads, "connection", None)
        if connection is None:
            connection = self._threads.connection = self._pool.make_connection()
        try:
            connection.send_packed_command([_pack(command)], check_health=False)
            return connection.read_response()
        except (redis.ConnectionError, redis.TimeoutError, OSError):
            connection.disconnect()
            raise

    def _leave(self, error: Exception) -> None:
        with self._lock:
            if self.away:
                return
            self.away = True
        _log.error("redis is away", reason=type(error).__name__)
        threading.Thread(target=self._wait_for_return, name="redis-return", daemon=True).start()

    def _wait_for_return(self) -> None:
        pause = threading.Event()
        while not self._answers():
            pause.wait(PROBE_EVERY_SECONDS)
        self.away = False
        for callback in self.on_return:
            callback()
        _log.warning("redis is back")

    def _answers(self) -> bool:
        try:
            return bool(self._ask("PING"))
        except (redis.RedisError, OSError):
            return False


@lru_cache(maxsize=1024)
def _pack(command: tuple[str | int, ...]) -> bytes:
    """``command`` in the protocol of Redis; ours is ASCII, so characters are bytes.

    A caller's requests are all counted by the same one.
    """
    texts = [str(part) for part in command]
    parts = "".join([f"${len(text)}\r\n{text}\r\n" for text in texts])
    return f"*{len(texts)}\r\n{parts}".encode("ascii")
