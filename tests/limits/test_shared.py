"""The moving window in Redis, which all processes share, and what happens without Redis."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import pytest
import redis
import time_machine
from flask import Flask

from app.clock import utc_now
from app.config import ConfigError
from tests.contract.conftest import Api
from tests.services import SERVICES

pytestmark = [pytest.mark.needs("redis"), pytest.mark.only_on("sqlite")]

MakeApp = Callable[..., Flask]
_PARTS = urlsplit(SERVICES["redis"].url)
_ADDRESS = (_PARTS.hostname or "127.0.0.1", _PARTS.port or 6379)


@pytest.fixture
def server() -> Iterator[redis.Redis]:
    """An empty database of the Redis for tests."""
    with redis.Redis.from_url(SERVICES["redis"].url) as client:
        client.flushdb()
        yield client
        client.flushdb()


@pytest.fixture
def headers(sign_in: Callable[..., Api]) -> dict[str, str]:
    """Those of a user who is signed in."""
    return sign_in("Viewer").headers


def ask(app: Flask, headers: dict[str, str]) -> Any:
    return app.test_client().get("/api/auth/me", headers=headers)


@pytest.mark.requirement("RATE-01", "RATE-10")
def test_four_processes_with_five_threads_let_exactly_the_limit_pass(
    make_app: MakeApp, server: redis.Redis, headers: dict[str, str]
) -> None:
    apps = [
        make_app(REDIS_URL=SERVICES["redis"].url, RATE_LIMIT_USER="100/minute") for _ in range(4)
    ]
    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda n: ask(apps[n % 4], headers).status_code, range(160)))
    assert (answers.count(200), answers.count(429)) == (100, 60)


def test_the_window_moves_and_nothing_is_kept_longer(
    make_app: MakeApp, server: redis.Redis, headers: dict[str, str]
) -> None:
    app = make_app(REDIS_URL=SERVICES["redis"].url, RATE_LIMIT_USER="2/minute")
    with time_machine.travel(utc_now(), tick=False) as clock:
        assert [ask(app, headers).status_code for _ in range(3)] == [200, 200, 429]
        assert [0 < server.pttl(key) <= 60_000 for key in server.keys("*user:*")] == [True]
        clock.shift(59)
        assert ask(app, headers).status_code == 429
        clock.shift(2)
        assert ask(app, headers).status_code == 200


def test_a_server_that_was_restarted_is_told_the_scripts_again(
    make_app: MakeApp, server: redis.Redis, headers: dict[str, str]
) -> None:
    app = make_app(REDIS_URL=SERVICES["redis"].url, RATE_LIMIT_USER="100/minute")
    assert ask(app, headers).headers["RateLimit-Remaining"] == "99"
    server.script_flush()
    server.client_kill_filter(_type="normal", skipme=True)
    assert ask(app, headers).headers["RateLimit-Remaining"] == "98"


class Wall:
    """A port before Redis that can be closed: ``refuse`` connections, or ``hang`` on them."""

    def __init__(self) -> None:
        self.hangs = False
        self.delay_seconds = 0.0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.url = f"redis://127.0.0.1:{self.port}{_PARTS.path}"
        self._sockets: list[socket.socket] = []
        self.open = True
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            self._sockets.append(client)
            if not self.open:
                client.close()
            elif not self.hangs:
                upstream = socket.create_connection(_ADDRESS)
                self._sockets.append(upstream)
                for pair in ((client, upstream), (upstream, client)):
                    threading.Thread(target=self._pump, args=pair, daemon=True).start()

    def _pump(self, source: socket.socket, target: socket.socket) -> None:
        try:
            while content := source.recv(4096):
                time.sleep(self.delay_seconds / 2)  # there, and back
                if not self.hangs:
                    target.sendall(content)
        except OSError:
            pass
        target.close()

    def close(self) -> None:
        self.open = False
        for sock in self._sockets:
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue


@pytest.fixture
def wall(server: redis.Redis) -> Iterator[Wall]:
    wall = Wall()
    yield wall
    wall.close()
    wall.listener.close()


@pytest.mark.requirement("RATE-15")
def test_without_redis_each_process_counts_for_itself_and_redis_goes_on_after(
    make_app: MakeApp, wall: Wall, headers: dict[str, str]
) -> None:
    app = make_app(REDIS_URL=wall.url, RATE_LIMIT_USER="3/minute")
    assert ask(app, headers).headers["RateLimit-Remaining"] == "2"
    wall.close()
    begin = time.monotonic()
    assert [ask(app, headers).status_code for _ in range(4)] == [200, 200, 200, 429]
    assert time.monotonic() - begin < 3
    assert app.test_client().get("/readyz").json["checks"]["redis"] == "away"
    wall.open = True
    # What was counted before is still known, and what was counted without Redis is not.
    wait_until(lambda: ask(app, headers).headers.get("RateLimit-Remaining") == "1")
    assert app.test_client().get("/readyz").json["checks"]["redis"] == "ok"


def test_a_redis_that_is_slow_for_a_moment_goes_on_counting(
    make_app: MakeApp, wall: Wall, headers: dict[str, str]
) -> None:
    app = make_app(REDIS_URL=wall.url, RATE_LIMIT_USER="100/minute")
    assert ask(app, headers).headers["RateLimit-Remaining"] == "99"
    wall.delay_seconds = 0.2
    assert ask(app, headers).headers["RateLimit-Remaining"] == "98"


def test_a_redis_that_hangs_delays_one_request_and_not_those_behind_it(
    make_app: MakeApp, wall: Wall, headers: dict[str, str]
) -> None:
    app = make_app(REDIS_URL=wall.url, RATE_LIMIT_USER="1000/minute")
    assert ask(app, headers).status_code == 200
    wall.hangs = True
    begin = time.monotonic()
    assert ask(app, headers).status_code == 200
    assert time.monotonic() - begin < 3
    answers = [ask(app, headers) for _ in range(50)]
    assert {answer.status_code for answer in answers} == {200}


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("redis://:pass-word@h?foo=bar", "unexpected keyword argument 'foo'"),
        ("redis://:pass-word@h?ssl_cert_reqs=none", "unexpected keyword argument 'ssl_cert_reqs'"),
        ("redis://:pass-word@h?db=abc", "Invalid value for 'db' in connection URL."),
        ("redis://:pass-word@h?socket_timeout=soon",
         "Invalid value for 'socket_timeout' in connection URL."),
        ("rediss://:pass-word@h?ssl_cert_reqs=odd",
         "Invalid SSL Certificate Requirements Flag: odd"),
        ("redis://:pass-word@h?protocol=9", "protocol must be either 2 or 3"),
    ],
)  # fmt: skip
def test_a_wrong_option_is_one_line_without_the_password(
    make_app: MakeApp, url: str, problem: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        make_app(REDIS_URL=url)
    assert str(caught.value) == f"REDIS_URL cannot be used: {problem}"


@pytest.mark.parametrize(
    "url",
    ["redis://h?db=2&health_check_interval=30", "rediss://h/1?ssl_cert_reqs=none",
     "unix:///run/redis.sock?db=1"],
)  # fmt: skip
def test_right_options_need_no_server_yet(make_app: MakeApp, url: str) -> None:
    assert make_app(REDIS_URL=url)


def wait_until(is_true: Callable[[], bool], seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_requests_that_wait_together_for_a_redis_that_hangs_are_all_answered(
    make_app: MakeApp, wall: Wall, headers: dict[str, str]
) -> None:
    app = make_app(REDIS_URL=wall.url, RATE_LIMIT_USER="1000/minute")
    assert ask(app, headers).status_code == 200
    wall.hangs = True
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: ask(app, headers), range(8)))
    assert {answer.status_code for answer in answers} == {200}
