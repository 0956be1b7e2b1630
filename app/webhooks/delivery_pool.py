"""The threads that send: many endpoints at once, and none that keeps the others waiting.

Each endpoint has a lane. A lane that answers promptly may use several threads; one that is slow or
fails gets few, and all such lanes together at most half of the threads: however many receivers
hang, the other half goes on (docs/adr/0008).
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from app.webhooks.messages import Message, Outcome

THREADS = 128
# How many threads a lane may use: prompt, slow, failing; and before its first answer.
PROMPT, SLOW, FAILING, UNKNOWN = 8, 4, 1, 1
# How many messages a lane may hold besides those being sent: enough to go on meanwhile.
HELD = 32
HELD_AT_ALL = 512
PROMPT_SECONDS = 1.0
# Lanes without messages are remembered, up to so many.
LANES_KEPT = 256


@dataclass
class Lane:
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

    def room(self, now: float) -> int:
        """How many more messages it may be given."""
        most = self.limit if self.is_slow(now) else PROMPT + (HELD if self.is_known else 0)
        return max(0, most - self.running - len(self.waiting))


class Crew:
    """Sends messages by ``send``, which must not raise; outcomes are fetched by ``collect``."""

    def __init__(self, send: Callable[[Message], Outcome], threads: int = THREADS) -> None:
        self._send = send
        self._most_threads = threads
        self._most_slow = max(1, threads // 2)
        self._lanes: OrderedDict[int, Lane] = OrderedDict()
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._work = threading.Condition(self._lock)
        self._news = threading.Condition(self._lock)
        self._outcomes: list[Outcome] = []
        self._running = 0
        self._held = 0
        self._is_stopping = False

    @property
    def is_busy(self) -> bool:
        """Whether messages are held, or outcomes not yet fetched."""
        with self._lock:
            return bool(self._held or self._outcomes)

    def room(self, endpoint_id: int, is_failing: bool) -> int:
        """How many more messages the endpoint may be given.

        Args:
            is_failing: what the database says; counts until this process has an answer of its own.
        """
        with self._lock:
            lane = self._lanes.get(endpoint_id)
            if lane is None:
                lane = self._lanes[endpoint_id] = Lane(FAILING if is_failing else PROMPT)
            return min(lane.room(time.monotonic()), HELD_AT_ALL - self._held)

    def add(self, messages: Iterable[Message]) -> None:
        """Take messages to send, in their order for each endpoint."""
        with self._lock:
            for message in messages:
                self._lanes.setdefault(message.endpoint_id, Lane()).waiting.append(message)
                self._held += 1
            waiting = self._held - self._running
            # Those that were woken but have not run yet are free, and their messages wait.
            free = len(self._threads) - self._running
            self._work.notify(waiting)
            for _ in range(min(waiting - free, self._most_threads - len(self._threads))):
                self._start_thread()

    def collect(self, seconds: float) -> list[Outcome]:
        """The outcomes since the last time; waits up to ``seconds`` for the first."""
        with self._lock:
            if not self._outcomes and self._held and seconds:
                self._news.wait(seconds)
            outcomes, self._outcomes = self._outcomes, []
            return outcomes

    def stop(self, seconds: float) -> list[Outcome]:
        """Send nothing more, wait for what is on its way, and return the outcomes of all.

        Messages that were not sent are given back without an attempt.
        """
        with self._lock:
            self._is_stopping = True
            for lane in self._lanes.values():
                self._give_back(lane)
            self._work.notify_all()
            self._news.wait_for(lambda: not self._held, seconds)
        for thread in list(self._threads):
            thread.join(0.2)
        return self.collect(0)

    def _start_thread(self) -> None:
        thread = threading.Thread(target=self._run, name="webhook-sender", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _run(self) -> None:
        while True:
            with self._lock:
                while (work := self._next()) is None:
                    if self._is_stopping:
                        return
                    self._work.wait()
                lane, message = work
                begun = time.monotonic()
                lane.begun.append(begun)
                self._running += 1
            outcome = self._send(message)
            with self._lock:
                lane.begun.remove(begun)
                self._running -= 1
                self._held -= 1
                self._outcomes.append(outcome)
                self._judge(lane, outcome)
                self._news.notify()
                # What this lane, or its kind, had no thread left for may go now.
                self._work.notify()

    def _next(self) -> tuple[Lane, Message] | None:
        """The next message, going round the lanes; None when none may be sent now."""
        now = time.monotonic()
        slow = sum(lane.running for lane in self._lanes.values() if lane.is_slow(now))
        for endpoint_id in list(self._lanes):
            lane = self._lanes[endpoint_id]
            self._lanes.move_to_end(endpoint_id)
            if not lane.waiting:
                if not lane.running and len(self._lanes) > LANES_KEPT:
                    del self._lanes[endpoint_id]
            elif lane.running < lane.threads(now) and not (
                lane.is_slow(now) and slow >= self._most_slow
            ):
                return lane, lane.waiting.popleft()
        return None

    def _judge(self, lane: Lane, outcome: Outcome) -> None:
        if not outcome.was_sent:
            return
        lane.is_known = True
        if not outcome.is_success:
            lane.limit = FAILING
            # The others would wait behind attempts that fail: back, for whoever has time.
            self._give_back(lane)
        elif outcome.duration_seconds > PROMPT_SECONDS:
            lane.limit = SLOW
        else:
            lane.limit = PROMPT

    def _give_back(self, lane: Lane) -> None:
        while lane.waiting:
            self._outcomes.append(Outcome.unsent(lane.waiting.popleft()))
            self._held -= 1
        self._news.notify()
