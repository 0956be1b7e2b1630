"""Windows in memory: exact among threads, all or nothing, and gone when they have passed."""

from __future__ import annotations

import threading
import time

import pytest
from limits import RateLimitItemPerMinute, RateLimitItemPerSecond
from limits.storage import storage_from_string
from limits.strategies import MovingWindowRateLimiter

import app.http.limits  # noqa: F401  # registers the scheme


@pytest.fixture
def limiter() -> MovingWindowRateLimiter:
    return MovingWindowRateLimiter(storage_from_string("window://"))


def test_as_many_pass_as_may_however_many_ask_at_once(limiter: MovingWindowRateLimiter) -> None:
    rate, passed = RateLimitItemPerMinute(100), []

    def ask() -> None:
        for _ in range(50):
            if limiter.hit(rate, "user:1"):
                passed.append(1)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(passed) == 100
    assert limiter.get_window_stats(rate, "user:1").remaining == 0
    assert limiter.hit(rate, "user:2")


def test_a_cost_is_taken_as_a_whole_or_not_at_all(limiter: MovingWindowRateLimiter) -> None:
    rate = RateLimitItemPerMinute(10)
    assert limiter.hit(rate, "user:1", cost=8)
    assert not limiter.hit(rate, "user:1", cost=3)
    assert limiter.get_window_stats(rate, "user:1").remaining == 2
    assert limiter.hit(rate, "user:1", cost=2)


def test_the_window_moves_with_the_first_request_in_it(limiter: MovingWindowRateLimiter) -> None:
    rate, began = RateLimitItemPerSecond(1), time.time()
    assert limiter.hit(rate, "user:1")
    reset = limiter.get_window_stats(rate, "user:1").reset_time
    assert began + 1 <= reset <= time.time() + 1
    time.sleep(max(0.0, reset - time.time()) + 0.01)
    assert limiter.hit(rate, "user:1")


def test_keys_that_nobody_uses_are_let_go_of(limiter: MovingWindowRateLimiter) -> None:
    rate = RateLimitItemPerSecond(5)
    for number in range(1000):
        limiter.hit(rate, f"user:{number}")
    time.sleep(1.05)
    limiter.hit(rate, "user:1000")
    assert limiter.storage.reset() == 1


def test_no_thread_is_started_for_it(limiter: MovingWindowRateLimiter) -> None:
    before = threading.active_count()
    for number in range(100):
        limiter.hit(RateLimitItemPerMinute(5), f"user:{number}")
    assert threading.active_count() == before
