"""The threads that send: shared by all endpoints, and never used up by those that hang."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial

import pytest
from structlog.testing import capture_logs

from app.clock import utc_now
from app.outbound.client import Client
from app.webhooks.delivery_pool import FAILING, HELD, PROMPT, SLOW, DeliveryPool
from app.webhooks.messages import HELD_SECONDS, Message, Outcome, new_secret, send_message
from tests.waiting import until


class Receivers:
    """Stands for what is sent to: endpoints below 100 answer, others hang until ``release``."""

    def __init__(self) -> None:
        self.release = threading.Event()
        self.running: Counter[int] = Counter()
        self.most: Counter[int] = Counter()
        self.statuses: dict[int, int] = {}
        self.seconds: dict[int, float] = {}
        self._lock = threading.Lock()

    def __call__(self, message: Message) -> Outcome:
        number = message.endpoint_id
        with self._lock:
            self.running[number] += 1
            self.most[number] = max(self.most[number], self.running[number])
        if number >= 100:
            self.release.wait(20)
        elif number in self.seconds:
            time.sleep(self.seconds[number] / 100)
        with self._lock:
            self.running[number] -= 1
        return Outcome(
            message, utc_now(), status=self.statuses.get(number, 200),
            duration_seconds=self.seconds.get(number, 0.01),
        )  # fmt: skip


def message(endpoint: int, number: int = 0) -> Message:
    return Message(number, utc_now(), endpoint, "http://x", ("s",), f"msg_{number}", "{}", 0, False)


@pytest.fixture
def there() -> Iterator[Receivers]:
    made = Receivers()
    yield made
    made.release.set()


@pytest.fixture
def pool(there: Receivers) -> Iterator[DeliveryPool]:
    made = DeliveryPool(there, threads=16)
    yield made
    there.release.set()
    made.stop(5)


@pytest.fixture
def answered(pool: DeliveryPool) -> Callable[[int], list[Outcome]]:
    """Outcomes until there are so many."""

    def gather(count: int) -> list[Outcome]:
        found: list[Outcome] = []

        def look() -> bool:
            found.extend(pool.collect(0.05))
            return len(found) >= count

        until(look)
        return found

    return gather


def give(pool: DeliveryPool, endpoint: int, count: int) -> None:
    pool.add([message(endpoint, number) for number in range(count)])


def make_known(
    pool: DeliveryPool, there: Receivers, answered: Callable[[int], list[Outcome]]
) -> None:
    """Let the endpoint 100 answer once, and then hang."""
    there.release.set()
    give(pool, 100, 1)
    answered(1)
    there.release.clear()


def test_endpoints_that_never_answered_take_a_thread_each(
    pool: DeliveryPool, there: Receivers, answered: Callable[[int], list[Outcome]]
) -> None:
    for endpoint in range(100, 112):
        give(pool, endpoint, PROMPT)
    until(lambda: sum(there.running.values()) == 12)
    give(pool, 1, 5)
    assert {outcome.message.endpoint_id for outcome in answered(5)} == {1}
    assert sum(there.running.values()) == 12


def test_messages_of_an_endpoint_are_sent_in_order_by_a_few_threads(
    pool: DeliveryPool, there: Receivers, answered: Callable[[int], list[Outcome]]
) -> None:
    there.seconds[1] = 0.9
    give(pool, 1, 40)
    assert sorted(outcome.message.delivery_id for outcome in answered(40)) == list(range(40))
    assert there.most[1] == PROMPT


def test_hanging_endpoints_never_take_more_than_half_of_the_threads(
    pool: DeliveryPool, there: Receivers, answered: Callable[[int], list[Outcome]]
) -> None:
    for endpoint in range(100, 120):
        there.statuses[endpoint] = 500
        assert pool.capacity(endpoint, is_failing=True) == FAILING
        give(pool, endpoint, 1)
    until(lambda: sum(there.running.values()) == 8)
    give(pool, 1, 30)
    outcomes = answered(30)
    assert {outcome.message.endpoint_id for outcome in outcomes} == {1}
    assert sum(there.running.values()) == 8


def test_failing_queue_gives_back_what_waits_and_a_success_lifts_it(
    pool: DeliveryPool, there: Receivers, answered: Callable[[int], list[Outcome]]
) -> None:
    make_known(pool, there, answered)
    there.statuses[100] = 500
    give(pool, 100, PROMPT + 10)
    until(lambda: there.running[100] == PROMPT)
    there.release.set()
    outcomes = answered(PROMPT + 10)
    sent = [outcome for outcome in outcomes if outcome.was_sent]
    assert 1 <= len(sent) <= 2 * PROMPT
    assert pool.capacity(100, is_failing=False) == FAILING
    there.statuses[100] = 200
    give(pool, 100, 1)
    answered(1)
    assert pool.capacity(100, is_failing=True) == PROMPT + HELD


def test_slow_queue_gets_fewer_threads(
    pool: DeliveryPool, there: Receivers, answered: Callable[[int], list[Outcome]]
) -> None:
    there.seconds[2] = 5.0
    give(pool, 2, 1)
    answered(1)
    assert pool.capacity(2, is_failing=False) == SLOW
    there.most.clear()
    give(pool, 2, 12)
    answered(12)
    assert there.most[2] == SLOW


def test_stop_waits_for_what_is_under_way_and_gives_back_the_rest(
    pool: DeliveryPool, there: Receivers, answered: Callable[[int], list[Outcome]]
) -> None:
    make_known(pool, there, answered)
    give(pool, 100, PROMPT + 5)
    until(lambda: there.running[100] == PROMPT)
    threading.Timer(0.2, there.release.set).start()
    outcomes = pool.stop(10)
    assert Counter(outcome.was_sent for outcome in outcomes) == {True: PROMPT, False: 5}
    assert not pool.is_busy


def test_stop_does_not_wait_for_ever(pool: DeliveryPool, there: Receivers) -> None:
    give(pool, 100, 1)
    until(lambda: there.running[100] == 1)
    assert pool.stop(0.1) == []


def test_message_that_was_held_too_long_is_given_back() -> None:
    old = Message(
        1, utc_now(), 1, "http://127.0.0.1:9/", (new_secret(),), "msg_1", "{}", 0, False,
        taken_at=time.monotonic() - HELD_SECONDS - 1,
    )  # fmt: skip
    assert not send_message(Client(allow_private=True), old).was_sent


def test_nothing_is_sent_without_a_signature() -> None:
    unsigned = Message(1, utc_now(), 1, "http://127.0.0.1:9/", (), "msg_1", "{}", 0, False)
    outcome = send_message(Client(allow_private=True), unsigned)
    assert (outcome.is_success, outcome.error) == (
        False, "The secret of the endpoint cannot be read.",
    )  # fmt: skip


def test_surprise_while_sending_is_a_failed_attempt_and_the_endpoint_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    client = Client(allow_private=True)
    monkeypatch.setattr(client, "send", lambda *given: 1 / 0)
    pool = DeliveryPool(partial(send_message, client), threads=2)
    sent = Message(1, utc_now(), 1, "http://x", (new_secret(),), "msg_1", "{}", 0, False)
    with capture_logs() as lines:
        for _ in range(3):
            pool.add([sent])
            (outcome,) = until(lambda: pool.collect(0.05))
            assert (outcome.was_sent, outcome.is_success) == (True, False)
            assert outcome.error == "The message could not be sent."
            assert not pool.is_busy
            assert pool.capacity(1, is_failing=False) == FAILING
    assert [(line["event"], line["exc_info"]) for line in lines] == [
        ("a webhook could not be sent", True)
    ] * 3
    assert pool.stop(5) == []
