"""Whether the model is asked, and why it did not answer, in words for whoever asked.

One that keeps failing, as this process has seen it, is left alone; tokens that a caller may use in
a day are counted in the database, for all processes together.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import insert, select, update
from sqlalchemy.exc import IntegrityError

from app.clock import utc_now
from app.db.engines import primary_engine
from app.extensions import db
from app.http.security import current_caller
from app.models.assistant import AiUsage
from app.settings.days import today

# Where the server does not count: English has some four characters a token.
CHARACTERS_A_TOKEN = 4


def require_budget(limit: int) -> None:
    """Let pass who has not used the budget of today up.

    Args:
        limit: tokens, read and written together; 0 for no limit.
    Raises: ProviderError.
    """
    if not limit:
        return
    used = select(AiUsage.input_tokens + AiUsage.output_tokens)
    with primary_engine().connect() as connection:
        statement = used.where(_row(current_caller().principal))
        if int(connection.execute(statement).scalar() or 0) >= limit:
            raise ProviderError(SPENT, is_fault=False)


def note_usage(read: int, written: int) -> None:
    """Add what one exchange has used; committed at once, whatever becomes of the answer.

    For callers without a transaction that writes: SQLite has one at a time.
    """
    principal = current_caller().principal
    add = (
        update(AiUsage)
        .where(_row(principal))
        .values(
            input_tokens=AiUsage.input_tokens + read,
            output_tokens=AiUsage.output_tokens + written,
            exchanges=AiUsage.exchanges + 1,
        )
    )
    first = {
        "created_at": utc_now(), "principal": principal, "day": today(),
        "input_tokens": read, "output_tokens": written, "exchanges": 1,
    }  # fmt: skip
    for _ in range(2):
        try:
            with db.engine.begin() as connection:
                if not connection.execute(add).rowcount:
                    connection.execute(insert(AiUsage), first)
            return
        except IntegrityError:  # another process made the row of the day a moment before
            continue


def estimated(texts: Sequence[str]) -> int:
    """About how many tokens texts are."""
    return sum(map(len, texts)) // CHARACTERS_A_TOKEN + 1


def _row(principal: str) -> Any:
    return (AiUsage.principal == principal) & (AiUsage.day == today())


class ProviderError(Exception):
    """The model gave no answer that can be used; ``reason`` is shown to the caller.

    Args:
        is_fault: the provider's doing, rather than a limit of ours.
    """

    def __init__(self, reason: str, *, is_fault: bool = True) -> None:
        super().__init__(reason)
        self.reason = reason
        self.is_fault = is_fault
        # Tokens that were read and written all the same.
        self.used = (0, 0)


TIMED_OUT = "no answer came in time"
UNREACHABLE = "the provider was not reached"
BUSY = "the provider has too much to do"
FAILED = "the provider failed"
REFUSED = "the provider refused the request"
MALFORMED = "the answer could not be read"
BROKE_OFF = "the answer broke off"
EMPTY = "the answer was empty"
FILTERED = "the provider held the answer back"
RESTING = "the provider has failed several times and is left alone for a moment"
SPENT = "the budget of today is spent"
CROWDED = "too many answers are being made"


FAILURES = 3
REST_SECONDS = 30.0
# Each waits in a thread; beyond, the built-in assistant answers at once.
MOST_AT_ONCE = 8


class Health:
    """Counts answers by outcome; safe for threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._failures = 0
        self._failed_at = 0.0  # the last one in a row
        self._open = 0
        self.outcomes: Counter[str] = Counter()
        self.tokens: Counter[str] = Counter()

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Around one answer.

        Raises: ProviderError, the provider is left alone, or is asked too much already.
        """
        self._enter()
        try:
            yield
        except ProviderError as error:
            self._note(error)
            raise
        else:
            with self._lock:
                self._failures = 0
                self.outcomes["answered"] += 1
        finally:
            with self._lock:
                self._open -= 1

    def is_well(self) -> bool:
        """Whether its last answers came."""
        return self._failures < FAILURES

    def count(self, read: int, written: int) -> None:
        """Tokens that were used."""
        with self._lock:
            self.tokens["input"] += read
            self.tokens["output"] += written

    def _enter(self) -> None:
        with self._lock:
            if not self.is_well() and time.monotonic() < self._failed_at + REST_SECONDS:
                self.outcomes["fallback"] += 1
                raise ProviderError(RESTING, is_fault=False)
            if self._open >= MOST_AT_ONCE:
                self.outcomes["fallback"] += 1
                raise ProviderError(CROWDED, is_fault=False)
            self._open += 1

    def _note(self, error: ProviderError) -> None:
        with self._lock:
            self.outcomes["fallback"] += 1
            if error.is_fault:
                self._failures += 1
                self._failed_at = time.monotonic()
