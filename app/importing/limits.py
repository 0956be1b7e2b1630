"""How much of a file is read: counted while it is read, whatever the file says of itself."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from app.errors import ValidationError


class TooMuchError(ValidationError):
    """A file has more than may be read here; the worker may read more than a request."""


@dataclass(frozen=True)
class Limits:
    """The most that is read of one file. ``size`` is in bytes, unpacked; ``texts`` in characters,
    of what a workbook shares among its cells; ``seconds`` are those of the processor."""

    rows: int
    cells: int
    size: int
    texts: int
    strings: int
    seconds: float


# A request answers at once; what takes longer is a job.
REQUEST = Limits(
    rows=50_000, cells=400_000, size=40_000_000, texts=10_000_000, strings=200_000, seconds=3
)
JOB = Limits(
    rows=1_048_576, cells=100_000_000, size=1_000_000_000, texts=60_000_000, strings=2_000_000,
    seconds=1200,
)  # fmt: skip


_NAMES = {
    "rows": "rows", "cells": "cells", "size": "bytes when unpacked",
    "texts": "characters in its shared texts", "strings": "shared texts",
    "seconds": "seconds of work in it",
}  # fmt: skip


@dataclass
class Budget:
    """What was spent of the limits while a file is read."""

    limits: Limits
    spent: dict[str, float] = field(default_factory=lambda: dict.fromkeys(_NAMES, 0))

    def spend(self, what: str, count: float) -> None:
        """Count ``count`` more of ``what``.

        Raises: TooMuchError.
        """
        self.spent[what] += count
        most = getattr(self.limits, what)
        if self.spent[what] > most:
            raise TooMuchError([("file", f"has more than {most:,} {_NAMES[what]}")])

    @contextmanager
    def measured(self) -> Iterator[None]:
        """Count the time of the processor that is spent inside."""
        begin = time.thread_time()
        yield
        self.spend("seconds", time.thread_time() - begin)
