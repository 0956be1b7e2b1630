"""Why the model did not answer, in words for whoever asked."""

from __future__ import annotations


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
