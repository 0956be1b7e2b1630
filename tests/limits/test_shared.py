"""The moving window in Redis, which all processes share, and what happens without Redis."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pytest
import redis

from app import redis_link
from app.limits.rate import Rate, Verdict
from app.limits.shared import EPOCH_KEY, SharedStore
from app.redis_link import RedisLink
from tests.services import SERVICES

pytestmark = pytest.mark.needs("redis")

MINUTE = Rate(100, 60)
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
def store(server: redis.Redis) -> SharedStore:
    return new_store()


def new_store() -> SharedStore:
    return SharedStore(RedisLink(SERVICES["redis"].url))


def test_it_answers_as_the_window_in_memory_does(store: SharedStore) -> None:
    rate = Rate(3, 60)
    assert [store.hit("a", rate) for _ in range(4)] == [
        Verdict(True, 3, 2, 60), Verdict(True, 3, 1, 60), Verdict(True, 3, 0, 60),
        Verdict(False, 3, 0, 60),
    ]  # fmt: skip
    assert store.hit("b", rate).allowed


def test_several_at_once_pass_together_or_not_at_all(store: SharedStore) -> None:
    rate = Rate(10, 60)
    assert store.hit("a", rate, 8).remaining == 2
    assert store.hit("a", rate, 3) == Verdict(False, 10, 2, 60)
    assert store.hit("a", rate, 0) == Verdict(True, 10, 2, 60)
    assert store.hit("a", rate, 2).remaining == 0
    assert store.hit("b", rate, 11) == Verdict(False, 10, 10, 60)


@pytest.mark.requirement("OPS-05")
def test_the_window_moves_by_the_clock_of_redis(store: SharedStore) -> None:
    rate = Rate(2, 1)
    assert store.hit("a", rate).allowed
    time.sleep(0.5)
    assert store.hit("a", rate).allowed
    assert not store.hit("a", rate).allowed
    time.sleep(0.55)  # the first has left, the second has not
    assert store.hit("a", rate).allowed
    assert not store.hit("a", rate).allowed


@pytest.mark.requirement("RATE-01", "RATE-10")
def test_four_processes_with_five_threads_let_exactly_the_limit_pass(server: redis.Redis) -> None:
    stores = [new_store() for _ in range(4)]
    with ThreadPoolExecutor(20) as pool:
        verdicts = list(pool.map(lambda n: stores[n % 4].hit("a", MINUTE), range(160)))
    passed = [verdict for verdict in verdicts if verdict.allowed]
    assert len(passed) == 100
    assert sorted(verdict.remaining for verdict in passed) == list(range(100))


def test_nothing_is_kept_longer_than_the_window(store: SharedStore, server: redis.Redis) -> None:
    store.hit("a", MINUTE)
    assert [0 < server.pttl(key) <= 60_000 for key in server.keys("bp:limit:*")] == [True]


def test_the_epoch_comes_with_the_verdict(store: SharedStore, server: redis.Redis) -> None:
    assert store.hit("a", MINUTE).epoch is None
    server.set(EPOCH_KEY, 7)
    assert store.hit("a", MINUTE).epoch == 7
    server.set(EPOCH_KEY, "pending:1234")
    assert store.hit("a", MINUTE).epoch is None


def test_a_server_that_forgot_the_script_is_told_it_again(
    store: SharedStore, server: redis.Redis
) -> None:
    store.hit("a", MINUTE)
    server.script_flush()
    assert store.hit("a", MINUTE).remaining == 98


def test_a_connection_that_was_closed_is_replaced(store: SharedStore, server: redis.Redis) -> None:
    store.hit("a", MINUTE)
    server.client_kill_filter(_type="normal", skipme=True)
    assert store.hit("a", MINUTE).remaining == 98
    assert not store.link.away


class Wall:
    """A port before Redis that can be closed: ``refuse`` connections, or ``hang`` on them."""

    def __init__(self) -> None:
        self.hangs = False
        self.delay_seconds = 0.0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.url = f"redis://127.0.0.1:{self.port}{_PARTS.path}"
        self._sockets: list[socket.socket] = []
        self.open = True
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
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
def wall(server: redis.Redis, monkeypatch: pytest.MonkeyPatch) -> Iterator[Wall]:
    monkeypatch.setattr(redis_link, "PROBE_EVERY_SECONDS", 0.05)
    wall = Wall()
    yield wall
    wall.close()
    wall._listener.close()


@pytest.mark.requirement("RATE-15")
def test_without_redis_each_process_counts_for_itself_and_redis_goes_on_after(
    wall: Wall, server: redis.Redis
) -> None:
    store = SharedStore(RedisLink(wall.url))
    rate = Rate(3, 60)
    assert store.hit("a", rate).remaining == 2
    wall.close()
    begin = time.monotonic()
    fallen_back = [store.hit("a", rate).allowed for _ in range(4)]
    assert time.monotonic() - begin < 2
    assert fallen_back == [True, True, True, False]
    assert store.link.away
    wall.open = True
    wait_until(lambda: not store.link.away)
    assert store.hit("a", rate).remaining == 1  # what was counted before is still known


def test_a_redis_that_is_slow_for_a_moment_goes_on_counting(wall: Wall) -> None:
    store = SharedStore(RedisLink(wall.url))
    assert [store.hit("a", MINUTE).remaining for _ in range(3)] == [99, 98, 97]
    wall.delay_seconds = 0.2
    assert store.hit("a", MINUTE).remaining == 96
    assert not store.link.away


def test_a_redis_that_hangs_delays_one_request_by_half_a_second(wall: Wall) -> None:
    store = SharedStore(RedisLink(wall.url))
    assert store.hit("a", MINUTE).allowed
    wall.hangs = True
    begin = time.monotonic()
    assert store.hit("a", MINUTE).allowed
    assert 0.05 < time.monotonic() - begin < 2
    begin = time.monotonic()
    assert all(store.hit("a", MINUTE).allowed for _ in range(50))
    assert time.monotonic() - begin < 0.5


def wait_until(is_true: Callable[[], bool], seconds: float = 5) -> None:
    deadline = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < deadline
        time.sleep(0.01)
