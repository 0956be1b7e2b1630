"""What a request takes for granted until the database has been asked (docs/adr/0166).

A number that has to be checked before a request may have an effect is asked for on the way of the
request's first statement, in place of a way of its own. Who ends the request looks whether it
``holds``, and does all of it anew where it does not.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress


class PremiseError(Exception):
    """The number is another: nothing that was done on the premise may stand."""


class Premise(threading.local):
    """That of the request which this thread works on.

    ``sql`` finds the number, and it is to be ``value``; ``is_open`` until somebody has asked.
    """

    sql = b""
    value = 0
    is_open = False
    is_wrong = False

    def take(self, sql: bytes, value: int) -> None:
        """Take for granted that ``sql`` finds ``value``."""
        self.sql, self.value = sql, value
        self.is_open, self.is_wrong = True, False

    def settle(self, found: int) -> None:
        """The database was asked.

        Raises: PremiseError, it says otherwise.
        """
        self.is_open = False
        if found != self.value:
            self.is_wrong = True
            raise PremiseError

    def holds(self, ask: Callable[[], int]) -> bool:
        """Whether it is so, or nothing was taken for granted; ends it.

        Args:
            ask: finds the number, where no statement has asked.
        """
        if self.is_open:
            with suppress(PremiseError):
                self.settle(ask())
        was_wrong, self.is_wrong = self.is_wrong, False
        return not was_wrong


premise = Premise()
