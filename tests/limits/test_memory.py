"""The moving window of one process."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given, strategies as st

from app.limits import memory
from app.limits.memory import MemoryStore
from app.limits.rate import Rate, Verdict


@dataclass
class Clock:
    """A clock that stands until it is moved, by seconds to the millisecond."""

    now: float = 1000.0

    def __call__(self) -> int:
        return round(self.now * 1000) * 1_000_000


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(clock: Clock) -> MemoryStore:
    return MemoryStore(clock)


@pytest.mark.requirement("RATE-03")
def test_remaining_counts_down_to_nought_and_then_nothing_passes(store: MemoryStore) -> None:
    rate = Rate(3, 60)
    assert [store.hit("a", rate)[:3] for _ in range(5)] == [
        (True, 3, 2), (True, 3, 1), (True, 3, 0), (False, 3, 0), (False, 3, 0),
    ]  # fmt: skip


def test_a_place_is_free_exactly_when_the_oldest_request_has_left(
    store: MemoryStore, clock: Clock
) -> None:
    rate = Rate(2, 60)
    store.hit("a", rate)
    clock.now += 20
    store.hit("a", rate)
    clock.now += 39.5
    assert store.hit("a", rate) == Verdict(False, 2, 0, 1)
    clock.now += 0.5
    assert store.hit("a", rate) == Verdict(True, 2, 0, 20)


@pytest.mark.requirement("RATE-09")
def test_refusals_do_not_prolong(store: MemoryStore, clock: Clock) -> None:
    rate = Rate(1, 60)
    store.hit("a", rate)
    for _ in range(59):
        clock.now += 1
        assert not store.hit("a", rate).allowed
    clock.now += 1
    assert store.hit("a", rate).allowed


def test_buckets_do_not_touch_each_other(store: MemoryStore) -> None:
    rate = Rate(1, 60)
    assert [store.hit(name, rate).allowed for name in "aabbc"] == [True, False, True, False, True]


def test_several_at_once_pass_together_or_not_at_all(store: MemoryStore, clock: Clock) -> None:
    rate = Rate(10, 60)
    assert store.hit("a", rate, 8) == Verdict(True, 10, 2, 60)
    clock.now += 10
    assert store.hit("a", rate, 3) == Verdict(False, 10, 2, 50)
    assert store.hit("a", rate, 2).remaining == 0
    assert store.hit("a", rate, 11) == Verdict(False, 10, 0, 60)


def test_looking_counts_nothing(store: MemoryStore) -> None:
    rate = Rate(2, 60)
    assert store.hit("a", rate, 0) == Verdict(True, 2, 2, 0)
    store.hit("a", rate)
    assert [store.hit("a", rate, 0) for _ in range(3)] == [Verdict(True, 2, 1, 60)] * 3


nanoseconds = st.lists(st.integers(0, 30 * 10**9), min_size=1, max_size=60)


@pytest.mark.requirement("RATE-10")
@given(nanoseconds, st.integers(1, 5))
def test_no_window_of_a_minute_has_more_than_the_limit(pauses: list[int], amount: int) -> None:
    now = 10**12
    store, rate = MemoryStore(lambda: now), Rate(amount, 60)
    passed: list[int] = []
    for pause in pauses:
        now += pause
        recent = [at for at in passed if at > now - 60 * 10**9]
        allowed = store.hit("a", rate).allowed
        assert allowed == (len(recent) < amount)
        if allowed:
            passed.append(now)


@pytest.mark.requirement("RATE-08")
@given(nanoseconds, st.integers(1, 3))
def test_after_the_time_told_a_request_passes(pauses: list[int], amount: int) -> None:
    now = 10**12
    store, rate = MemoryStore(lambda: now), Rate(amount, 60)
    for pause in pauses:
        now += pause
        verdict = store.hit("a", rate)
        if not verdict.allowed:
            assert 1 <= verdict.reset <= 60
            now += verdict.reset * 10**9
            assert store.hit("a", rate).allowed


def test_buckets_that_nobody_uses_are_forgotten(
    store: MemoryStore, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "_SWEEP_AT", 10)
    store = MemoryStore(clock)
    for number in range(10):
        store.hit(f"old {number}", Rate(5, 60))
    clock.now += 61
    store.hit("new", Rate(5, 60))
    assert set(store._buckets) == {"new"}
