"""The threads that send: many endpoints at once, and none that keeps the others waiting.

Each endpoint has a queue. One that answers promptly may use several threads; one that is slow or
fails gets few, and all such together at most half of the threads: however many receivers hang, the
other half goes on (docs/adr/0008).
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import structlog

from app.clock import utc_now
from app.jobs.threads import DaemonThreads
from app.webhooks.messages import Message, Outcome

log = structlog.get_logger(__name__)

THREADS = 128
# How many threads a queue may use: prompt, slow, failing; and before its first answer.
PROMPT, SLOW, FAILING, UNKNOWN = 8, 4, 1, 1
# How many messages a queue may hold besides those being sent: enough to go on meanwhile.
HELD = 32
HELD_AT_ALL = 512
PROMPT_SECONDS = 1.0
# Queues without messages are remembered, up to so many.
QUEUES_KEPT = 256


@dataclass
class EndpointQueue:
    """One endpoint: what waits for it, and how it has answered last."""

    limit: int = PROMPT
    is_known: bool = False
    waiting: deque[Message] = field(default_factory=deque)
    # When each of the messages under way was begun, the oldest first.
    begun: list[float] = field(default_factory=list)

    @property
    def running(self) -> int:
        """How many messages are under way."""
        return len(self.begun)

    def is_slow(self, now: float) -> bool:
        """Whether it fails, answers late, or has kept somebody waiting right now."""
        return self.limit < PROMPT or bool(self.begun and now - self.begun[0] > PROMPT_SECONDS)

    def threads(self, now: float) -> int:
        """How many threads it may use."""
        if not self.is_known:
            return UNKNOWN
        return min(self.limit, SLOW) if self.is_slow(now) else self.limit

    def capacity(self, now: float) -> int:
        """How many more messages it may be given."""
        most = self.limit if self.is_slow(now) else PROMPT + (HELD if self.is_known else 0)
        return max(0, most - self.running - len(self.waiting))


class DeliveryPool:
    """Sends messages by ``send``; outcomes are fetched by ``collect``.

    Looking up the name of a host cannot be cut off, and may outlast ``stop`` and every deadline.
    """

    def __init__(self, send: Callable[[Message], Outcome], threads: int = THREADS) -> None:
        self._send = send
        self._most_running = threads
        self._most_slow = max(1, threads // 2)
        self._queues: OrderedDict[int, EndpointQueue] = OrderedDict()
        self._threads = DaemonThreads(threads, "webhook-sender")
        self._changed = threading.Condition()  # its lock is that of all that follows
        self._outcomes: list[Outcome] = []
        self._running = 0
        self._held = 0

    @property
    def is_busy(self) -> bool:
        """Whether messages are held, or outcomes not yet fetched."""
        with self._changed:
            return bool(self._held or self._outcomes)

    def capacity(self, endpoint_id: int, is_failing: bool) -> int:
        """How many more messages the endpoint may be given.

        Args:
            is_failing: what the database says; counts until this process has an answer of its own.
        """
        with self._changed:
            queue = self._queues.get(endpoint_id)
            if queue is None:
                queue = self._queues[endpoint_id] = EndpointQueue(FAILING if is_failing else PROMPT)
            return min(queue.capacity(time.monotonic()), HELD_AT_ALL - self._held)

    def add(self, messages: Iterable[Message]) -> None:
        """Take messages to send, in their order for each endpoint."""
        with self._changed:
            for message in messages:
                queue = self._queues.setdefault(message.endpoint_id, EndpointQueue())
                queue.waiting.append(message)
                self._held += 1
            self._begin()

    def collect(self, seconds: float) -> list[Outcome]:
        """The outcomes since the last time; waits up to ``seconds`` for the first."""
        with self._changed:
            if not self._outcomes and self._held and seconds:
                self._changed.wait(seconds)
            outcomes, self._outcomes = self._outcomes, []
            return outcomes

    def stop(self, seconds: float) -> list[Outcome]:
        """Send nothing more, wait for what is on its way, and return the outcomes of all.

        Messages that were not sent are given back without an attempt; what is still on its way
        after ``seconds`` has no outcome, and is sent again when its lease has run out.
        """
        with self._changed:
            for queue in self._queues.values():
                self._give_back(queue)
            self._changed.wait_for(lambda: not self._held, seconds)
        self._threads.stop()
        return self.collect(0)

    def _begin(self) -> None:
        """Send what may be sent now."""
        while self._running < self._most_running and (work := self._next()) is not None:
            queue, message = work
            begun = time.monotonic()
            queue.begun.append(begun)
            self._running += 1
            self._threads.submit(self._run, queue, message, begun)

    def _run(self, queue: EndpointQueue, message: Message, begun: float) -> None:
        try:
            outcome = self._send(message)
        except Exception:  # the endpoint must go on, and the message be tried again
            log.exception("a webhook could not be sent", endpoint=message.endpoint_id)
            problem = "The message could not be sent."
            seconds = time.monotonic() - begun
            outcome = Outcome(message, utc_now(), duration_seconds=seconds, error=problem)
        with self._changed:
            queue.begun.remove(begun)
            self._running -= 1
            self._held -= 1
            self._outcomes.append(outcome)
            self._judge(queue, outcome)
            self._changed.notify()
            self._begin()

    def _next(self) -> tuple[EndpointQueue, Message] | None:
        """The next message, going round the queues; None when none may be sent now."""
        now = time.monotonic()
        slow = sum(queue.running for queue in self._queues.values() if queue.is_slow(now))
        for endpoint_id in list(self._queues):
            queue = self._queues[endpoint_id]
            self._queues.move_to_end(endpoint_id)
            if not queue.waiting:
                if not queue.running and len(self._queues) > QUEUES_KEPT:
                    del self._queues[endpoint_id]
            elif queue.running < queue.threads(now) and not (
                queue.is_slow(now) and slow >= self._most_slow
            ):
                return queue, queue.waiting.popleft()
        return None

    def _judge(self, queue: EndpointQueue, outcome: Outcome) -> None:
        if not outcome.was_sent:
            return
        queue.is_known = True
        if not outcome.is_success:
            queue.limit = FAILING
            # The others would wait behind attempts that fail: back, for whoever has time.
            self._give_back(queue)
        elif outcome.duration_seconds > PROMPT_SECONDS:
            queue.limit = SLOW
        else:
            queue.limit = PROMPT

    def _give_back(self, queue: EndpointQueue) -> None:
        while queue.waiting:
            self._outcomes.append(Outcome.unsent(queue.waiting.popleft()))
            self._held -= 1
        self._changed.notify()
